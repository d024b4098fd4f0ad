import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { ServiceError } from '../../../../src/errors.ts'
import { encodeResult } from '../../../../src/host/views/engine/block-job.ts'
import { toEmptyBlocks } from '../../../../src/host/views/engine/empty-blocks.ts'
import { createEngineMetrics } from '../../../../src/host/views/engine/engine-metrics.ts'
import { openViewRun } from '../../../../src/host/views/engine/view-run.ts'
import { readVisible, visibleHeights } from '../../../../src/host/views/engine/visible-blocks.ts'
import { hasHeight } from '../../../../src/primitives/height-ranges.ts'
import type { StoreReader, ViewsDone } from '../../../../src/store/store.ts'
import { decodeBlockRows, encodeBlockRows } from '../../../../src/views/rows/block-rows.ts'
import { createRowPacker } from '../../../../src/views/rows/rows.ts'
import { opaqueBlock } from '../../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../../support/test-store.ts'
import { hostedView } from './support/engine-room.ts'

const firstBlocks = 5
const noRows = createRowPacker({ fields: [] }).finish()
/** Of what a job is asked for. */
function computeNothing(reader: StoreReader, payload: Uint8Array): Uint8Array {
  const heights = JSON.parse(Buffer.from(payload).toString()) as number[]
  const made = reader.read((snapshot) =>
    heights.flatMap((height) => {
      const header = snapshot.header(height)
      if (header === undefined) return []
      return [{ height, blockHash: header.hash, documentsRoot: header.root, rows: noRows }]
    }),
  )
  const none = { rows: 0, mismatches: 0, isOfDocuments: false, failure: null }
  const outcomes = made.map(({ height }) => ({ height, ...none }))
  return encodeResult({ outcomes, seen: heights.length, rows: encodeBlockRows(made) })
}

type Step = 'put' | 'begin' | 'report' | 'store' | 'settle' | 'need' | { readonly depth: number }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('put' as const) },
  { weight: 4, arbitrary: fc.constant('begin' as const) },
  { weight: 2, arbitrary: fc.constant('store' as const) },
  { weight: 2, arbitrary: fc.constant('settle' as const) },
  { weight: 2, arbitrary: fc.constant('report' as const) },
  fc.constant('need' as const),
  fc.nat(4).map((depth) => ({ depth })),
)

/** A View that was found to have no rows of blocks. */
interface Marking {
  store(): Promise<void>
  isStored: boolean
  settle(): void
}

/** A store and a View without any row, both of which do nothing by themselves. */
async function openRoom(t: TestContext) {
  const store = await openTestStore(t, null)
  const view = hostedView()
  let [nowMs, error] = [0, null as Error | null]
  let held: Promise<void> = Promise.resolve()
  let woken = Promise.withResolvers<void>()
  let reported: readonly ViewsDone[] = []
  const run = openViewRun(view, 0, {
    log: pino({ enabled: false }),
    reader: store.reader,
    writer: {
      ...store,
      putViewRows: (slot, bytes) => store.putViewRows(slot, decodeBlockRows(bytes)),
    },
    lenses: {
      run: async ({ payload }) => {
        await held
        if (error !== null) throw error
        return { bytes: computeNothing(store.reader, payload), processorMs: 1 }
      },
    },
    metrics: createEngineMetrics(new Registry()),
    onRows: () => undefined,
    wake: () => woken.resolve(),
    nowMs: () => nowMs,
  })
  await woken.promise
  return {
    store,
    run,
    /** Lets all jobs from now on end with this error, or with null go well. */
    failWith: (why: Error | null) => {
      error = why
    },
    /** Lets jobs that begin from now on wait until the returned function is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    pass: (ms: number) => {
      nowMs += ms
    },
    /** What the View was done with as it was stored is heard of when it begins next. */
    report: (done: readonly ViewsDone[]) => {
      reported = done
    },
    /** All new blocks have no rows, or nothing is known of them. */
    begin: (isEmpty: boolean): Marking | null =>
      store.reader.read((snapshot) => {
        const heights = run.begin(snapshot, readVisible(snapshot, reported), () => isEmpty)
        reported = []
        const done = snapshot.viewRanges(view.slot)
        for (const height of heights) assert.ok(!hasHeight(done, height), 'it is not marked twice')
        const blocks = toEmptyBlocks(snapshot, [{ slot: view.slot, heights }])
        const empty = { heights, epoch: snapshot.epoch }
        let stored: readonly number[] = []
        const marking: Marking = {
          isStored: false,
          store: async () => {
            marking.isStored = true
            stored = await store.putEmptyViewBlocks(blocks)
          },
          settle: () => run.settleEmpty(empty, new Set(stored)),
        }
        return heights.length === 0 ? null : marking
      }),
    kept: () =>
      store.reader.read((snapshot) => ({
        done: snapshot.viewRanges(view.slot),
        failed: snapshot.viewFailures(view.slot),
        failure: run.state(snapshot, visibleHeights(snapshot)).failure,
      })),
    isDone: () =>
      store.reader.read((snapshot) => {
        const { name, blocksLeft } = run.state(snapshot, visibleHeights(snapshot))
        return name === 'live' && blocksLeft === 0
      }),
    jobsDone: async () => {
      await woken.promise
      woken = Promise.withResolvers()
    },
  }
}

