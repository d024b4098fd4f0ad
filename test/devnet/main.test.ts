/** The development chain as a user starts it; `test/e2e/start` looks at everything that it shows. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadDevnetSettings } from '../../src/devnet/config.ts'
import { readHealth } from '../../src/devnet/health.ts'
import { startAnvil } from '../support/chain/anvil.ts'
import { startChild } from '../support/child-program.ts'
import { otherPorts } from '../support/devnet-ports.ts'
import { until } from '../support/p2p-room.ts'
import { testDirectory } from '../support/test-store.ts'
import { openJsonServer } from './support/json-server.ts'

async function read<T>(url: string, query?: string): Promise<T> {
  const post = { method: 'POST', body: JSON.stringify({ query }) }
  const response = await fetch(url, query === undefined ? {} : post)
  return (await response.json()) as T
}

test('a chain, a Generator, a Host with a View of it and a registry run until Ctrl-C', async (t) => {
  const env = { ...(await otherPorts()), DEVNET_PATH: testDirectory(t) }
  const settings = loadDevnetSettings({ argv: [], env })
  const child = startChild('src/viewmesh.js', { args: ['devnet'], env })
  t.after(() => child.process.kill('SIGKILL'))
  const at = (port: number, path = ''): string => `http://127.0.0.1:${port}${path}`

  await child.says('Local__Devnet, genesis 0x')
  await child.says('The Host has blocks. Ask it for the newest one:')
  const host = await readHealth(at(settings.hostHealthPort))
  const generator = await readHealth(at(settings.generatorHealthPort))
  assert.deepEqual(
    host?.p2p.peers.map(({ id }) => id),
    [generator?.p2p.self?.id],
  )
  const registry = at(settings.registryLcdPort, '/shinzonetwork/view/v1/views')
  assert.deepEqual((await read<{ views: unknown[] }>(registry)).views, [])
  const graphql = at(settings.hostApiPort, '/api/v0/graphql')
  await until(async () => {
    const query = '{ TokenTransfer(limit: 1) { _blockNumber } }'
    const { data } = await read<{ data?: { TokenTransfer: unknown[] } }>(graphql, query)
    return data?.TokenTransfer.length === 1
  })

  child.process.kill('SIGINT')
  const { code, signal, stdout } = await child.ended()
  assert.deepEqual([code, signal], [0, null])
  const ending = stdout.trimEnd().split('\n').slice(-2)
  assert.deepEqual(
    ending.map((line) => line.replace(/^\S+ /, '')),
    ['stopping  signal SIGINT', 'stopped'],
  )
  assert.equal(await readHealth(at(settings.hostHealthPort)), null)
})

test('beside a node and a registry of the user it starts neither, and sends that node nothing', async (t) => {
  const node = await startAnvil()
  t.after(() => node.close())
  await node.rpc('evm_mine')
  const { url, asked } = await openJsonServer(t, () => ({}))
  const urls = { NODE_RPC_URL: node.url, REGISTRY_RPC_URL: url, REGISTRY_LCD_URL: url }
  const names = { CHAIN_NAME: 'My', CHAIN_NETWORK: 'Net' }
  const env = { ...(await otherPorts()), ...urls, ...names, DEVNET_PATH: testDirectory(t) }
  const child = startChild('src/viewmesh.js', { args: ['devnet'], env })
  t.after(() => child.process.kill('SIGKILL'))
  await child.says('Ctrl-C stops everything')
  assert.match(child.stdout(), /^My__Net, genesis 0x/m)
  assert.doesNotMatch(child.stdout(), /Registry chain/)
  await until(() => asked.length > 0)
  const [first] = await node.rpc<string[]>('eth_accounts')
  assert.equal(await node.rpc('eth_getTransactionCount', first, 'latest'), '0x0')
  child.process.kill('SIGINT')
  assert.equal((await child.ended()).code, 0)
})

test('a port that is taken ends it before anything is made, and names the setting', async (t) => {
  const { url } = await openJsonServer(t, () => null)
  const { port } = new URL(url)
  const home = testDirectory(t)
  const path = join(home, 'dev')
  const env = { ...(await otherPorts()), DEVNET_PATH: path, DEVNET_HOST_P2P_PORT: port }
  const child = startChild('src/viewmesh.js', { args: ['devnet'], env })
  t.after(() => child.process.kill('SIGKILL'))
  const { code, stdout, stderr } = await child.ended()
  assert.equal(code, 1)
  assert.equal(stderr, '')
  const shown = `fatal: failed\nerror: .*\n  DEVNET_HOST_P2P_PORT: port ${port}, in use\nWhat to do: `
  assert.match(stdout, new RegExp(shown))
  assert.equal(existsSync(path), false)
})
