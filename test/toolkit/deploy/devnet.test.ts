/** `view deploy --target devnet`, on the development registry. */
import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Hex, keccak256, type TransactionSerializableLegacy } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../src/devnet/registry/development-registry.ts'
import { registryAddress } from '../../../src/registry/precompile/abi.ts'
import { createRegistryClient } from '../../../src/registry/precompile/registry-client.ts'
import { registerCall } from '../../../src/registry/precompile/signed-transaction.ts'
import { until } from '../../support/p2p-room.ts'
import { openLyingNode } from '../support/lying-node.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const views = '/shinzonetwork/view/v1/views'

interface Printed {
  readonly address: string
  readonly id: string
  readonly transaction: string
  readonly state: string
}

test('a View is registered, followed to its end, listed by the chain and by view status', async (t) => {
  const { registry, deploy, terminal } = await open(t)
  const { exitCode, stdout, stderr } = await deploy('--yes')
  assert.equal(exitCode, 0, stderr)
  const shown: Printed = JSON.parse(stdout)
  assert.equal(shown.state, 'registered')
  assert.match(
    stderr,
    /size: +\d+ bytes of at most 393216\n +gas: +\d+ at most\n +fee: +0\.0000\d+ SHNZ/,
  )
  const listed = await fetch(`${registry.lcdUrl}${views}/${shown.address}`)
  assert.equal(listed.status, 200)
  const { deployments } = (await terminal.json('view', 'status')) as { deployments: Printed[] }
  assert.deepEqual(
    deployments.map(({ id, transaction, state }) => [id, transaction, state]),
    [[shown.id, shown.transaction, 'registered']],
  )
})

test('service page: deploying to devnet sends a transaction to the precompile at 0x0210', async (t) => {
  const { registry, deploy } = await open(t)
  const shown: Printed = JSON.parse((await deploy('--yes')).stdout)
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionByHash' },
    params: [shown.transaction],
  })
  const answer = await fetch(registry.rpcUrl, { method: 'POST', body })
  const { result } = (await answer.json()) as { readonly result: { readonly to: string } }
  assert.equal(result.to, '0x0000000000000000000000000000000000000210')
})

test('a View that is registered already is not sent again', async (t) => {
  const { registry, deploy } = await open(t)
  const first: Printed = JSON.parse((await deploy('--yes')).stdout)
  const height = await heightOf(registry)
  const again = await deploy('--yes')
  const second: Printed = JSON.parse(again.stdout)
  assert.equal(again.exitCode, 0)
  assert.match(again.stderr, /the chain knows this View already: registered/)
  assert.deepEqual([second.address, second.transaction], [first.address, null])
  assert.equal(await heightOf(registry), height)
})

test('a dry run shows what it would cost and sends nothing', async (t) => {
  const { registry, deploy } = await open(t)
  const { exitCode, stdout } = await deploy('--dry-run')
  assert.equal(exitCode, 0)
  assert.equal(JSON.parse(stdout).state, 'not sent')
  assert.equal(await heightOf(registry), 0)
})

test('a dry run shows the balance of an address that has too little', async (t) => {
  const { deploy } = await open(t)
  const { exitCode, stdout, stderr } = await deploy('--dry-run', {
    VIEWMESH_PRIVATE_KEY: '77'.repeat(32),
  })
  assert.equal(exitCode, 0, stderr)
  assert.equal(JSON.parse(stdout).balance, '0')
})

test('without --yes and with nobody to ask nothing is sent', async (t) => {
  const { registry, deploy } = await open(t)
  const { exitCode, stderr } = await deploy()
  assert.equal(exitCode, 2)
  assert.match(stderr, /--yes is required where nobody can be asked/)
  assert.equal(await heightOf(registry), 0)
})

test('a prepared deployment is sent by another command, and twice is once', async (t) => {
  const { registry, deploy, terminal } = await open(t)
  const file = 'prepared.json'
  const prepared = await deploy('--prepare', file)
  assert.equal(prepared.exitCode, 0, prepared.stderr)
  assert.equal((await stat(join(terminal.cwd, file))).mode & 0o777, 0o600)
  assert.equal(await heightOf(registry), 0)
  const again = await deploy('--prepare', file)
  assert.match(again.stderr, /prepared\.json cannot be written/)
  const first = await deploy('--send', file)
  assert.equal(first.exitCode, 0, first.stderr)
  const height = await heightOf(registry)
  const second = await deploy('--send', file)
  assert.equal(second.exitCode, 0, second.stderr)
  assert.equal(await heightOf(registry), height)
  assert.equal(JSON.parse(second.stdout).transaction, JSON.parse(first.stdout).transaction)
})