/** Blocks that come, go and are marked in this order. */
async function takeSteps(t: TestContext, steps: readonly Step[]): Promise<void> {
  const { store, run, begin, report, isDone, jobsDone } = await openRoom(t)
  let [head, branch] = [0, 0]
  let hasNeeds = false
  const nextBlock = () => opaqueBlock(++head, 5, `branch ${branch}`)
  while (head < firstBlocks) await store.putSealedBlock(nextBlock())
  for (; !isDone(); await jobsDone()) begin(false)
  const markings: Marking[] = []
  const stored: ViewsDone[] = []
  const mark = (): void => void markings.push(...[begin(true)].filter((found) => found !== null))
  const settle = (): void => {
    if (markings[0]?.isStored === true) markings.shift()?.settle()
  }
  const replace = async (depth: number): Promise<void> => {
    branch += 1
    head = Math.max(0, head - depth - 1)
    const from = head + 1
    stored.push(...(await store.replaceBlocks(from, Number.MAX_SAFE_INTEGER, [nextBlock()])))
  }
  /** The store learns, or is to forget, that no block has anything for the View. */
  const need = async (): Promise<void> => {
    hasNeeds = !hasNeeds
    await store.setViewNeeds(hostedView().slot, hasNeeds ? { type: 'any', parts: [] } : null)
  }
  const storeNext = async () => markings.find(({ isStored }) => !isStored)?.store()
  const put = async () => stored.push(...(await store.putSealedBlock(nextBlock())))
  const reportAll = () => report(stored.splice(0))
  const actions = { put, begin: mark, report: reportAll, store: storeNext, need, settle }
  for (const step of steps) await (typeof step === 'string' ? actions[step]() : replace(step.depth))
  for (let round = 0; round < 4; round++) {
    while (markings.length > 0) {
      await storeNext()
      settle()
    }
    mark()
  }
  assert.equal(markings.length, 0)
  assert.ok(isDone())
  await run.close()
}

test('a View is done with every block, whatever is removed while it is marked', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 40, size: 'max' }), (steps) =>
      takeSteps(t, steps),
    ),
    {
      numRuns: 60,
      examples: [
        // Marked, then replaced before anybody hears that it was marked.
        [['put', 'begin', 'store', 'put', { depth: 1 }, 'put', 'begin']],
        // Of two new blocks the store has marked one.
        [['begin', 'put', 'need', 'put', 'begin', 'need', 'put', 'begin', 'put', 'begin']],
        // Done as it was stored, and another block takes its place before that is heard.
        [['begin', 'need', 'put', 'need', { depth: 0 }, 'report', 'begin', 'begin']],
        [
          [
            'begin',
            'need',
            'put',
            'report',
            'begin',
            'put',
            'put',
            'report',
            'need',
            'begin',
            'put',
          ],
        ],
      ],
    },
  )
})

test('a View is in service once its lenses did a block, while nothing keeps it from others', async (t) => {
  const { store, run, begin, isDone, jobsDone, failWith, pass } = await openRoom(t)
  const job = async (height: number): Promise<boolean> => {
    await store.putSealedBlock(opaqueBlock(height, 5))
    begin(false)
    await jobsDone()
    return run.isInService()
  }
  assert.equal(run.isInService(), false, 'nothing is known of its lenses')
  failWith(new Error('no thread can be made'))
  await jobsDone()
  assert.equal(await job(1), false)
  pass(60_000)
  assert.equal(run.isInService(), false)
  failWith(null)
  assert.equal(await job(2), true)
  for (; !isDone(); await jobsDone()) begin(false)
  failWith(new Error('no thread can be made'))
  assert.equal(await job(3), false, 'it waits')
  pass(60_000)
  assert.equal(run.isInService(), true)
  failWith(new ServiceError('LENS_MODULE_REFUSED', 'the module is not there any more'))
  assert.equal(await job(4), false, 'it is quarantined')
  run.retry()
  await jobsDone()
  assert.equal(run.isInService(), true)
  await run.close()
  assert.equal(run.isInService(), false)
})

test('a View that is done with a block has not failed at it as it did at the one before', async (t) => {
  const { store, run, begin, isDone, jobsDone, failWith, hold, kept } = await openRoom(t)
  await store.putSealedBlock(opaqueBlock(1))
  for (; !isDone(); await jobsDone()) begin(false)
  const release = hold()
  failWith(new ServiceError('LENS_TIME_LIMIT', 'it takes too long'))
  await store.putSealedBlock(opaqueBlock(2))
  begin(false)
  await store.truncateAbove(1)
  await store.setViewNeeds(hostedView().slot, { type: 'any', parts: [] })
  assert.equal((await store.putSealedBlock(opaqueBlock(2, 5, 'b'))).length, 1)
  release()
  await jobsDone()
  assert.deepEqual(kept(), { done: [[1, 2]], failed: [], failure: null })
  await store.putSealedBlock(opaqueBlock(3))
  await store.setViewNeeds(hostedView().slot, null)
  await store.putSealedBlock(opaqueBlock(4))
  begin(false)
  await jobsDone()
  const { failed, failure } = kept()
  assert.deepEqual(failed, [[4, 4]])
  assert.equal(failure?.code, 'LENS_TIME_LIMIT')
  await run.close()
})
