import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ViewFinding } from '../../../src/toolkit/trial/finding.ts'
import { reportText } from '../../../src/toolkit/trial/report-text.ts'
import type { TrialReport } from '../../../src/toolkit/trial/run-trial.ts'

const report: TrialReport = {
  view: 'Logs',
  network: 'Ethereum__Mainnet',
  passed: true,
  blocks: 1,
  documents: 2,
  rowCount: 1,
  feeds: [],
  fields: [
    { name: 'a', type: 'JSON', values: 4, nulls: 3, missing: 2, wrongType: 1, wrongExample: '1' },
  ],
  unknownFields: {},
  measured: null,
  findings: [],
  rows: [{ _blockNumber: 7, _source: 0, a: 'x' }],
}
const finding: ViewFinding = {
  ...{ severity: 'warning', kind: 'row', code: 'FIELD_ALWAYS_NULL', message: 'a is null' },
  ...{ remedy: null, blocks: [] },
}
const textOf = (changes: Partial<TrialReport>): string =>
  reportText({ ...report, ...changes }, { style: (_style, text) => text })

/** What the table shows of a value. */
function shown(value: unknown): string | undefined {
  const [, row = ''] = textOf({ rows: [{ _blockNumber: 7, a: value }] }).split('\n')
  return /^7 +(.*)$/.exec(row)?.[1]
}

test('the report has rows, fields, counts and the verdict, and nothing of what there is not', () => {
  assert.equal(
    textOf({}),
    [
      '_blockNumber  a\n7             x',
      'FIELD  TYPE  VALUES  NULL  MISSING  WRONG TYPE\na      JSON  4       3     2        1',
      '1 block, 2 documents, 1 row',
      'Logs passed',
    ].join('\n\n'),
  )
  const none = { blocks: 2, documents: 1, rowCount: 0, rows: [], passed: false }
  assert.equal(textOf(none), '2 blocks, 1 document, 0 rows\n\nLogs failed: 0 errors')
})

test('the report says how lenses are fed, and what a thousand documents take', () => {
  const measured = { documents: 1_000, ms: 1.25, memoryBytes: 3 * 1024 * 1024 }
  assert.match(
    textOf({ feeds: ['stream', 'single'], measured }),
    /\nlenses are fed: stream, single\na thousand documents: 1\.3 ms, 3\.0 MiB of memory\n/,
  )
  assert.match(textOf({ feeds: ['single'] }), /\nlenses are fed: single\n/)
})

test('the report has twenty rows, and says how many more there are', () => {
  const rowsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ _blockNumber: index, a: index }))
  const tableOf = (count: number): string =>
    textOf({ rows: rowsOf(count), rowCount: count }).split('\n\n')[0] ?? ''
  assert.match(tableOf(20), /\n19 +19$/)
  assert.match(tableOf(21), /\n19 +19\n1 more row: --json prints all$/)
  assert.match(tableOf(22), /\n2 more rows: --json prints all$/)
})

test('rows that were not kept are counted among those that the table leaves out', () => {
  const table = textOf({ rowCount: 3 }).split('\n\n')[0]
  assert.equal(table, '_blockNumber  a\n7             x\n2 more rows: --json prints all')
})

test('what comes from a lens is one plain line, in a value, a finding and a remedy', () => {
  const hostile = 'a\n\u001b[31mb\u202ec'
  assert.equal(shown(hostile), 'a b c')
  const findings = [{ ...finding, message: hostile, remedy: hostile }]
  const [, , , found] = textOf({ findings }).split('\n\n')
  assert.equal(found, 'warning: row: a b c [FIELD_ALWAYS_NULL]\n  What to do: a b c')
})

test('long values are cut, and hashes keep the ends that tell them apart', () => {
  assert.equal(shown(`0x${'ab'.repeat(20)}`), '0xababab…ababab')
  assert.equal(shown(`0x${'a'.repeat(19)}`), `0x${'a'.repeat(19)}`)
  assert.equal(shown('x'.repeat(44)), 'x'.repeat(44))
  assert.equal(shown('x'.repeat(45)), `${'x'.repeat(43)}…`)
  assert.equal(shown({ b: [1] }), '{"b":[1]}')
  assert.equal(shown(null), 'null')
  assert.equal(textOf({ rows: [{ _blockNumber: 7 }] }).split('\n')[1], '7')
})

test('a finding has its blocks, its code and what to do about it', () => {
  const findings = [
    finding,
    { ...finding, blocks: [1] },
    { ...finding, blocks: [1, 2, 3, 4, 5] },
    { ...finding, severity: 'error', blocks: [1, 2, 3, 4, 5, 6, 7], remedy: 'Leave it out.' },
  ] as const
  const text = textOf({ findings, passed: false })
  const [, , , found, verdict] = text.split('\n\n')
  assert.deepEqual(found?.split('\n'), [
    'warning: row: a is null [FIELD_ALWAYS_NULL]',
    'warning: row: a is null (block 1) [FIELD_ALWAYS_NULL]',
    'warning: row: a is null (blocks 1, 2, 3, 4, 5) [FIELD_ALWAYS_NULL]',
    'error: row: a is null (blocks 1, 2, 3, 4, 5 and 2 more) [FIELD_ALWAYS_NULL]',
    '  What to do: Leave it out.',
  ])
  assert.equal(verdict, 'Logs failed: 1 error')
})

test('errors, warnings and the verdict differ in colour', () => {
  const colours = (changes: Partial<TrialReport>): string[] => {
    const used: string[] = []
    const style = (name: string, text: string): string => {
      used.push(name)
      return text
    }
    reportText({ ...report, ...changes }, { style })
    return used
  }
  assert.deepEqual(colours({ findings: [finding] }), ['yellow', 'dim', 'green'])
  const findings = [{ ...finding, severity: 'error' }] as const
  assert.deepEqual(colours({ findings, passed: false }), ['red', 'dim', 'red'])
})
