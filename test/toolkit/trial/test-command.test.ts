import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openTestTerminal } from '../support/test-terminal.ts'
import { usdc } from './support/trial-room.ts'

type TestTerminal = Awaited<ReturnType<typeof openTestTerminal>>

/** A project with the View of the transfers of USDC. */
async function openTokenProject(t: Parameters<typeof openTestTerminal>[0]): Promise<TestTerminal> {
  const terminal = await openTestTerminal(t)
  await terminal.run(['view', 'init'])
  await terminal.run(['view', 'init', 'Transfers'])
  const folder = join(terminal.cwd, 'views', 'Transfers')
  mkdirSync(join(terminal.cwd, 'lenses'), { recursive: true })
  cpSync(
    new URL('../../../src/lenses/erc20_transfers.wasm', import.meta.url),
    join(terminal.cwd, 'lenses', 'erc20_transfers.wasm'),
  )
  writeFileSync(
    join(folder, 'view.yaml'),
    `lenses:\n  - label: transfers\n    file: lenses/erc20_transfers.wasm\n    args:\n      tokenAddress: "${usdc}"\n`,
  )
  writeFileSync(join(folder, 'query.graphql'), 'Log { address topics data transaction { hash } }\n')
  writeFileSync(
    join(folder, 'schema.graphql'),
    'type Transfers { hash: String from: String to: String amount: BigInt }\n',
  )
  return terminal
}

test('view test prints rows, fields and findings, and ends with 0 where none is an error', async (t) => {
  const { run } = await openTokenProject(t)
  const { exitCode, stdout, stderr } = await run(['view', 'test', 'Transfers'])
  assert.deepEqual([exitCode, stderr], [0, ''])
  assert.match(stdout, /^_blockNumber +hash +from +to +amount\n21000000 +0x2840e5…6b8234/)
  assert.match(stdout, /^amount +BigInt +5 +0 +0 +0$/m)
  assert.match(
    stdout,
    /^3 blocks, 22 documents, 5 rows\nlenses are fed: single\na thousand documents: \d+\.\d ms, \d+\.\d MiB of memory$/m,
  )
  assert.match(
    stdout,
    /^warning: row: rows have what .* left out: tokenAddress, .* \[OUTPUT_FIELD_NOT_IN_SDL\]$/m,
  )
  assert.match(stdout, /\nTransfers passed\n$/)
})

test('view test shows a person which block it is at, and clears that before the report', async (t) => {
  const { run } = await openTokenProject(t)
  const { exitCode, stderr } = await run(['view', 'test', 'Transfers'], { isTTY: true })
  const line = '\r\u001b[2K'
  const shown = [1, 2, 3].map((done) => `${line}block ${done} of 3`).join('')
  assert.deepEqual([exitCode, stderr], [0, `${shown}${line}`])
})

test('view test ends with 1 behind the report where rows are not those of --expect', async (t) => {
  const { run, cwd } = await openTokenProject(t)
  const first = await run(['view', 'test', 'Transfers', '--json'])
  writeFileSync(join(cwd, 'rows.json'), first.stdout)
  assert.equal((await run(['view', 'test', 'Transfers', '--expect', 'rows.json'])).exitCode, 0)
  const schema = join(cwd, 'views', 'Transfers', 'schema.graphql')
  writeFileSync(schema, readFileSync(schema, 'utf8').replace('BigInt', 'String'))
  const same = await run(['view', 'test', 'Transfers', '--expect', 'rows.json'])
  assert.equal(same.exitCode, 0)
  writeFileSync(schema, readFileSync(schema, 'utf8').replace('amount: String', 'amount: Int'))
  const { exitCode, stdout, stderr } = await run([
    'view',
    'test',
    'Transfers',
    '--expect',
    'rows.json',
  ])
  assert.equal(exitCode, 1)
  assert.match(
    stdout,
    /error: row: amount is Int in the SDL, and 5 of 5 rows have something else, as in "2500000000" \[OUTPUT_TYPE_MISMATCH\]/,
  )
  assert.match(stdout, /\nTransfers failed: 6 errors\n$/)
  assert.equal(
    stderr,
    'error: the test of Transfers found 6 errors\nWhat to do: Each error above says what to do.\n',
  )
})

test('a View is tested on the chain that its blocks name, else on that of its query', async (t) => {
  const { run, cwd } = await openTokenProject(t)
  const networkOf = async (...flags: string[]): Promise<unknown> =>
    JSON.parse((await run(['view', 'test', 'Transfers', '--json', ...flags])).stdout).network
  assert.equal(await networkOf(), 'Ethereum__Mainnet')
  const file = join(cwd, 'blocks.json')
  const blocks = [{ logs: [{ address: usdc }] }]
  writeFileSync(file, JSON.stringify({ network: 'Local__Devnet', blocks }))
  assert.equal(await networkOf('--fixture', 'blocks.json'), 'Local__Devnet')
  const query = join(cwd, 'views', 'Transfers', 'query.graphql')
  writeFileSync(query, 'Arbitrum__One__Log { address topics data transaction { hash } }\n')
  assert.equal(await networkOf(), 'Arbitrum__One')
})

test('view test takes blocks of a file, and refuses flags that contradict each other', async (t) => {
  const { run, cwd } = await openTokenProject(t)
  writeFileSync(
    join(cwd, 'blocks.json'),
    JSON.stringify({ blocks: [{ logs: [{ address: usdc }] }] }),
  )
  const { exitCode, stdout } = await run(['view', 'test', 'Transfers', '--fixture', 'blocks.json'])
  assert.equal(exitCode, 1)
  assert.match(
    stdout,
    /neither the query nor the lenses want a document of these blocks.*\[CHAIN_NO_TEST_DATA\]/,
  )
  for (const flags of [
    ['--fixture', 'x', '--from', 'http://x'],
    ['--blocks', '5'],
    ...['0', '1001', '1.5'].map((blocks) => ['--from', 'http://127.0.0.1:9', '--blocks', blocks]),
  ])
    assert.equal((await run(['view', 'test', 'Transfers', ...flags])).exitCode, 2, flags.join(' '))
  const from = ['view', 'test', 'Transfers', '--from', 'http://127.0.0.1:9']
  assert.equal((await run(from)).exitCode, 3)
})
