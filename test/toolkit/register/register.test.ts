/** `viewmesh register` sends what a node signed, by the account that it signed for, and nothing without --yes. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeFunctionData, type Hex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSigner } from '../../../src/identity/signature.ts'
import { openHttpServer } from '../../../src/service/health/http-server.ts'
import {
  type RegistrationReport,
  registrationRoute,
} from '../../../src/service/health/registration-route.ts'
import { captureLog } from '../../support/captured-log.ts'
import { startAnvil } from '../../support/chain/anvil.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const { address } = privateKeyToAccount(key)
const env = { VIEWMESH_PRIVATE_KEY: key }
const chainId = 31_337
const abi = parseAbi(['function register(bytes, bytes, bytes, string, string)'])

/** A node that signs for an account; null where none is set. */
async function openNode(
  t: TestContext,
  account: string | null,
  reached = '/ip4/203.0.113.7/tcp/9171',
): Promise<string> {
  const settings = {
    registrationAddress: account,
    registrationChainId: chainId,
    registrationEndpoint: 'https://host.example.org',
    registrationMessage: 'bound' as const,
    chainName: 'Local',
    chainNetwork: 'Devnet',
  }
  const signer = createSigner({ type: 'ES256K', privateKey: new Uint8Array(32).fill(7) })
  const self = () => ({ id: '12D3KooWPeer', addresses: [] })
  const node = () => ({ signer, self, announced: () => [reached] })
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'none' },
    {
      log: captureLog().log,
      routes: (routes) => registrationRoute(routes, settings, { role: 'host', node }),
    },
  )
  t.after(() => server.close())
  return `http://127.0.0.1:${server.port}`
}

/** A chain whose Host registry takes everything. */
async function openChain(t: TestContext) {
  const anvil = await startAnvil()
  t.after(() => anvil.close())
  await anvil.rpc('anvil_setCode', `0x${'0211'.padStart(40, '0')}`, '0x00')
  return anvil
}

test('a Host is registered with what it signed; without --yes nothing is sent', async (t) => {
  const [node, anvil] = [await openNode(t, address), await openChain(t)]
  const terminal = await openTestTerminal(t)
  const argv = ['register', '--rpc', anvil.url, '--node', node, '--json']
  const shown = await terminal.run(argv, { env })
  assert.equal(shown.exitCode, 0, shown.stderr)
  assert.match(shown.stderr, /nothing was sent/)
  assert.equal(JSON.parse(shown.stdout).sent, false)
  assert.equal(await anvil.rpc('eth_blockNumber'), '0x0')
  const sent = await terminal.run([...argv, '--yes'], { env })
  assert.equal(sent.exitCode, 0, sent.stderr)
  const { transaction } = JSON.parse(sent.stdout)
  const { to, input } = await anvil.rpc<{ to: string; input: Hex }>(
    'eth_getTransactionByHash',
    transaction,
  )
  assert.equal(Number(to), 0x211)
  const { args } = decodeFunctionData({ abi, data: input })
  const { registration } = (await (
    await fetch(`${node}/registration`)
  ).json()) as RegistrationReport
  const { public_key, signed_pk_message } = registration.defra_pk_registration
  const { message, connection_string, endpoint_address } = registration
  assert.deepEqual(args, [
    public_key,
    signed_pk_message,
    message,
    connection_string,
    endpoint_address,
  ])
})

test('a node that signs for nobody, for another account or another chain is not registered', async (t) => {
  const terminal = await openTestTerminal(t)
  const anvil = await openChain(t)
  const elsewhere = await startAnvil({ args: ['--chain-id', '5'] })
  t.after(() => elsewhere.close())
  const own = await openNode(t, address)
  const cases = [
    [await openNode(t, null), anvil.url, /REGISTRATION_ADDRESS/],
    [await openNode(t, `0x${'11'.repeat(20)}`), anvil.url, /signs for 0x1111/],
    [own, elsewhere.url, /signs for chain 31337, and --rpc is chain 5/],
  ] as const
  for (const [node, rpc, message] of cases) {
    const argv = ['register', '--rpc', rpc, '--node', node, '--yes']
    const { exitCode, stderr } = await terminal.run(argv, { env })
    assert.equal(exitCode, 1)
    assert.match(stderr, message)
  }
})

test('what is no URL of a node or a chain ends with 2 and says which flag it is', async (t) => {
  const terminal = await openTestTerminal(t)
  const url = 'http://127.0.0.1:1'
  for (const [rpc, node, flag] of [
    ['foo', url, /with --rpc/],
    [url, 'foo', /with --node/],
    [url, 'ftp://127.0.0.1', /with --node/],
  ] as const) {
    const { exitCode, stderr } = await terminal.run(['register', '--rpc', rpc, '--node', node])
    assert.equal(exitCode, 2)
    assert.match(stderr, flag)
  }
})

test('a node that others cannot reach is not registered, a private one only with a flag', async (t) => {
  const terminal = await openTestTerminal(t)
  const anvil = await openChain(t)
  const register = async (reached: string, ...flags: string[]) => {
    const argv = ['register', '--rpc', anvil.url, '--node', await openNode(t, address, reached)]
    return await terminal.run([...argv, ...flags], { env })
  }
  for (const reached of ['/ip4/127.0.0.1/tcp/9171', '/ip4/0.0.0.0/tcp/9171']) {
    const { exitCode, stderr } = await register(reached, '--yes', '--allow-private')
    assert.equal(exitCode, 1)
    assert.match(stderr, /P2P_ANNOUNCE/)
  }
  const inner = await register('/ip4/10.0.0.2/tcp/9171', '--yes')
  assert.equal(inner.exitCode, 1)
  assert.match(inner.stderr, /P2P_ANNOUNCE.*--allow-private/)
  const allowed = await register('/ip4/10.0.0.2/tcp/9171', '--allow-private')
  assert.equal(allowed.exitCode, 0, allowed.stderr)
  assert.match(allowed.stdout, /10\.0\.0\.2/)
})

test('a node or a chain that is not there ends with 3', async (t) => {
  const terminal = await openTestTerminal(t)
  const node = await openNode(t, address)
  const nowhere = 'http://127.0.0.1:1'
  for (const argv of [
    ['--rpc', nowhere, '--node', node],
    ['--rpc', nowhere, '--node', nowhere],
  ])
    assert.equal((await terminal.run(['register', ...argv], { env })).exitCode, 3)
})
