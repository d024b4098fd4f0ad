/** What a View does with its blocks. The lens process is a fake whose jobs end when the test says so, and how. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import { ServiceError } from '../../../src/errors.ts'
import { type BlockOutcome, encodeResult } from '../../../src/host/views/block-job.ts'
import { createEngineMetrics } from '../../../src/host/views/engine-metrics.ts'
import type { ViewState } from '../../../src/host/views/view-engine.ts'
import { openViewRun, type ViewRun } from '../../../src/host/views/view-run.ts'
import { readVisible, visibleHeights } from '../../../src/host/views/visible-blocks.ts'
import type { LensJob } from '../../../src/lens/process/lens-jobs.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import {
  type BlockRows,
  decodeBlockRows,
  encodeBlockRows,
  encodeFailure,
} from '../../../src/views/block-rows.ts'
import { createRowPacker } from '../../../src/views/rows.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { metricValue } from '../../support/metric-value.ts'
import { openTestStore } from '../../support/test-store.ts'
import { hostedView } from './support/engine-room.ts'

/** How a block ends: what is said of it, and whether it is still there when that is stored. */
type Ending = Partial<BlockOutcome> & { readonly isGone?: boolean }

interface RunningJob {
  readonly job: LensJob
  readonly heights: readonly number[]
  /** Ends as a job does that was given these blocks, newest first; returns once that is stored. */
  end(...blocks: readonly Ending[]): Promise<void>
  fail(error: Error): Promise<void>
}

interface RunRoom {
  readonly store: StoreWriter
  readonly captured: CapturedLog
  readonly announced: readonly number[]
  put(...heights: number[]): Promise<void>
  /** The jobs that begin now. */
  begin(): RunningJob[]
  /** Begins with what is stored, as after a start. */
  open(): Promise<ViewRun>
  state(): ViewState
  retry(): Promise<void>
  pass(ms: number): void
  metric(name: string, labels?: Record<string, string>): Promise<number>
}

const view = hostedView()
const rowsOf = (count: number) => {
  const packer = createRowPacker({ fields: [] })
  for (let index = 0; index < count; index++) packer.add({}, index)
  return packer.finish()
}
const well: BlockOutcome = {
  height: 0,
  rows: 0,
  mismatches: 0,
  isOfDocuments: true,
  failure: null,
}
const trapped = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', remedy: null, attempts: 1 }
const tooLong = new ServiceError('LENS_TIME_LIMIT', 'the lenses took more than 2000 ms')

/** What a View made of its blocks, as bytes of a job. */
function resultOf(heights: readonly number[], endings: readonly Ending[]): Uint8Array {
  const made = endings.map(({ isGone, ...ending }, index) => {
    const outcome: BlockOutcome = { ...well, ...ending, height: heights[index] ?? -1 }
    const { hash, root } = opaqueBlock(outcome.height, 5, isGone ? 'gone' : 'main').header
    const block = { height: outcome.height, blockHash: hash, documentsRoot: root }
    const { failure } = outcome
    const stored: BlockRows =
      failure === null
        ? { ...block, rows: rowsOf(outcome.rows) }
        : { ...block, failure: encodeFailure(failure) }
    return { outcome, stored }
  })
  return encodeResult({
    outcomes: made.map(({ outcome }) => outcome),
    seen: endings.length,
    rows: encodeBlockRows(made.map(({ stored }) => stored)),
  })
}

/** A View over the blocks 1 to `blocks`, of which those above `liveAbove` are new. */
async function openRoom(
  t: TestContext,
  {
    blocks = 3,
    liveAbove = blocks,
    maxViewBytes = 1024 ** 3,
  }: { blocks?: number; liveAbove?: number; maxViewBytes?: number } = {},
): Promise<RunRoom> {
  // Pauses are as long as they may be.
  t.mock.method(Math, 'random', () => 1)
  const store = await openTestStore(t, null, { maxViewBytes })
  const registry = new Registry()
  const metrics = createEngineMetrics(registry)
  const captured = captureLog()
  const announced: number[] = []
  let nowMs = 0
  let begun: RunningJob[] = []
  let wake = (): void => undefined
  const after = async (act: () => void): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    act()
    await promise
  }
  const runJob = (job: LensJob): Promise<{ bytes: Uint8Array; processorMs: number }> =>
    new Promise((resolve, reject) => {
      const heights = JSON.parse(Buffer.from(job.payload).toString()) as number[]
      begun.push({
        job,
        heights,
        end: (...endings) =>
          after(() => resolve({ bytes: resultOf(heights, endings), processorMs: endings.length })),
        fail: (error) => after(() => reject(error)),
      })
    })
  const put = async (...heights: number[]): Promise<void> => {
    await Promise.all(heights.map((height) => store.putSealedBlock(opaqueBlock(height, 5))))
  }
  const first = Array.from({ length: blocks }, (_, index) => opaqueBlock(index + 1, 5))
  await store.replaceBlocks(1, blocks, first)
  let run: ViewRun | null = null
  const open = async (): Promise<ViewRun> => {
    await run?.close()
    await after(() => {
      run = openViewRun(view, liveAbove, {
        log: captured.log,
        reader: store.reader,
        writer: {
          ...store,
          putViewRows: (slot, bytes) => store.putViewRows(slot, decodeBlockRows(bytes)),
        },
        lenses: { run: runJob },
        metrics,
        onRows: (height) => announced.push(height),
        wake: () => wake(),
        nowMs: () => nowMs,
      })
    })
    assert.ok(run !== null)
    return run
  }
  const opened = (): ViewRun => {
    assert.ok(run !== null)
    return run
  }
  await open()
  return {
    store,
    captured,
    announced,
    put,
    open,
    begin: () => {
      begun = []
      store.reader.read((snapshot) => opened().begin(snapshot, readVisible(snapshot), () => false))
      return begun
    },
    state: () =>
      store.reader.read((snapshot) => opened().state(snapshot, visibleHeights(snapshot))),
    retry: () => after(() => opened().retry()),
    pass: (ms) => {
      nowMs += ms
    },
    metric: (name, labels) => metricValue(registry, `viewmesh_host_view_${name}`, labels),
  }
}

