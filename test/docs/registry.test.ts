/** docs/registry.md: its settings are accepted as they are written, and its commands do what it says. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { privateKeyToAddress } from 'viem/accounts'
import { openDevelopmentRegistry } from '../../src/devnet/registry/development-registry.ts'
import { loadHostSettings } from '../../src/host/config.ts'
import { startAnvil } from '../support/chain/anvil.ts'
import { freePorts } from '../support/free-port.ts'
import { openHostInProcess } from '../support/host-in-process.ts'
import { until } from '../support/p2p-room.ts'
import { testDirectory } from '../support/test-store.ts'
import { blocksOf } from './support/page.ts'
import { runShell, startShell } from './support/run-shell.ts'

test('the settings of the page allow one creator and deny everybody else', async (t) => {
  const [block] = blocksOf('docs/registry.md').filter(({ language }) => language === 'yaml')
  const path = join(testDirectory(t), 'config.yaml')
  await writeFile(path, block?.text ?? '')
  const { settings } = loadHostSettings({
    argv: ['--config', path],
    env: { DB_KEYRING_SECRET: 's' },
  })
  assert.equal(settings.registryLcdUrl, 'https://registry.example.org:1317')
  assert.equal(settings.registryRpcUrl, 'https://registry.example.org:26657')
  assert.deepEqual(settings.registryAllow, ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'])
  assert.deepEqual(settings.registryDeny, ['*'])
})

/** The first one of anvil, which everybody knows. */
const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const page = blocksOf('docs/registry.md')

/** The one shell block with this text, and what is shown below it. */
function blockWith(text: string): { commands: string; shown: string } {
  const at = page.findIndex((block) => block.language === 'sh' && block.text.includes(text))
  return { commands: page[at]?.text ?? '', shown: page[at + 1]?.text ?? '' }
}

test('a Host with the URLs of a registry chain, as the page names them, follows it', async (t) => {
  const registry = await openDevelopmentRegistry()
  t.after(() => registry.close())
  const [api, p2p, health] = await freePorts(3)
  const { commands } = blockWith('viewmesh host')
  const host = startShell(
    t,
    commands
      .replace('https://registry.example.org:1317', registry.lcdUrl)
      .replace('https://registry.example.org:26657', registry.cometUrl),
    {
      cwd: testDirectory(t),
      env: {
        DB_KEYRING_SECRET: 'a secret of tests only',
        DB_API_ADDR: `127.0.0.1:${api}`,
        DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2p}`,
        HEALTH_ADDR: `127.0.0.1:${health}`,
      },
    },
  )
  const state = async (): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${health}/health`).catch(() => null)
    const report = (await response?.json()) as { registry?: { state: string } } | undefined
    return report?.registry?.state
  }
  await until(async () => (await state()) === 'live')
  host.interrupt('SIGTERM')
  await once(host, 'exit')
})

test('viewmesh register shows what it would send as the page has it', async (t) => {
  const [health = 0] = await freePorts(1)
  const address = privateKeyToAddress(key)
  const anvil = await startAnvil({ args: ['--chain-id', '91273003'] })
  t.after(() => anvil.close())
  await anvil.rpc('anvil_setCode', `0x${'0211'.padStart(40, '0')}`, '0x00')
  const host = await openHostInProcess(t, testDirectory(t), {
    REGISTRATION_ADDRESS: address,
    REGISTRATION_CHAIN_ID: '91273003',
    REGISTRATION_ENDPOINT: 'https://host.example.org',
    P2P_ANNOUNCE: '/ip4/203.0.113.7/tcp/9171',
    HEALTH_ADDR: `127.0.0.1:${health}`,
  })
  await host.opened
  const { commands, shown } = blockWith('viewmesh register')
  const printed = await runShell(
    commands
      .replace('https://registry.example.org:8545', anvil.url)
      .replace('register', `register --node http://127.0.0.1:${health}`),
    { cwd: testDirectory(t), env: { VIEWMESH_PRIVATE_KEY: key } },
  )
  assert.equal(settled(printed), settled(shown))
})

/** Keys and amounts of the moment. */
function settled(text: string): string {
  return text
    .replaceAll(/(did:key:|\/p2p\/)\w+/g, '$1ID')
    .replaceAll(/^(gas|fee) +[\d.]+/gm, '$1 N')
}