test('a dry run of what is prepared shows its price and state, and sends nothing', async (t) => {
  const { registry, deploy, terminal } = await open(t)
  const { transaction }: Printed = JSON.parse((await deploy('--prepare', 'prepared.json')).stdout)
  const node = await openLyingNode(t, registry.rpcUrl, {})
  const flags = ['--send', 'prepared.json', '--yes', '--rpc', node.url]
  const before = await deploy(...flags, '--dry-run')
  assert.equal(before.exitCode, 0, before.stderr)
  const shown = JSON.parse(before.stdout)
  assert.deepEqual([shown.state, shown.transaction], ['not sent', transaction])
  assert.match(before.stderr, /size: .*\n +gas: +\d+ at most\n +fee: +0\.0000\d+ SHNZ at most\n/)
  assert.deepEqual([node.sent, await heightOf(registry)], [[], 0])
  assert.deepEqual(await terminal.json('view', 'status'), { deployments: [] })
  await deploy('--send', 'prepared.json')
  const after = await deploy(...flags, '--dry-run')
  assert.deepEqual([after.exitCode, JSON.parse(after.stdout).state], [0, 'registered'])
  assert.deepEqual(node.sent, [])
})

test('a dry run of what can no longer be sent names its nonce and the next one', async (t) => {
  const { deploy, terminal } = await open(t)
  await deploy('--prepare', 'prepared.json')
  await terminal.run(['view', 'add', 'sdl', 'type Other { address: String }', '--name', 'Payments'])
  assert.equal((await deploy('--yes')).exitCode, 0)
  const { exitCode, stderr } = await deploy('--send', 'prepared.json', '--dry-run')
  assert.equal(exitCode, 0, stderr)
  assert.match(stderr, /its nonce is 0, and the next of the sender is 1: it was sent before, or /)
})

test('what is prepared is not sent where it may cost more than --max-fee allows', async (t) => {
  const { registry, deploy } = await open(t)
  await deploy('--prepare', 'prepared.json')
  const node = await openLyingNode(t, registry.rpcUrl, {})
  const flags = ['--send', 'prepared.json', '--rpc', node.url]
  for (const more of [[], ['--dry-run']]) {
    const { exitCode, stderr } = await deploy(...flags, '--max-fee', '0.000000001', ...more)
    assert.deepEqual([exitCode, node.sent], [1, []])
    assert.match(stderr, /may cost 0\.0000\d+ SHNZ, and at most 0\.000000001 SHNZ may be spent\n/)
  }
  const allowed = await deploy(...flags, '--max-fee', '0.01')
  assert.deepEqual([allowed.exitCode, node.sent.length], [0, 1], allowed.stderr)
})

test('a prepared deployment that was changed is not sent, and says what differs', async (t) => {
  const { registry, deploy, terminal, key } = await open(t)
  await deploy('--prepare', 'prepared.json')
  const prepared = JSON.parse(await readFile(join(terminal.cwd, 'prepared.json'), 'utf8'))
  const { chainId } = registry
  const to = registryAddress
  const data = registerCall(new Uint8Array(Buffer.from(prepared.wire, 'base64')))
  const sign = async (changed: Partial<TransactionSerializableLegacy>, privateKey = key) => {
    const fees = { gas: 1_000_000n, gasPrice: 1_000_000_000n, nonce: 0 }
    const request = { type: 'legacy', to, data, chainId, ...fees, ...changed } as const
    const raw = await privateKeyToAccount(privateKey as Hex).signTransaction(request)
    return { raw, hash: keccak256(raw) }
  }
  const [, otherKey] = registry.accounts
  const cases: readonly [string, object][] = [
    ['another hash', { hash: `0x${'11'.repeat(32)}` }],
    ['another creator', { creator: `0x${'11'.repeat(20)}` }],
    ['another creator', await sign({}, otherKey)],
    ['another receiver', await sign({ to: `0x${'11'.repeat(20)}` })],
    ['another receiver', await sign({ to: null })],
    ['another chain ID', { chainId: 1 }],
    ['another chain ID', await sign({ chainId: 1 })],
    ['another View', { wire: Buffer.from('another').toString('base64') }],
    ['another View', await sign({ data: '0x1234' })],
    ['coins with it', await sign({ value: 1n })],
    ['no signature', { raw: '0x1234' }],
    ['another hash, another View', { ...(await sign({ data: '0x' })), hash: prepared.hash }],
  ]
  for (const [fault, changed] of cases) {
    await writeFile(join(terminal.cwd, 'changed.json'), JSON.stringify({ ...prepared, ...changed }))
    const { exitCode, stderr } = await deploy('--send', 'changed.json')
    assert.equal(exitCode, 1, fault)
    assert.ok(stderr.includes(`changed.json was changed: its transaction has ${fault}\n`), stderr)
  }
  const elsewhere = await deploy('--send', 'prepared.json', '--chain-id', '1')
  assert.equal(elsewhere.exitCode, 2)
  assert.equal(await heightOf(registry), 0)
  await writeFile(
    join(terminal.cwd, 'same.json'),
    JSON.stringify({ ...prepared, ...(await sign({})) }),
  )
  const same = await deploy('--send', 'same.json', '--chain-id', String(chainId))
  assert.equal(same.exitCode, 0, same.stderr)
})