test('a View has one job until it has done a block, then two, and one more for new blocks', async (t) => {
  const { begin, put } = await openRoom(t, { blocks: 40 })
  const [first, ...none] = begin()
  assert.ok(first !== undefined)
  assert.deepEqual([first.heights, first.job.priority], [[40, 39, 38, 37], 'backfill'])
  assert.deepEqual([first.job.view, first.job.definition()], [view.id, view.wire])
  assert.deepEqual([none, begin()], [[], []])
  await first.end({}, {}, {}, {})
  const jobs = begin()
  assert.deepEqual(
    jobs.map(({ heights }) => [heights[0], heights.at(-1), heights.length]),
    [
      [36, 29, 8],
      [28, 21, 8],
    ],
  )
  await put(41)
  const [newest] = begin()
  assert.deepEqual([newest?.heights, newest?.job.priority], [[41], 'live'])
  await put(42)
  assert.deepEqual(begin(), [])
  await newest?.end({})
  assert.deepEqual(
    begin().map(({ heights }) => heights),
    [[42]],
  )
})

test('what became of each block of a job is counted, timed and announced', async (t) => {
  const { begin, metric, pass, announced, state, captured } = await openRoom(t, { blocks: 4 })
  const [job] = begin()
  pass(500)
  await job?.end({ rows: 2, mismatches: 1 }, {}, { failure: trapped }, { isGone: true, rows: 9 })
  const counted = await Promise.all(
    (['done', 'failed', 'dropped'] as const).map((outcome) =>
      metric('blocks_total', { outcome, stage: 'backfill' }),
    ),
  )
  assert.deepEqual(counted, [2, 1, 1])
  assert.equal(await metric('blocks_total'), 4)
  assert.deepEqual([await metric('rows_total'), await metric('mismatches_total')], [2, 1])
  assert.deepEqual(announced, [4])
  const seconds = ['compute', 'store'].map(async (part) => [
    await metric('job_seconds_sum', { part, stage: 'backfill' }),
    await metric('job_seconds_count', { part, stage: 'backfill' }),
  ])
  assert.deepEqual(await Promise.all(seconds), [
    [0.5, 1],
    [0, 1],
  ])
  const failure = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', block: 2 }
  assert.deepEqual(state(), {
    name: 'backfilling',
    rows: 2,
    bytes: state().bytes,
    done: [[3, 4]],
    rowsFrom: null,
    blocksLeft: 1,
    blocksFailed: 1,
    blocksPerSecond: 2,
    costMs: 1,
    failure,
  })
  const [line] = captured.lines
  assert.deepEqual([line?.msg, line?.['block']], ['a block of a View failed', 2])
})

test('the first block that fails is a warning, and so is the first one after a retry', async (t) => {
  const { begin, retry, captured } = await openRoom(t, { blocks: 4 })
  const failed = { failure: trapped }
  await begin()[0]?.end(failed, failed, failed, failed)
  await retry()
  await begin()[0]?.end(failed, failed, failed, failed)
  const levels = captured.lines.map(({ level }) => level)
  assert.deepEqual(levels, ['warn', 'debug', 'debug', 'debug', 'warn', 'debug', 'debug', 'debug'])
})

test('a View whose rows take as much as they may says so in the log, once', async (t) => {
  const { begin, captured } = await openRoom(t, { blocks: 5, maxViewBytes: 1 })
  await begin()[0]?.end({ rows: 1 }, { rows: 1 }, { rows: 1 }, { rows: 1 })
  await begin()[0]?.end({ rows: 1 })
  const warned = captured.messages('warn')
  assert.deepEqual(warned, [
    'a View takes as much of the store as it may: its oldest rows go as new ones come',
  ])
})

