/** The lenses that ship as a Host runs them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareProgram } from '../../src/lens/program/program.ts'
import type { Feed } from '../../src/views/rows/row-type.ts'
import { contractLogs } from './support/contract-logs.ts'
import { openSetLens, readLens, streamed, values } from './support/fed-lens.ts'
import { recordedLogs, tokenAbi } from './support/fixture-logs.ts'

type Step = readonly [name: string, args: object]

const logs = recordedLogs()
const { contracts, transactions } = contractLogs()
const tokenAddress = logs[0]?.address ?? assert.fail('no log')
const tokenArgs = { tokenAddress }

function run(
  steps: readonly Step[],
  feed: Feed | null,
  documents: readonly object[] = logs,
): { rows: unknown[]; feeds: readonly Feed[] } {
  const program = prepareProgram(
    steps.map(([name, args]) => ({ wasm: readLens(name), args: JSON.stringify(args) })),
    feed,
  )
  const rows: unknown[] = []
  program.run(
    documents.map((document) => JSON.stringify(document)),
    (bytes) => rows.push(JSON.parse(Buffer.from(bytes).toString())),
  )
  return { rows, feeds: program.feeds }
}

const single: readonly (readonly [step: Step, documents: readonly object[]])[] = [
  [['decode_log', { abi: tokenAbi() }], logs],
  [['decode_log', { abi: tokenAbi(), unmatched: 'drop' }], logs],
  [['decode_call', { abi: contracts[0]?.abi }], transactions],
  [['erc20_transfers', tokenArgs], logs],
  [['filter', { src: 'address', value: tokenAddress }], logs],
  [['filter_transaction', { src: 'address', value: tokenAddress }], logs],
]
for (const [step, documents] of single) {
  test(`a Host finds out how to feed ${step[0]}, and either way gives the same rows`, () => {
    const expected = values(streamed(openSetLens(...step), documents))
    assert.ok(expected.length > 0)
    assert.deepEqual(run([step], null, documents), { rows: expected, feeds: ['single'] })
    assert.deepEqual(run([step], 'single', documents).rows, expected)
    assert.deepEqual(run([step], 'stream', documents).rows, expected)
  })
}

test('a Host finds out that erc20_balances needs all documents at once', () => {
  const step: Step = ['erc20_balances', tokenArgs]
  const expected = values(streamed(openSetLens(...step), logs))
  assert.deepEqual(run([step], null), { rows: expected, feeds: ['stream'] })
})

test('a Host runs lenses in a row, and what one drops does not come to the next', () => {
  const steps: readonly Step[] = [
    ['filter', { src: 'address', value: tokenAddress }],
    ['decode_log', { abi: tokenAbi(), unmatched: 'drop' }],
    ['filter', { src: 'event', value: 'transfer' }],
    ['filter_transaction', { src: 'logAddress', value: tokenAddress }],
  ]
  const { rows, feeds } = run(steps, null)
  const transfers = values(streamed(openSetLens('erc20_transfers', tokenArgs), logs))
  assert.equal(rows.length, transfers.length)
  assert.deepEqual(feeds, ['single', 'single', 'single', 'single'])
})

test('a Host fails a View whose arguments a lens refuses, with what the lens says', () => {
  assert.throws(() => run([['decode_log', { abi: '[' }]], null), {
    code: 'LENS_ARGUMENTS_REFUSED',
    message: /the argument 'abi' is no JSON array/,
  })
})
