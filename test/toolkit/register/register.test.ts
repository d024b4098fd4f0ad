/** `viewmesh register` sends what a node signed, by the account that it signed for, and nothing without --yes. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  decodeFunctionData,
  type Hex,
  parseAbi,
  parseTransaction,
  type TransactionSerialized,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSigner } from '../../../src/identity/signature.ts'
import { registryChainIds } from '../../../src/registry/registry-chains.ts'
import { openHttpServer } from '../../../src/service/health/http-server.ts'
import {
  type RegistrationReport,
  registrationRoute,
} from '../../../src/service/health/registration-route.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { captureLog } from '../../support/captured-log.ts'
import { startAnvil } from '../../support/chain/anvil.ts'
import { hurry } from '../support/hurried-clock.ts'
import { openLyingNode } from '../support/lying-node.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const { address } = privateKeyToAccount(key)
const env = { VIEWMESH_PRIVATE_KEY: key }
const chainId = registryChainIds.local
/** How each registers: literals, so that neither address nor selector is what the program says itself. */
const calls = [
  {
    role: 'host',
    to: '0x0000000000000000000000000000000000000211',
    selector: '0xfdaf4b31',
    abi: parseAbi(['function register(bytes, bytes, bytes, string, string)']),
  },
  {
    role: 'generator',
    to: '0x0000000000000000000000000000000000000212',
    selector: '0x85b9137d',
    abi: parseAbi(['function register(bytes, bytes, bytes, string)']),
  },
] as const

/** A node that signs for an account; null where none is set. */
async function openNode(
  t: TestContext,
  account: string | null,
  reached = '/ip4/203.0.113.7/tcp/9171',
  registrationMessage: 'bound' | 'constant' = 'bound',
  role: 'host' | 'generator' = 'host',
  seed = 7,
): Promise<string> {
  const settings = {
    registrationAddress: account,
    registrationChainId: chainId,
    registrationEndpoint: 'https://host.example.org',
    registrationMessage,
    chainName: 'Local',
    chainNetwork: 'Devnet',
  }
  const signer = createSigner({ type: 'ES256K', privateKey: new Uint8Array(32).fill(seed) })
  const self = () => ({ id: '12D3KooWPeer', addresses: [] })
  const node = () => ({ signer, self, announced: () => [reached] })
  return await openServer(t, (routes) => registrationRoute(routes, settings, { role, node }))
}

async function openServer(t: TestContext, routes: Routes): Promise<string> {
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'none' },
    { log: captureLog().log, routes },
  )
  t.after(() => server.close())
  return `http://127.0.0.1:${server.port}`
}

type Routes = Parameters<typeof openHttpServer>[1]['routes']

/** A chain whose registries of Hosts and Generators take everything. */
async function openChain(t: TestContext) {
  const anvil = await startAnvil({ args: ['--chain-id', String(chainId)] })
  t.after(() => anvil.close())
  for (const { to } of calls) await anvil.rpc('anvil_setCode', to, '0x00')
  return anvil
}

for (const { role, to: precompile, selector, abi } of calls)
  test(`a ${role} is registered with what it signed; without --yes nothing is sent`, async (t) => {
    const node = await openNode(t, address, undefined, undefined, role)
    const anvil = await openChain(t)
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
    assert.equal(sent.stderr, `sending ${transaction}\n`)
    const { to, input } = await anvil.rpc<{ to: string; input: Hex }>(
      'eth_getTransactionByHash',
      transaction,
    )
    assert.deepEqual([to, input.slice(0, 10)], [precompile, selector])
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
      ...(role === 'host' ? [endpoint_address] : []),
    ])
  })