test('a View that finds its blocks gone asks again after a tenth of a second', async (t) => {
  const { begin, pass } = await openRoom(t)
  await begin()[0]?.end({ isGone: true }, { isGone: true }, { isGone: true })
  pass(99)
  assert.equal(begin().length, 0)
  pass(1)
  const [again] = begin()
  assert.deepEqual(again?.heights, [3, 2, 1])
  await again.end({}, { isGone: true }, { isGone: true })
  assert.deepEqual(begin()[0]?.heights, [2, 1])
})

test('a limit at several blocks has each tried alone, one after the other', async (t) => {
  const { begin, pass, state, metric } = await openRoom(t)
  await begin()[0]?.fail(tooLong)
  pass(14_999)
  assert.equal(begin().length, 0)
  pass(1)
  const [alone] = begin()
  assert.deepEqual(alone?.heights, [3])
  await alone.fail(tooLong)
  assert.deepEqual([state().blocksFailed, state().blocksLeft], [1, 2])
  assert.equal(await metric('blocks_total', { outcome: 'failed' }), 1)
  pass(14_999)
  assert.equal(begin().length, 0)
  pass(1)
  const [next] = begin()
  assert.deepEqual(next?.heights, [2])
  await next.fail(tooLong)
  pass(29_999)
  assert.equal(begin().length, 0)
  pass(1)
  const [last] = begin()
  // The first is due again, a minute after it failed; here 45 s have passed.
  assert.deepEqual(last?.heights, [1])
  await last.end({})
  pass(15_000)
  assert.deepEqual(begin()[0]?.heights, [3])
})

test('a View whose process died over several blocks tries each alone at once', async (t) => {
  const { begin } = await openRoom(t)
  await begin()[0]?.fail(new ServiceError('LENS_PROCESS_DIED', 'the lens process died'))
  assert.deepEqual(
    begin().map(({ heights }) => heights),
    [[3]],
  )
})

test('a View that is held up by something else says so in the log, unless others are busy', async (t) => {
  const { begin, pass, captured } = await openRoom(t)
  await begin()[0]?.fail(new ServiceError('LENS_BUSY', 'too many jobs wait'))
  assert.deepEqual(captured.messages('warn'), [])
  pass(1_000)
  await begin()[0]?.fail(new Error('no thread'))
  const [line] = captured.lines
  assert.deepEqual(
    [line?.level, line?.msg, line?.['view']],
    ['warn', 'blocks of a View are tried again shortly', 'Logs'],
  )
  pass(1_999)
  assert.deepEqual(begin(), [])
  pass(1)
  assert.deepEqual(begin()[0]?.heights, [3, 2, 1])
})

test('a block that was replaced before it came to its limit has not failed; the new one is tried', async (t) => {
  const { begin, store, metric, state } = await openRoom(t, { blocks: 1 })
  const [job] = begin()
  await store.replaceBlocks(1, 1, [opaqueBlock(1, 5, 'other')])
  await job?.fail(tooLong)
  assert.deepEqual([state().blocksFailed, await metric('blocks_total')], [0, 0])
  assert.deepEqual(begin()[0]?.heights, [1])
})

test('a block at its limit is tried again after a minute, and then after two', async (t) => {
  const { begin, pass } = await openRoom(t, { blocks: 1 })
  for (const minutes of [1, 2, 4]) {
    await begin()[0]?.fail(tooLong)
    pass(minutes * 60_000 - 1)
    assert.deepEqual(begin(), [])
    pass(1)
  }
  assert.deepEqual(begin()[0]?.heights, [1])
})

test('after a start, blocks at their limit are tried again a minute later, and others are not', async (t) => {
  const { store, open, begin, pass, state } = await openRoom(t, { blocks: 1_003 })
  const failed = Array.from({ length: 1_003 }, (_, index) => {
    const {
      hash: blockHash,
      root: documentsRoot,
      number: height,
    } = opaqueBlock(index + 1, 5).header
    const code = height === 1_000 ? 'LENS_TRAPPED' : 'LENS_TIME_LIMIT'
    const failure = encodeFailure({ ...trapped, code })
    return { height, blockHash, documentsRoot, failure }
  })
  await store.putViewRows(view.slot, failed)
  await open()
  assert.deepEqual([state().blocksLeft, begin()], [0, []])
  pass(59_999)
  assert.equal(state().blocksLeft, 0)
  pass(1)
  // The newest 1,000 failures were looked at, one of which is of another kind.
  assert.equal(state().blocksLeft, 999)
  assert.deepEqual(begin()[0]?.heights, [1_003, 1_002, 1_001, 999])
})

test('what a View still computes as it is closed is given up, and counts for nothing', async (t) => {
  const { begin, open, store, metric, captured } = await openRoom(t)
  const run = await open()
  const [job] = begin()
  assert.equal(job?.job.signal?.aborted, false)
  const closed = run.close()
  assert.equal(job?.job.signal?.aborted, true)
  await job?.fail(tooLong)
  await closed
  assert.deepEqual([begin(), captured.lines, await metric('blocks_total')], [[], [], 0])
  assert.deepEqual(
    store.reader.read((snapshot) => snapshot.viewFailures(view.slot)),
    [],
  )
})
