/** What comes back of the jobs of which the test of a View consists. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createViewLoader } from '../../../src/compute/loaded-view.ts'
import { openTrialStore } from '../../../src/toolkit/blocks/trial-store.ts'
import { runTrialJob } from '../../../src/toolkit/trial/block-trial.ts'
import type { TrialJob, TrialResults } from '../../../src/toolkit/trial/trial-job.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { at, buildLens, globals, item, op } from '../../lens/support/lens.ts'
import { blocksOf } from './support/trial-room.ts'

const network = 'Ethereum__Mainnet'
const log = { address: `0x${'ab'.repeat(20)}` }

/** Does jobs of a View over blocks with these logs, the first of which is block 1. */
async function openJobs(
  t: TestContext,
  blocks: readonly (readonly object[])[],
  wasm: Uint8Array | null = null,
) {
  const store = await openTrialStore({ network, blocks: blocksOf(...blocks) })
  t.after(() => store.close())
  const wire = encodeView({
    query: 'Log { data }',
    sdl: '"feed: stream" type Logs { data: String }',
    lenses: wasm === null ? [] : [{ wasm, args: '' }],
  })
  const view = createViewLoader(network)(wire)
  return async <J extends TrialJob>(job: J): Promise<TrialResults[J['kind']]> =>
    (await runTrialJob(view, store.reader, job)) as TrialResults[J['kind']]
}

test('rows are kept while they fit, and none behind the first that does not', async (t) => {
  const texts = ['0x', `0x${'ab'.repeat(100)}`, '0x01']
  const run = await openJobs(t, [texts.map((data) => ({ ...log, data }))])
  const rows = texts.map((data, _source) => ({ _blockNumber: 1, _source, data }))
  const sizeOf = (count: number): number =>
    rows.slice(0, count).reduce((sum, row) => sum + JSON.stringify(row).length, 0)
  for (const [maxRowBytes, kept] of [
    [sizeOf(3), 3],
    [sizeOf(3) - 1, 2],
    [sizeOf(2), 2],
    [sizeOf(2) - 1, 1],
    [0, 0],
  ] as const) {
    const found = await run({ kind: 'block', height: 1, maxRowBytes })
    assert.deepEqual(
      [found.rows, found.rowBytes, found.rowsLeftOut, found.documents],
      [rows.slice(0, kept), sizeOf(kept), 3 - kept, 3],
    )
  }
})

test('of one block no more than 8 MiB of rows are kept', async (t) => {
  const data = `0x${'ab'.repeat(128_000)}`
  const run = await openJobs(t, [Array(40).fill({ ...log, data })])
  const found = await run({ kind: 'block', height: 1, maxRowBytes: 64 * 1024 * 1024 })
  assert.deepEqual([found.rows.length, found.rowsLeftOut], [32, 8])
})

test('of one block no more than ten thousand rows are kept', async (t) => {
  const run = await openJobs(t, [Array(10_001).fill(log)])
  const found = await run({ kind: 'block', height: 1, maxRowBytes: 64 * 1024 * 1024 })
  assert.deepEqual([found.rows.length, found.rowsLeftOut], [10_000, 1])
})

test('a row that is too large for a Host fails the block, as it does there', async (t) => {
  const blocks = [131_000, 132_000].map((bytes) => [{ ...log, data: `0x${'ab'.repeat(bytes)}` }])
  const run = await openJobs(t, blocks)
  const compute = (height: number) => run({ kind: 'block', height, maxRowBytes: 1 })
  assert.equal((await compute(1)).rowsLeftOut, 1)
  await assert.rejects(compute(2), { code: 'LENS_OUTPUT_LIMIT' })
})

/** Writes `{"data":"1"}`, then `{"data":"2"}`, and so on. */
const counting = buildLens({
  transform: [
    ...[...op.callNext, ...op.set(0), ...op.get(0), ...op.load8, ...op.const(127), ...op.equal],
    ...op.when([...op.get(0), ...op.return]),
    ...[...op.getGlobal(globals.first), ...op.const(1), ...op.add, ...op.setGlobal(globals.first)],
    ...[...op.const(at.text + 14), ...op.getGlobal(globals.first), ...op.const(48), ...op.add],
    ...[...op.store8, ...op.const(at.text)],
  ],
  text: item(1, '{"data":"0"}'),
})

/** Returns a document and passes over the next. */
const everyOther = buildLens({
  transform: [...op.callNext, ...op.set(0), ...op.callNext, ...op.drop, ...op.get(0)],
})

test('rows that differ in number or value are others, of one document nothing can differ', async (t) => {
  const blocks = [[log, log], [log]]
  const isSame = async (wasm: Uint8Array | null): Promise<unknown> => {
    const run = await openJobs(t, blocks, wasm)
    const found = [1, 2].map((height) => run({ kind: 'alone', height }))
    return (await Promise.all(found)).map((result) => result.isSame)
  }
  assert.deepEqual(await isSame(null), [true, null])
  assert.deepEqual(await isSame(counting), [false, null])
  assert.deepEqual(await isSame(everyOther), [false, null])
})

test('lenses are measured over as many documents as asked for, and by how long they run', async (t) => {
  const run = await openJobs(t, [[log], [log]], counting)
  const startedAt = performance.now()
  const found = await run({ kind: 'measure', heights: [1, 2], documents: 5 })
  assert.ok(found.ms > 0 && found.ms <= performance.now() - startedAt)
  assert.deepEqual([found.documents, found.memoryBytes], [5, 65_536])
})