/** "the same EVM address may be reused but is treated as a new identity" (the service's page, What the service does, 13). */
test('an account whose node lost its identity registers the new one as another node', async (t) => {
  const anvil = await openChain(t)
  const terminal = await openTestTerminal(t)
  const register = async (seed: number) => {
    const node = await openNode(t, address, undefined, undefined, 'host', seed)
    const argv = ['register', '--rpc', anvil.url, '--node', node, '--json', '--yes']
    const { exitCode, stdout, stderr } = await terminal.run(argv, { env })
    assert.equal(exitCode, 0, stderr)
    const { account, did, sent } = JSON.parse(stdout)
    return { account, did, sent }
  }
  const lost = await register(7)
  const fresh = await register(9)
  assert.notEqual(fresh.did, lost.did)
  assert.deepEqual(fresh, { account: address, did: fresh.did, sent: true })
  assert.equal(lost.account, address)
  assert.equal(await anvil.rpc('eth_blockNumber'), '0x2')
})

test('a registration that the chain reverts ends with 1 and says what may be why', async (t) => {
  const [node, anvil] = [await openNode(t, address), await openChain(t)]
  // Takes it when it is estimated, and reverts in the block.
  const lying = await openLyingNode(t, anvil.url, { eth_estimateGas: () => '0x186a0' })
  for (const { to } of calls) await anvil.rpc('anvil_setCode', to, '0x5f5ffd')
  const terminal = await openTestTerminal(t)
  const argv = ['register', '--rpc', lying.url, '--node', node, '--yes']
  const reverted = await terminal.run(argv, { env })
  assert.deepEqual([reverted.exitCode, reverted.stdout, lying.sent.length], [1, '', 1])
  assert.match(
    reverted.stderr,
    /the chain reverted the transaction 0x[0-9a-f]{64}\nWhat to do: .*may refuse an account or a node that is registered already/,
  )
})

test('a registration that is in no block after two minutes may still be taken, and fails', async (t) => {
  const [node, anvil] = [await openNode(t, address), await openChain(t)]
  const lying = await openLyingNode(t, anvil.url, { eth_getTransactionReceipt: () => null })
  const terminal = await openTestTerminal(t)
  hurry(t, 60_000)
  const argv = ['register', '--rpc', lying.url, '--node', node, '--yes']
  const { exitCode, stdout, stderr } = await terminal.run(argv, { env })
  assert.deepEqual([exitCode, stdout, lying.sent.length], [3, '', 1])
  assert.match(
    stderr,
    /error: the transaction (0x[0-9a-f]{64}) was sent and is in no block after two minutes\nWhat to do: It may still be taken/,
  )
})

test('a node that signs for nobody, for another account or another chain is not registered', async (t) => {
  const terminal = await openTestTerminal(t)
  const anvil = await openChain(t)
  const elsewhere = await startAnvil({ args: ['--chain-id', '5'] })
  t.after(() => elsewhere.close())
  const own = await openNode(t, address)
  const cases = [
    [
      await openNode(t, null),
      anvil.url,
      /^error: the node does not sign a registration: REGISTRATION_ADDRESS is not set: .*\nWhat to do: Set REGISTRATION_ADDRESS of the node /,
    ],
    [await openNode(t, `0x${'11'.repeat(20)}`), anvil.url, /signs for 0x1111/],
    [own, elsewhere.url, /signs for chain 91273003, and this is for chain 5/, '--chain-id', '5'],
  ] as const
  for (const [node, rpc, message, ...flags] of cases) {
    const argv = ['register', '--rpc', rpc, '--node', node, '--yes', ...flags]
    const { exitCode, stderr } = await terminal.run(argv, { env })
    assert.equal(exitCode, 1)
    assert.match(stderr, message)
  }
})

