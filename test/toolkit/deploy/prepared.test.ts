/** `view deploy --prepare` and `--send`, on the development registry. */
import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Hex, keccak256, type TransactionSerializableLegacy } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { registryAddress } from '../../../src/registry/precompile/abi.ts'
import { registerCall } from '../../../src/registry/precompile/signed-transaction.ts'
import { readPrepared, writePrepared } from '../../../src/toolkit/deploy/prepared-file.ts'
import { viewIDs } from '../../../src/views/view-id.ts'
import { testDirectory } from '../../support/test-store.ts'
import { openLyingNode } from '../support/lying-node.ts'
import { heightOf, openRegistryRoom, type Printed } from './support/registry-room.ts'

test('what is prepared is JSON that people can read, of one View and read as it was written', async (t) => {
  const path = join(testDirectory(t), 'prepared.json')
  const creator = `0x${'1'.repeat(40)}`
  const wire = Uint8Array.of(1, 2, 3)
  const prepared = {
    ...{ view: 'Things', revision: 1, ...viewIDs(creator, wire), creator, chainId: 1, wire },
    ...{ hash: null, raw: null },
  }
  await writePrepared(path, prepared)
  const start = /^\{\n {2}"kind": "viewmesh\/prepared-deployment\/1",\n {2}"view": "Things",\n/
  assert.match(await readFile(path, 'utf8'), start)
  assert.deepEqual(await readPrepared(path, 'Things'), prepared)
  await assert.rejects(readPrepared(path, 'Others'), {
    message: `${path} is a deployment of 'Things'`,
  })
})

test('a prepared deployment is sent by another command, and twice is once', async (t) => {
  const { registry, deploy, terminal } = await openRegistryRoom(t)
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
  assert.match(second.stderr, /^the chain knows this View already: registered$/m)
  assert.equal(await heightOf(registry), height)
  assert.equal(JSON.parse(second.stdout).transaction, JSON.parse(first.stdout).transaction)
})

test('a dry run of what is prepared shows its price and state, and sends nothing', async (t) => {
  const { registry, deploy, terminal } = await openRegistryRoom(t)
  const { transaction }: Printed = JSON.parse((await deploy('--prepare', 'prepared.json')).stdout)
  const node = await openLyingNode(t, registry.rpcUrl, {})
  const flags = ['--send', 'prepared.json', '--yes', '--rpc', node.url]
  const before = await deploy(...flags, '--dry-run')
  assert.equal(before.exitCode, 0, before.stderr)
  const shown = JSON.parse(before.stdout)
  assert.deepEqual([shown.state, shown.transaction], ['not sent', transaction])
  assert.match(before.stderr, /size: .*\n +gas: +\d+ at most\n +fee: +0\.0000\d+ SHNZ at most\n/)
  assert.doesNotMatch(before.stderr, /nonce/, 'it is the next one')
  assert.deepEqual([node.sent, await heightOf(registry)], [[], 0])
  assert.deepEqual(await terminal.json('view', 'status'), { deployments: [] })
  await deploy('--send', 'prepared.json')
  const after = await deploy(...flags, '--dry-run')
  assert.deepEqual([after.exitCode, JSON.parse(after.stdout).state], [0, 'registered'])
  assert.deepEqual(node.sent, [])
})

test('a dry run of what can no longer be sent names its nonce and the next one', async (t) => {
  const { deploy, terminal } = await openRegistryRoom(t)
  await deploy('--prepare', 'prepared.json')
  await terminal.run(['view', 'add', 'sdl', 'type Other { address: String }', '--name', 'Payments'])
  assert.equal((await deploy('--yes')).exitCode, 0)
  const { exitCode, stderr } = await deploy('--send', 'prepared.json', '--dry-run')
  assert.equal(exitCode, 0, stderr)
  assert.match(stderr, /its nonce is 0, and the next of the sender is 1: it was sent before, or /)
})

test('what is prepared is not sent where it may cost more than --max-fee allows', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
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
  const { registry, deploy, terminal, key } = await openRegistryRoom(t)
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
  const { registry, deploy, terminal } = await openRegistryRoom(t)
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

test('what is prepared is not sent where another transaction took its nonce', async (t) => {
  const { registry, deploy, terminal } = await openRegistryRoom(t)
  await deploy('--prepare', 'prepared.json')
  await terminal.run(['view', 'add', 'sdl', 'type Other { address: String }', '--name', 'Payments'])
  assert.equal((await deploy('--yes')).exitCode, 0)
  const node = await openLyingNode(t, registry.rpcUrl, {})
  const { exitCode, stderr } = await deploy('--send', 'prepared.json', '--rpc', node.url)
  assert.deepEqual([exitCode, node.sent], [1, []])
  assert.match(
    stderr,
    /another transaction of 0x\w+ took the nonce 0, so 0x\w+ can never be in a block/,
  )
})

test('what is prepared is not sent where another transaction has registered its View', async (t) => {
  const { registry, deploy } = await openRegistryRoom(t)
  await deploy('--prepare', 'prepared.json')
  // Of the same nonce, and of another price.
  const node = await openLyingNode(t, registry.rpcUrl, { eth_maxPriorityFeePerGas: () => '0x77' })
  const first = await deploy('--yes', '--rpc', node.url)
  assert.equal(first.exitCode, 0, first.stderr)
  const height = await heightOf(registry)
  const { exitCode, stdout, stderr } = await deploy('--send', 'prepared.json')
  assert.equal(exitCode, 0, stderr)
  const { state, transaction }: Printed = JSON.parse(stdout)
  assert.deepEqual([state, transaction], ['registered', null])
  assert.equal(await heightOf(registry), height)
})