test('a View that is registered already is prepared as such, and sending that ends with 0', async (t) => {
  const { registry, deploy, terminal } = await open(t)
  await deploy('--yes')
  const height = await heightOf(registry)
  const file = join(terminal.cwd, 'prepared.json')
  const prepared = await deploy('--prepare', file)
  assert.equal(JSON.parse(prepared.stdout).state, 'registered')
  const sent = await deploy('--send', file)
  assert.equal(sent.exitCode, 0, sent.stderr)
  assert.equal(JSON.parse(sent.stdout).state, 'registered')
  assert.equal(await heightOf(registry), height)
})

test('a dry run of a pending View shows its state, waits for nothing and notes nothing', async (t) => {
  const { registry, deploy, terminal, key } = await open(t, null)
  const file = join(terminal.cwd, 'prepared.json')
  await deploy('--prepare', file)
  const { wire } = JSON.parse(await readFile(file, 'utf8')) as { wire: string }
  await registry.register(privateKeyToAddress(key as `0x${string}`), Buffer.from(wire, 'base64'))
  const { exitCode, stdout } = await deploy('--dry-run')
  assert.deepEqual([exitCode, JSON.parse(stdout).state], [0, 'pending'])
  assert.deepEqual(await terminal.json('view', 'status'), { deployments: [] })
})

test('a refusal of the other chain is explained, written down, and ends with 1', async (t) => {
  const { registry, deploy, terminal } = await open(t, null)
  const deploying = deploy('--yes')
  const address = await pendingOf(registry)
  await registry.settle({ failed: [address] })
  const { exitCode, stdout, stderr } = await deploying
  assert.deepEqual([exitCode, stdout], [1, ''])
  assert.match(stderr, /the registration failed: the other chain refused it\n.*--comet URL/)
  const { deployments } = (await terminal.json('view', 'status')) as { deployments: Printed[] }
  assert.deepEqual(
    deployments.map(({ state }) => state),
    ['not registered'],
  )
})

const refusal = 'the other chain refused it: ABCI code: 1: error handling packet'

test('the reason of a refusal is that of the event of the chain, also in view status', async (t) => {
  const { registry, deploy, terminal, key } = await open(t, null)
  const { cometUrl } = registry
  // One that failed before is not taken for this one.
  await deploy('--prepare', 'prepared.json')
  const { wire } = JSON.parse(await readFile(join(terminal.cwd, 'prepared.json'), 'utf8'))
  const address = await registry.register(
    privateKeyToAddress(key as Hex),
    new Uint8Array(Buffer.from(wire, 'base64')),
  )
  await registry.settle({ timedOut: [address] })
  await registry.openChannel()
  const deploying = deploy('--yes', '--comet', cometUrl)
  await untilStatus(registry, address, 'pending')
  await registry.settle({ failed: [address] })
  const { exitCode, stderr } = await deploying
  assert.equal(exitCode, 1)
  assert.ok(stderr.includes(`the registration failed: ${refusal}\n`), stderr)
  const status = ['view', 'status', '--comet', cometUrl]
  const { deployments } = (await terminal.json(...status)) as { deployments: object[] }
  const [{ state, error } = { state: '', error: '' }] = deployments as [Printed & { error: string }]
  assert.deepEqual([state, error], ['not registered', refusal])
  const { stdout } = await terminal.run(['view', 'status'], {
    env: { REGISTRY_RPC_URL: `${cometUrl.replace('http', 'ws')}/websocket` },
  })
  assert.match(stdout, new RegExp(`^Payments \\(version 1\\) at http://\\S+: ${refusal}$`, 'm'))
})

