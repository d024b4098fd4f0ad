/** What is in the report of a test of a View: rows, counts, and what was found of its lenses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildLens, globals, op } from '../../lens/support/lens.ts'
import { blocksOf, found, trial, usdc } from './support/trial-room.ts'

const log = { address: usdc }

/** Returns a document and passes over the next. */
const everyOther = [...op.callNext, ...op.set(0), ...op.callNext, ...op.drop, ...op.get(0)]

/** A lens that does this so many times, and then traps. */
const trappingAfter = (times: number, transform: readonly number[]): Uint8Array<ArrayBuffer> =>
  buildLens({
    transform: [
      ...[
        ...op.getGlobal(globals.first),
        ...op.const(1),
        ...op.add,
        ...op.setGlobal(globals.first),
      ],
      ...[...op.getGlobal(globals.first), ...op.const(times), ...op.greater],
      ...op.when(op.unreachable),
      ...transform,
    ],
  })

test('the report has rows, counts and unknown fields of all blocks together', async () => {
  const progress: number[] = []
  const { measured, findings, ...report } = await trial({
    query: 'Log { address logIndex data }',
    blocks: blocksOf([log, log], [{ ...log, data: '0x01' }], []),
    onProgress: (done) => progress.push(done),
  })
  const count = { values: 3, nulls: 0, missing: 0, wrongType: 0, wrongExample: null }
  const row = (_blockNumber: number, index: number): object => ({
    ...{ _blockNumber, _source: index, address: usdc, logIndex: index },
  })
  assert.deepEqual(report, {
    ...{ view: 'Logs', network: 'Ethereum__Mainnet', passed: true },
    ...{ blocks: 3, documents: 3, rowCount: 3, feeds: [] },
    fields: [
      { name: 'address', type: 'String', ...count },
      { name: 'logIndex', type: 'Int', ...count },
    ],
    unknownFields: { data: 3 },
    rows: [row(1, 0), row(1, 1), row(2, 0)],
  })
  assert.deepEqual([measured?.documents, progress], [1_000, [1, 2, 3]])
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['OUTPUT_FIELD_NOT_IN_SDL'],
  )
})

test('what a lens carries on of the query is no field that the SDL lacks', async () => {
  const query = 'Log { address logIndex data }'
  const report = await trial({ query, lenses: [{ wasm: buildLens() }] })
  assert.deepEqual([found(report), report.unknownFields], [[], { data: 22 }])
})

test('ten thousand rows of a block are kept, and none behind those that are left out', async () => {
  const many = Array<object>(10_001).fill(log)
  const report = await trial({ blocks: blocksOf([log], many, [log]) })
  assert.deepEqual(
    [report.rowCount, report.documents, report.rows.length],
    [10_003, 10_003, 10_001],
  )
  assert.deepEqual(report.rows.at(-1), {
    ...{ _blockNumber: 2, _source: 9_999, address: usdc, logIndex: 9_999 },
  })
  assert.deepEqual(
    report.fields.map(({ values }) => values),
    [10_003, 10_003],
  )
})

test('whether lenses add up is found out by the blocks with the most documents', async () => {
  const wasm = buildLens({ transform: everyOther })
  const sdl = '"feed: stream" type Logs { address: String logIndex: Int }'
  const codes = async (...blocks: readonly (readonly object[])[]) =>
    found(await trial({ sdl, lenses: [{ wasm }], blocks: blocksOf(...blocks) })).map(
      (text) => text.split(':')[0],
    )
  assert.deepEqual(await codes([log], [log], [log]), [])
  assert.deepEqual(await codes([log], [log], [log], [log, log]), [
    'warning (performance) AGGREGATES_PER_BLOCK',
  ])
})

test('a View that fails is tried at every block, and neither compared nor measured', async () => {
  const wasm = trappingAfter(2, everyOther)
  const sdl = '"feed: stream" type Logs { address: String logIndex: Int }'
  const six = Array<object>(6).fill(log)
  const blocks = blocksOf(six, six, six, six, [log, log])
  const report = await trial({ sdl, lenses: [{ wasm }], blocks })
  assert.deepEqual(
    report.findings.map(({ code, blocks }) => [code, blocks]),
    [['LENS_TRAPPED', [1, 2, 3, 4]]],
  )
  assert.deepEqual([report.documents, report.measured], [2, null])
})

test('a lens that fails at a thousand documents passes with a warning, and is not measured', async () => {
  const wasm = trappingAfter(500, op.callNext)
  const report = await trial({ lenses: [{ wasm }] })
  assert.deepEqual(found(report), [
    'warning (performance) LENS_TRAPPED: with 1000 documents: lens 1 trapped in transform: unreachable',
  ])
  assert.deepEqual([report.passed, report.measured, report.rowCount], [true, null, 22])
})

test('a View that does not load is tried at one block, and neither measured nor compared', async () => {
  const wasm = buildLens({ names: ['alloc', null, 'set_param'] })
  const report = await trial({ lenses: [{ wasm }], expected: [{ address: usdc }] })
  assert.deepEqual(
    report.findings.map(({ code, blocks }) => [code, blocks]),
    [['WASM_MISSING_EXPORT', [21_000_000]]],
  )
  assert.deepEqual([report.blocks, report.documents, report.measured], [3, 0, null])
})
