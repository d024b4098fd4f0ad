/**
 * The work on one View: jobs for the lens process, their results to the store, failures and when they are tried
 * again. What goes wrong here stays here.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import { encodePayload } from '../../lens/json-payload.ts'
import type { LensProcess } from '../../lens/process/lens-process.ts'
import { backoffMs } from '../../primitives/backoff.ts'
import {
  eachHeight,
  type HeightRanges,
  hasHeight,
  toHeightRanges,
} from '../../primitives/height-ranges.ts'
import type { Snapshot, StoreReader } from '../../store/store.ts'
import { encodeBlockRows, encodeFailure, type StoredFailure } from '../../views/block-rows.ts'
import type { Writer } from '../apply/writer.ts'
import { type BlockOutcome, decodeResult, type JobResult } from './block-job.ts'
import type { EngineMetrics } from './engine-metrics.ts'
import {
  failureAt,
  isOfView,
  isRetried,
  newestFailure,
  retryDelayMs,
  toDelay,
  toFailure,
  toViewFailure,
} from './failures/block-failure.ts'
import { createQuarantine, type Quarantine } from './failures/quarantine.ts'
import type { HostedView } from './hosted-view.ts'
import { createPace, mostJobs, type Pace } from './pace.ts'
import { noteLimit } from './row-limit.ts'
import type { ViewFailure, ViewState } from './view-engine.ts'
import { freshFacts, type Idle, readFacts } from './view-facts.ts'
import { describeState } from './view-state.ts'
import {
  type BlockOfJob,
  type Job,
  newHeights,
  nextWork,
  toJob,
  type WorkFacts,
} from './view-work.ts'
import type { VisibleBlocks } from './visible-blocks.ts'

interface ViewRunParts {
  readonly log: Logger
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'putViewRows' | 'clearViewFailures' | 'clearView' | 'putRecord'>
  readonly lenses: Pick<LensProcess, 'run'>
  readonly metrics: EngineMetrics
  /** Rows of a block were stored. */
  readonly onRows: (height: number) => void
  /** Asks for `begin` with a new snapshot. */
  readonly wake: () => void
  /** A clock in milliseconds. */
  readonly nowMs: () => number
}

/** What `begin` returned, and the epoch of its snapshot. */
export interface EmptyHeights {
  readonly heights: readonly number[]
  readonly epoch: number
}

export interface ViewRun {
  /**
   * Starts as many jobs as there may be. Returns new blocks that need none, as `isEmpty` says that they have no rows: the
   * caller stores that and then calls `settleEmpty`.
   */
  begin(
    snapshot: Snapshot,
    visible: VisibleBlocks,
    isEmpty: (height: number) => boolean,
  ): readonly number[]
  settleEmpty(empty: EmptyHeights, stored: ReadonlySet<number>): void
  /** Whether its lenses have shown that they work and nothing keeps them from it: new blocks may be done without them. */
  isInService(): boolean
  state(snapshot: Snapshot, visible: HeightRanges): ViewState
  /** Tries all failures again, and ends a quarantine. */
  retry(): void
  /** Resolves once nothing of it is computed or written any more. */
  close(): Promise<void>
}

/** Stored failures that are looked at when the Host starts; older ones wait for `retry`. */
const maxRestored = 1_000
const troublePause = { minMs: 1_000, maxMs: 60_000 }
/** After limits in a row: what takes all the time that it is given leaves most of it to others. */
const limitPause = { minMs: 15_000, maxMs: 600_000 }

interface State {
  readonly view: HostedView
  readonly parts: ViewRunParts
  readonly liveAbove: number
  readonly closing: AbortController
  /** Heights that a job has. */
  readonly underWay: Set<number>
  readonly running: Set<Promise<void>>
  /** When a failed height is tried again. */
  readonly dueAt: Map<number, number>
  readonly pace: Pace
  readonly quarantine: Quarantine
  idle: Idle | null
  isReady: boolean
  /** Whether the lenses have done a block since the Host was started: before, they may be of no use at all. */
  isProven: boolean
  lastFailure: ViewFailure | null
  /** Why the last job was not done, where no block is to blame, and how many in a row were nobody's fault. */
  trouble: { readonly inRow: number; readonly shown: ViewFailure } | null
  /** Until then nothing is tried. */
  pausedUntilMs: number
}