test('where nobody can say why a View was refused, that is said, and view status ends with 3', async (t) => {
  const { registry, deploy, terminal } = await open(t, null)
  const away = { REGISTRY_RPC_URL: 'http://127.0.0.1:1' }
  const deploying = deploy('--yes', '--comet', away.REGISTRY_RPC_URL)
  await registry.settle({ failed: [await pendingOf(registry)] })
  const { exitCode, stderr } = await deploying
  assert.equal(exitCode, 1)
  assert.match(
    stderr,
    /the other chain refused it\n.*reason cannot be asked for: .*127\.0\.0\.1:1 does/,
  )
  const status = await terminal.run(['view', 'status', '--json'], { env: away })
  assert.equal(status.exitCode, 3)
  assert.match(JSON.parse(status.stdout).deployments[0].error, /127\.0\.0\.1:1 does not answer/)
  const wrong = await terminal.run(['view', 'status', '--comet', 'ftp://a'])
  assert.equal(wrong.exitCode, 2)
})

test('a time-out of the other chain is told from a refusal, and so is the closed channel', async (t) => {
  const { registry, deploy } = await open(t, null)
  const deploying = deploy('--yes')
  const address = await pendingOf(registry)
  await registry.settle({ timedOut: [address] })
  const timedOut = await deploying
  assert.equal(timedOut.exitCode, 1)
  assert.match(timedOut.stderr, /the other chain did not answer within five minutes/)
  const after = await deploy('--yes')
  assert.equal(after.exitCode, 1)
  assert.match(after.stderr, /no active channel[\s\S]*\nWhat to do: The channel .* is closed/)
})

test('a chain that signs with another ID than its RPC says names --chain-id', async (t) => {
  const { deploy } = await open(t, 100, { signingChainId: 9001 })
  const refused = await deploy('--yes')
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /invalid chain id[\s\S]*\nWhat to do: .*--chain-id N/)
  const given = await deploy('--yes', '--chain-id', '9001')
  assert.equal(given.exitCode, 0, given.stderr)
})

test('nothing is signed for a chain that is no registry chain, unless --chain-id names it', async (t) => {
  const { registry, deploy } = await open(t)
  const lying = await openLyingNode(t, registry.rpcUrl, { eth_chainId: () => '0x1' })
  const refused = await deploy('--yes', '--rpc', lying.url)
  assert.deepEqual([refused.exitCode, lying.sent], [1, []])
  assert.match(refused.stderr, /on chain 1: Ethereum Mainnet, no registry chain\n.*--chain-id/)
  const given = await deploy('--yes', '--rpc', lying.url, '--chain-id', String(registry.chainId))
  assert.equal(given.exitCode, 0, given.stderr)
  assert.match(given.stderr, /calls its chain 1; what is signed is for chain 91273003/)
})

test('a fee above 0.1 SHNZ is shown and not signed, unless --max-fee allows it', async (t) => {
  const { registry, deploy } = await open(t)
  const price = (): string => '0x38d7ea4c68000'
  const lying = await openLyingNode(t, registry.rpcUrl, { eth_maxPriorityFeePerGas: price })
  const flags = ['--yes', '--rpc', lying.url]
  for (const refused of [
    await deploy(...flags),
    await deploy(...flags, '--prepare', 'prepared.json'),
    await deploy(...flags, '--max-fee', '1'),
  ]) {
    assert.deepEqual([refused.exitCode, lying.sent], [1, []])
    assert.match(refused.stderr, /registering may cost \d+\.\d+ SHNZ, and at most \S+ SHNZ may/)
  }
  assert.equal((await deploy(...flags, '--dry-run')).exitCode, 0)
  const allowed = await deploy(...flags, '--max-fee', '1000')
  assert.equal(allowed.exitCode, 0, allowed.stderr)
  assert.equal((await deploy('--yes', '--max-fee', 'much')).exitCode, 2)
})

test('an address without coins is told what it needs', async (t) => {
  const { deploy } = await open(t)
  const { exitCode, stderr } = await deploy('--yes', { VIEWMESH_PRIVATE_KEY: '77'.repeat(32) })
  assert.equal(exitCode, 1)
  assert.match(stderr, /0x[0-9a-fA-F]{40} has 0 SHNZ, and registering may cost 0\.0000\d+ SHNZ/)
})