test('nothing is signed for a chain that is no registry chain, whatever the node asks for', async (t) => {
  const [node, anvil] = [await openNode(t, address), await openChain(t)]
  const terminal = await openTestTerminal(t)
  const register = async (answers: readonly string[], ...flags: string[]) => {
    const lying = await openLyingNode(t, anvil.url, {
      eth_chainId: (before) => answers[Math.min(before, answers.length - 1)],
    })
    const argv = ['register', '--rpc', lying.url, '--node', node, '--yes', ...flags]
    return { ...(await terminal.run(argv, { env })), sent: lying.sent }
  }
  const known = await register(['0x1'])
  assert.deepEqual([known.exitCode, known.sent], [1, []])
  assertExplained(saidIn(known, 'TOOLKIT_CHAIN_REFUSED'))
  assert.match(
    known.stderr,
    /is on chain 1: Ethereum Mainnet, no registry chain\nWhat to do: .*--chain-id/,
  )
  // Binance's, which is not in the table of networks.
  const unknown = await register(['0x38'])
  assert.deepEqual([unknown.exitCode, unknown.sent], [1, []])
  assert.match(unknown.stderr, /is on chain 56: no known registry chain\n/)
  const changing = await register([`0x${chainId.toString(16)}`, '0x1'])
  assert.equal(changing.exitCode, 0, changing.stderr)
  assert.deepEqual(changing.sent.map(chainOf), [chainId])
})

test('a fee above --max-fee and a balance below the fee are refused in coins', async (t) => {
  const [node, anvil] = [await openNode(t, address), await openChain(t)]
  const terminal = await openTestTerminal(t)
  const lying = await openLyingNode(t, anvil.url, { eth_gasPrice: () => '0x38d7ea4c68000' })
  const argv = ['register', '--rpc', lying.url, '--node', node]
  const high = await terminal.run([...argv, '--yes'], { env })
  assert.deepEqual([high.exitCode, lying.sent], [1, []])
  assertExplained(saidIn(high, 'TOOLKIT_FEE_HIGH'))
  assert.match(high.stderr, /may cost \d+(?:\.\d+)? SHNZ, and at most 0\.1 SHNZ .*\n.*--max-fee/)
  const shown = await terminal.run(argv, { env })
  assert.match(shown.stdout, /fee +\d+(?:\.\d+)? SHNZ at most\nbalance +10000 SHNZ/)
  const wrong = await terminal.run([...argv, '--max-fee', '1e3'], { env })
  assert.equal(wrong.exitCode, 2)
  await anvil.rpc('anvil_setBalance', address, '0x5')
  const poor = await terminal.run([...argv, '--yes', '--max-fee', '1000'], { env })
  assert.deepEqual([poor.exitCode, lying.sent], [1, []])
  assert.match(poor.stderr, /has 0\.0{17}5 SHNZ, and registering may cost/)
  await anvil.rpc('anvil_setBalance', address, `0x${(10n ** 21n).toString(16)}`)
  const allowed = await terminal.run([...argv, '--yes', '--max-fee', '1000'], { env })
  assert.equal(allowed.exitCode, 0, allowed.stderr)
})

test('a node that signs the constant message is registered by whoever asks', async (t) => {
  const node = await openNode(t, null, '/ip4/203.0.113.7/tcp/9171', 'constant')
  const terminal = await openTestTerminal(t)
  const argv = ['register', '--rpc', (await openChain(t)).url, '--node', node, '--yes']
  const { exitCode, stderr } = await terminal.run(argv, { env })
  assert.equal(exitCode, 0, stderr)
})

test('a node that does not prove what it answers is not registered', async (t) => {
  const [node, anvil] = [await openNode(t, address), await openChain(t)]
  const terminal = await openTestTerminal(t)
  const { registration, statement } = (await (
    await fetch(`${node}/registration`)
  ).json()) as RegistrationReport
  const keys = registration.defra_pk_registration
  const signer = createSigner({ type: 'ES256K', privateKey: new Uint8Array(32).fill(8) })
  const flipped = (hex: string): string => hex.slice(0, -1) + (hex.endsWith('0') ? '1' : '0')
  const changes: readonly [RegExp, unknown][] = [
    [/message is not the one/, { registration, statement: { ...statement, role: 'generator' } }],
    [/message is not the one/, { registration, statement: { ...statement, address: null } }],
    [/message is not the one/, { registration, statement: { ...statement, signed_at: 'now' } }],
    [/message is not the one/, { registration, statement: { ...statement, address: '0x' } }],
    [/message is not the one/, { registration, statement: { ...statement, address: 7 } }],
    [/did is not that/, { registration: { ...registration, did: 'did:key:z1' }, statement }],
    ...[
      { ...keys, signed_pk_message: flipped(keys.signed_pk_message) },
      { ...keys, public_key: `0x${signer.identity}` },
      { ...keys, public_key: '0x00' },
    ].map((defra_pk_registration): [RegExp, unknown] => [
      /signature is not one over its message/,
      { registration: { ...registration, defra_pk_registration }, statement },
    ]),
  ]
  for (const [fault, report] of changes) {
    const pretended = await openServer(
      t,
      (routes) => void routes.get('/registration', (_, reply) => reply.send(report)),
    )
    const argv = ['register', '--rpc', anvil.url, '--node', pretended, '--yes']
    const { exitCode, stderr } = await terminal.run(argv, { env })
    assert.equal(exitCode, 1)
    assert.match(stderr, fault)
    assert.match(stderr, /What to do: .*--node/)
  }
  assert.equal(await anvil.rpc('eth_blockNumber'), '0x0')
})