/** Serves a View; `liveAbove` is the head of the chain now, -1 without one. */
export function openViewRun(view: HostedView, liveAbove: number, parts: ViewRunParts): ViewRun {
  const state: State = {
    view,
    parts,
    liveAbove,
    closing: new AbortController(),
    underWay: new Set(),
    running: new Set(),
    dueAt: new Map(),
    pace: createPace(parts.nowMs),
    quarantine: createQuarantine(view, parts),
    idle: null,
    isReady: false,
    isProven: false,
    lastFailure: null,
    trouble: null,
    pausedUntilMs: 0,
  }
  track(state, prepare(state))
  return {
    begin: (snapshot, visible, isEmpty) => begin(state, snapshot, visible, isEmpty),
    settleEmpty: (empty, stored) => settleEmpty(state, empty, stored),
    isInService: () => isActive(state) && state.isProven,
    state: (snapshot, visible) => {
      // What failed may be stored before its job has ended.
      if (state.isReady) state.lastFailure ??= newestFailure(snapshot, view.slot)
      const standing = { ...state, quarantine: state.quarantine.reason() }
      return describeState(standing, snapshot, readFacts(state, snapshot, visible))
    },
    retry: () => track(state, retry(state)),
    close: async () => {
      state.closing.abort()
      await Promise.allSettled(state.running)
    },
  }
}

/** Keeps what runs until it has ended. Only a store that cannot be written gets here, and ends the program. */
function track(state: State, running: Promise<void>): void {
  const ended = running
    .catch((err) => {
      if (!state.closing.signal.aborted) state.parts.log.debug({ err }, 'rows could not be stored')
    })
    .finally(() => {
      state.running.delete(ended)
      state.parts.wake()
    })
  state.running.add(ended)
}

/** Finds out how the View stood, and removes what another version of the runtime has made. */
async function prepare(state: State): Promise<void> {
  const { view, parts, quarantine } = state
  if (quarantine.restore()) {
    parts.reader.read((snapshot) => restoreFailures(state, snapshot))
  } else {
    await parts.writer.clearView(view.slot)
    await quarantine.keep()
  }
  state.isReady = true
}

function restoreFailures(state: State, snapshot: Snapshot): void {
  const { slot } = state.view
  const nowMs = state.parts.nowMs()
  let left = maxRestored
  for (const height of eachHeight(snapshot.viewFailures(slot), true)) {
    if (left-- === 0) return
    const failure = failureAt(snapshot, slot, height)
    if (failure === null) continue
    state.lastFailure ??= toViewFailure(failure, height)
    if (isRetried(failure)) state.dueAt.set(height, nowMs + retryDelayMs(failure))
  }
}

async function retry(state: State): Promise<void> {
  await state.parts.writer.clearViewFailures(state.view.slot)
  state.idle = null
  state.dueAt.clear()
  state.lastFailure = null
  state.trouble = null
  state.pausedUntilMs = 0
  await state.quarantine.end()
}

// --- Jobs -----------------------------------------------------------------------------------

function isActive({ isReady, quarantine, closing, parts, pausedUntilMs }: State): boolean {
  if (!isReady || quarantine.reason() !== null || closing.signal.aborted) return false
  return parts.nowMs() >= pausedUntilMs
}

function begin(
  state: State,
  snapshot: Snapshot,
  visible: VisibleBlocks,
  isEmpty: (height: number) => boolean,
): readonly number[] {
  const { underWay } = state
  if (!isActive(state)) return []
  for (const height of state.dueAt.keys())
    if (!hasHeight(visible.heights, height)) state.dueAt.delete(height)
  const facts = freshFacts(state, snapshot, visible) ?? readFacts(state, snapshot, visible.heights)
  const isNew = facts.visible.length > 0
  const empty = isNew && state.isProven ? newHeights(facts).filter(isEmpty) : []
  for (const height of empty) underWay.add(height)
  const isAllBegun = !isNew || startJobs(state, snapshot, facts)
  state.idle = isAllBegun && state.running.size === 0 ? visible : null
  return empty
}

/** Returns whether nothing is left to do. */
function startJobs(state: State, snapshot: Snapshot, facts: WorkFacts): boolean {
  for (;;) {
    const underWay = toHeightRanges([...state.underWay])
    const work = nextWork({ ...facts, underWay }, state.pace.batch())
    if (work === null) return true
    if (state.running.size >= mostJobs(state.pace, work)) return false
    for (const height of work.heights) state.underWay.add(height)
    track(state, run(state, toJob(snapshot, work)))
  }
}

function settleEmpty(
  state: State,
  { heights, epoch }: EmptyHeights,
  stored: ReadonlySet<number>,
): void {
  const isStored = heights.every((height) => stored.has(height))
  // What was marked in another epoch may have been removed before anybody looked.
  if (!isStored || state.idle?.epoch !== epoch) state.idle = null
  for (const height of heights) state.underWay.delete(height)
  state.pace.done(heights.length)
}

