/** The run of one View on a real store. The lens process is a fake whose jobs end when the test says so, and how. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Registry } from 'prom-client'
import { type BlockOutcome, encodeResult } from '../../../../../src/host/views/engine/block-job.ts'
import { createEngineMetrics } from '../../../../../src/host/views/engine/engine-metrics.ts'
import type { ViewState } from '../../../../../src/host/views/engine/view-engine.ts'
import { openViewRun, type ViewRun } from '../../../../../src/host/views/engine/view-run.ts'
import { readVisible, visibleHeights } from '../../../../../src/host/views/engine/visible-blocks.ts'
import type { HostedView } from '../../../../../src/host/views/hosted-view.ts'
import type { LensJob } from '../../../../../src/lens/process/lens-jobs.ts'
import type { StoreWriter } from '../../../../../src/store/store.ts'
import {
  type BlockRows,
  decodeBlockRows,
  encodeBlockRows,
  encodeFailure,
} from '../../../../../src/views/rows/block-rows.ts'
import { createRowPacker } from '../../../../../src/views/rows/rows.ts'
import { type CapturedLog, captureLog } from '../../../../support/captured-log.ts'
import { opaqueBlock } from '../../../../support/chain/opaque-blocks.ts'
import { metricValue } from '../../../../support/metric-value.ts'
import { openTestStore } from '../../../../support/test-store.ts'
import { hostedView } from './engine-room.ts'

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

export const view: HostedView = hostedView()
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
export async function openRunRoom(
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