function saidIn({ stderr }: { readonly stderr: string }, code: string) {
  const [message = '', remedy = ''] = stderr.split('\n')
  return { code, message: message.replace(/^error: /, ''), remedy }
}

function chainOf(raw: string): number | undefined {
  return parseTransaction(raw as TransactionSerialized).chainId
}

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
    assert.match(stderr, /^error: the node has no address that others reach\n.*P2P_ANNOUNCE/)
  }
  const inner = await register('/ip4/10.0.0.2/tcp/9171', '--yes')
  assert.equal(inner.exitCode, 1)
  assert.match(
    inner.stderr,
    /^error: \/ip4\/10\.0\.0\.2\/tcp\/9171\/p2p\/12D3KooWPeer is an address of a private network\nWhat to do: Set P2P_ANNOUNCE.*--allow-private/,
  )
  const allowed = await register('/ip4/10.0.0.2/tcp/9171', '--allow-private')
  assert.equal(allowed.exitCode, 0, allowed.stderr)
  const names = [
    ...['role', 'account', 'did', 'connection', 'endpoint', 'chainId'],
    ...['precompile', 'gas', 'fee', 'balance'],
  ]
  const lines = allowed.stdout.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => line.slice(0, 13)),
    names.map((name) => name.padEnd(13)),
  )
  assert.match(allowed.stdout, /^connection {3}\/ip4\/10\.0\.0\.2\/tcp\/9171\/p2p\/12D3KooWPeer$/m)
  assert.match(allowed.stdout, /^fee {10}0\.\d+ SHNZ at most$/m)
})

test('an address that nobody can dial, or a Host without an endpoint, is not registered', async (t) => {
  const terminal = await openTestTerminal(t)
  const answer = await fetch(`${await openNode(t, address)}/registration`)
  const { registration, statement } = (await answer.json()) as RegistrationReport
  const { url } = await openChain(t)
  const register = async (given: Partial<RegistrationReport['registration']>) => {
    const report = { registration: { ...registration, ...given }, statement }
    const node = await openServer(
      t,
      (routes) => void routes.get('/registration', (_, reply) => reply.send(report)),
    )
    const argv = ['register', '--rpc', url, '--node', node, '--yes', '--allow-private']
    const { exitCode, stderr } = await terminal.run(argv, { env })
    return [exitCode, stderr.split('\n')[0]]
  }
  const connection_string = '/ip4/127.0.0.1/tcp/9171'
  assert.deepEqual(await register({ connection_string }), [
    1,
    `error: no other machine reaches the node at ${connection_string}`,
  ])
  const long = `${connection_string}/p2p/${'1'.repeat(300)}`
  assert.deepEqual(await register({ connection_string: long }), [
    1,
    `error: no other machine reaches the node at ${long.slice(0, 300)}`,
  ])
  for (const endpoint_address of ['', 'host.example.org'])
    assert.deepEqual(await register({ endpoint_address }), [1, 'error: the Host has no endpoint'])
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