test('a chain that is not there ends with 3, a key that is not there with 1', async (t) => {
  const { terminal, key } = await open(t)
  const argv = ['view', 'deploy', 'Payments', '--target', 'devnet', '--yes', '--rpc']
  const env = { VIEWMESH_PRIVATE_KEY: key }
  const gone = await terminal.run([...argv, 'http://127.0.0.1:1'], { env })
  assert.equal(gone.exitCode, 3, gone.stderr)
  const keyless = await terminal.run([...argv, 'http://127.0.0.1:1'])
  assert.equal(keyless.exitCode, 1)
  assert.match(keyless.stderr, /there is no wallet/)
})

test('a View that no Host could read is refused before anything is signed', async (t) => {
  const { registry, deploy, terminal } = await open(t)
  await terminal.run(['view', 'init', 'Empty'])
  const argv = ['view', 'deploy', 'Empty', '--target', 'devnet', '--rpc', registry.rpcUrl, '--yes']
  assert.equal((await terminal.run(argv)).exitCode, 1)
  assert.equal((await deploy('--send', join(terminal.cwd, 'nothing.json'))).exitCode, 1)
  assert.equal(await heightOf(registry), 0)
})

test('a View of another chain whose query every Host refuses is not registered', async (t) => {
  const { registry, deploy, terminal } = await open(t)
  const text = join(terminal.homeFolder, '.viewmesh/views/Payments/query.graphql')
  await writeFile(text, 'Arbitrum__One__Log { nothing }')
  const query = await deploy('--yes')
  assert.equal(query.exitCode, 1, query.stderr)
  assert.match(query.stderr, /Cannot query field "nothing"/)
  assert.equal(await heightOf(registry), 0)
})

interface Opened {
  readonly registry: DevelopmentRegistry
  readonly terminal: Awaited<ReturnType<typeof openTestTerminal>>
  readonly key: string
  deploy(
    ...flags: (string | Readonly<Record<string, string>>)[]
  ): ReturnType<Opened['terminal']['run']>
}

async function open(
  t: TestContext,
  acknowledgeMs: number | null = 100,
  options: { readonly signingChainId?: number } = {},
): Promise<Opened> {
  const registry = await openDevelopmentRegistry({ acknowledgeMs, ...options })
  t.after(() => registry.close())
  const terminal = await openTestTerminal(t)
  const [key = ''] = registry.accounts
  await terminal.json(
    ...['view', 'create', 'Payments', '--query', 'Log { address }'],
    ...['--sdl', 'type Payments { address: String }'],
  )
  return {
    ...{ registry, terminal, key },
    async deploy(...given) {
      const flags = given.filter((each) => typeof each === 'string')
      const env = given.find((each) => typeof each !== 'string') ?? { VIEWMESH_PRIVATE_KEY: key }
      const argv = ['view', 'deploy', 'Payments', '--target', 'devnet', '--rpc', registry.rpcUrl]
      return await terminal.run([...argv, ...flags, '--json'], { env })
    },
  }
}

async function heightOf({ cometUrl }: DevelopmentRegistry): Promise<number> {
  const response = await fetch(`${cometUrl}/status`)
  const { result } = (await response.json()) as {
    result: { sync_info: { latest_block_height: string } }
  }
  return Number(result.sync_info.latest_block_height)
}

async function untilStatus(
  { rpcUrl }: DevelopmentRegistry,
  address: string,
  wanted: string,
): Promise<void> {
  const client = createRegistryClient(rpcUrl, AbortSignal.timeout(30_000))
  await until(async () => (await client.getView(address)).status === wanted)
}

/** The address of the View that waits. */
async function pendingOf({ cometUrl }: DevelopmentRegistry): Promise<string> {
  const query = encodeURIComponent('"view.view_pending.address EXISTS"')
  for (;;) {
    const response = await fetch(`${cometUrl}/tx_search?query=${query}`)
    const { result } = (await response.json()) as { result: { txs: Found[] } }
    const [found] = result.txs
    const pending = found?.tx_result.events.find(({ type }) => type === 'view.view_pending')
    const attributes = pending?.attributes
    if (attributes !== undefined)
      return attributes.find(({ key }) => key === 'address')?.value ?? ''
  }
}

interface Found {
  readonly tx_result: {
    readonly events: readonly {
      readonly type: string
      readonly attributes: readonly { readonly key: string; readonly value: string }[]
    }[]
  }
}