async function run(state: State, job: Job): Promise<void> {
  const { parts, view, pace } = state
  const startedAt = parts.nowMs()
  try {
    const { bytes, processorMs } = await parts.lenses.run({
      view: view.id,
      definition: () => view.wire,
      priority: job.priority,
      payload: encodePayload(job.heights),
      signal: state.closing.signal,
    })
    const result = decodeResult(bytes)
    parts.metrics.seconds(job.priority, 'compute', (parts.nowMs() - startedAt) / 1_000)
    pace.ran({ asked: job.heights.length, seen: result.seen, processorMs })
    state.trouble = null
    await store(state, job, result)
  } catch (error) {
    if (state.closing.signal.aborted) return
    await failed(state, job, error)
  } finally {
    state.idle = null
    for (const height of job.heights) state.underWay.delete(height)
  }
}

async function store(state: State, { priority }: Job, result: JobResult): Promise<void> {
  const { parts, view } = state
  const startedAt = parts.nowMs()
  const stored = new Set(await parts.writer.putViewRows(view.slot, result.rows))
  noteLimit(parts, view)
  parts.metrics.seconds(priority, 'store', (parts.nowMs() - startedAt) / 1_000)
  parts.metrics.blocks(priority, 'dropped', result.seen - stored.size)
  // Blocks that go while they are read are not asked for again at once.
  if (stored.size === 0) state.pausedUntilMs = parts.nowMs() + troublePause.minMs / 10
  for (const outcome of result.outcomes.filter(({ height }) => stored.has(height))) {
    const { height, failure } = outcome
    state.dueAt.delete(height)
    if (failure === null) settle(state, priority, outcome)
    else await countFailure(state, priority, failure, height)
  }
  await state.quarantine.keepCount()
}

/** Counts a block that is done and stored. */
function settle(
  state: State,
  stage: Job['priority'],
  { height, rows, mismatches, isOfDocuments }: BlockOutcome,
): void {
  const { parts, pace, quarantine } = state
  // Without a document the lenses do nothing that could have failed.
  if (isOfDocuments) quarantine.succeeded()
  state.isProven = true
  pace.done(1)
  parts.metrics.blocks(stage, 'done', 1)
  parts.metrics.rows(rows, mismatches)
  if (rows > 0) parts.onRows(height)
}

// --- Failures -------------------------------------------------------------------------------

/** A job that returned nothing. */
async function failed(state: State, { priority, only }: Job, error: unknown): Promise<void> {
  if (!isOfView(error)) return pause(state, error)
  const shown = toViewFailure(toFailure(error, 1), null)
  // What is thrown besides limits is thrown when the View is loaded, so it has no rows at all.
  if (!isRetried(error)) return state.quarantine.begin(shown)
  // Which of several blocks is to blame shows when each is tried alone.
  state.trouble = only === null ? { inRow: 0, shown } : null
  if (only === null) {
    state.pace.alone()
    if (error.code !== 'LENS_PROCESS_DIED') pauseAtLimit(state, 1)
    return
  }
  await storeFailure(state, priority, only, error)
}

/** A limit of time or memory at one block: it is tried again later. */
async function storeFailure(
  state: State,
  stage: Job['priority'],
  only: BlockOfJob,
  error: ServiceError,
): Promise<void> {
  const { parts, view, dueAt } = state
  const { height } = only
  const before = parts.reader.read((snapshot) => failureAt(snapshot, view.slot, height))
  const failure = toFailure(error, (before?.attempts ?? 0) + 1)
  const block = { ...only, failure: encodeFailure(failure) }
  const stored = await parts.writer.putViewRows(view.slot, encodeBlockRows([block]))
  // The block is gone: another one in its place has not failed.
  if (stored.length === 0) return
  dueAt.set(height, parts.nowMs() + retryDelayMs(failure))
  await countFailure(state, stage, failure, height)
  pauseAtLimit(state, state.quarantine.inRow())
  await state.quarantine.keepCount()
}

function pauseAtLimit(state: State, failures: number): void {
  const pauseMs = backoffMs(limitPause, failures, Math.random())
  state.pausedUntilMs = state.parts.nowMs() + pauseMs
}

async function countFailure(
  state: State,
  stage: Job['priority'],
  failure: StoredFailure,
  height: number,
): Promise<void> {
  const { parts, view, quarantine } = state
  parts.metrics.blocks(stage, 'failed', 1)
  const shown = toViewFailure(failure, height)
  state.lastFailure = shown
  parts.log.debug({ view: view.name, ...shown }, 'a block of a View failed')
  await quarantine.failed(shown)
}

/** Nobody's fault: the same is tried again soon. */
function pause(state: State, err: unknown): void {
  const { parts, view } = state
  const inRow = (state.trouble?.inRow ?? 0) + 1
  state.trouble = { inRow, shown: toDelay(err) }
  const delayMs = backoffMs(troublePause, inRow, Math.random())
  state.pausedUntilMs = parts.nowMs() + delayMs
  const isBusy = err instanceof ServiceError && err.code === 'LENS_BUSY'
  if (!isBusy) parts.log.warn({ err, view: view.name }, 'blocks of a View are tried again shortly')
}
