/**
 * The work on one View: jobs for the lens process, their results to the store, failures and when they are tried
 * again. What goes wrong here stays here.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../../errors.ts'
import { encodePayload } from '../../../lens/json-payload.ts'
import type { LensProcess } from '../../../lens/process/lens-process.ts'
import { eachHeight, type HeightRanges } from '../../../primitives/height-ranges.ts'
import type { Snapshot, StoreReader } from '../../../store/store.ts'
import {
  encodeBlockRows,
  encodeFailure,
  type StoredFailure,
} from '../../../views/rows/block-rows.ts'
import type { Writer } from '../../apply/writer.ts'
import type { HostedView } from '../hosted-view.ts'
import { type BlockOutcome, decodeResult, type JobResult } from './block-job.ts'
import type { EngineMetrics } from './engine-metrics.ts'
import {
  failureAt,
  isOfView,
  isRetried,
  mostInRow,
  retryDelayMs,
  toFailure,
  toViewFailure,
} from './failures/block-failure.ts'
import { createQuarantine, type Quarantine } from './failures/quarantine.ts'
import { createSetbacks, type Setbacks } from './failures/setbacks.ts'
import { createPace, mostJobs, type Pace } from './pace.ts'
import { noteLimit } from './row-limit.ts'
import type { ViewState } from './view-engine.ts'
import { createProgress, type Progress } from './view-progress.ts'
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

interface State {
  readonly view: HostedView
  readonly parts: ViewRunParts
  readonly closing: AbortController
  /** Everything that is computed or written. */
  readonly running: Set<Promise<void>>
  readonly progress: Progress
  readonly pace: Pace
  readonly setbacks: Setbacks
  readonly quarantine: Quarantine
  /** Whether it is known what is stored of it. */
  isReady: boolean
  /** Whether the lenses have done a block since the Host was started: before, they may be of no use at all. */
  isProven: boolean
  /** Whether rows were stored since it last looked for work. */
  hasGrown: boolean
  /** Whether the log has that its blocks fail. */
  hasWarned: boolean
  /** Resolves once the rows of all jobs with new blocks are announced. */
  announced: Promise<void>
}

/** Serves a View; `liveAbove` is the head of the chain now, -1 without one. */
export function openViewRun(view: HostedView, liveAbove: number, parts: ViewRunParts): ViewRun {
  const state: State = {
    view,
    parts,
    closing: new AbortController(),
    running: new Set(),
    progress: createProgress(view, liveAbove, parts.nowMs),
    pace: createPace(parts.nowMs),
    setbacks: createSetbacks(view, parts.nowMs),
    quarantine: createQuarantine(view, parts),
    isReady: false,
    isProven: false,
    hasGrown: false,
    hasWarned: false,
    announced: Promise.resolve(),
  }
  track(state, prepare(state))
  return {
    begin: (snapshot, visible, isEmpty) => begin(state, snapshot, visible, isEmpty),
    settleEmpty: (empty, stored) => settleEmpty(state, empty, stored),
    isInService: () => isActive(state) && state.isProven,
    state: (snapshot, visible) =>
      describeState(state, snapshot, state.progress.facts(snapshot, visible)),
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
    if (isRetried(failure)) state.progress.failed(height, nowMs + retryDelayMs(failure))
  }
}

async function retry(state: State): Promise<void> {
  const { view, parts, progress, setbacks, quarantine } = state
  await parts.writer.clearViewFailures(view.slot)
  progress.retry()
  setbacks.retry()
  state.hasWarned = false
  await quarantine.end()
}

// --- Jobs -----------------------------------------------------------------------------------

function isActive({ isReady, quarantine, closing, setbacks }: State): boolean {
  if (!isReady || quarantine.reason() !== null || closing.signal.aborted) return false
  return !setbacks.isPaused()
}

function begin(
  state: State,
  snapshot: Snapshot,
  visible: VisibleBlocks,
  isEmpty: (height: number) => boolean,
): readonly number[] {
  if (state.hasGrown) noteLimit(state.parts.log, snapshot, state.view)
  state.hasGrown = false
  if (!isActive(state)) return []
  const { progress, running, isProven } = state
  const facts = progress.freshFacts(snapshot, visible)
  const isNew = facts.visible.length > 0
  const empty = isNew && isProven ? newHeights(facts).filter(isEmpty) : []
  progress.begin(empty)
  const isAllBegun = !isNew || startJobs(state, snapshot, facts)
  if (isAllBegun && running.size === 0) progress.rest(visible)
  else progress.wake()
  return empty
}

/** Returns whether nothing is left to do. */
function startJobs(state: State, snapshot: Snapshot, facts: WorkFacts): boolean {
  const { progress, pace, running, quarantine } = state
  const inRow = quarantine.inRow()
  // What may be the last failures in a row is tried one job after the other, so that there are no more of them.
  const limit = inRow === 0 ? pace.batch() : Math.min(pace.batch(), mostInRow - inRow)
  for (;;) {
    const work = nextWork({ ...facts, underWay: progress.underWay() }, limit)
    if (work === null) return true
    if (running.size >= (inRow === 0 ? mostJobs(pace, work) : 1)) return false
    progress.begin(work.heights)
    track(state, run(state, toJob(snapshot, work)))
  }
}

function settleEmpty(
  { progress, pace }: State,
  { heights, epoch }: EmptyHeights,
  stored: ReadonlySet<number>,
): void {
  if (heights.every((height) => stored.has(height))) progress.endEmpty(heights, epoch)
  else progress.end(heights)
  pace.done(heights.length)
}

async function run(state: State, job: Job): Promise<void> {
  const { parts, view, pace } = state
  const startedAt = parts.nowMs()
  const announce = announceInTurn(state, job)
  let withRows: readonly number[] = []
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
    state.setbacks.noTrouble()
    withRows = await store(state, job, result)
  } catch (error) {
    if (state.closing.signal.aborted) return
    await failed(state, job, error)
  } finally {
    state.progress.end(job.heights)
    announce(withRows)
  }
}

/** Announces the rows of a job in the order of the chain: those of new blocks wait for the jobs that began before. */
function announceInTurn(state: State, { priority }: Job): (withRows: readonly number[]) => void {
  const announce = (withRows: readonly number[]): void => {
    for (const height of withRows.toSorted((a, b) => a - b)) state.parts.onRows(height)
  }
  if (priority !== 'live') return announce
  const { promise, resolve } = Promise.withResolvers<readonly number[]>()
  state.announced = state.announced.then(async () => announce(await promise))
  return resolve
}

/** Returns the heights that have rows now. */
async function store(state: State, { priority }: Job, result: JobResult): Promise<number[]> {
  const { parts, view } = state
  const startedAt = parts.nowMs()
  const stored = new Set(await parts.writer.putViewRows(view.slot, result.rows))
  state.hasGrown = true
  parts.metrics.seconds(priority, 'store', (parts.nowMs() - startedAt) / 1_000)
  parts.metrics.blocks(priority, 'dropped', result.seen - stored.size)
  if (stored.size === 0) state.setbacks.pauseShortly()
  for (const outcome of result.outcomes.filter(({ height }) => stored.has(height))) {
    const { height, failure } = outcome
    state.progress.settled(height)
    if (failure === null) settle(state, priority, outcome)
    else await countFailure(state, priority, failure, height)
  }
  await state.quarantine.keepCount()
  return result.outcomes.flatMap(({ height, rows }) =>
    rows > 0 && stored.has(height) ? [height] : [],
  )
}

/** Counts a block that is done and stored. */
function settle(
  state: State,
  stage: Job['priority'],
  { rows, mismatches, isOfDocuments }: BlockOutcome,
): void {
  const { parts, pace, quarantine } = state
  // Without a document the lenses do nothing that could have failed.
  if (isOfDocuments) quarantine.succeeded()
  state.isProven = true
  pace.done(1)
  parts.metrics.blocks(stage, 'done', 1)
  parts.metrics.rows(rows, mismatches)
}

// --- Failures -------------------------------------------------------------------------------

/** A job that returned nothing. */
async function failed(state: State, job: Job, error: unknown): Promise<void> {
  const { priority, only, heights } = job
  if (!isOfView(error)) return pause(state, error)
  const shown = toViewFailure(toFailure(error, 1), null)
  // What is thrown besides limits is thrown when the View is loaded, so it has no rows at all.
  if (!isRetried(error)) return state.quarantine.begin(shown)
  if (only !== null) {
    state.setbacks.noTrouble()
    return storeFailure(state, priority, only, error)
  }
  // Which of several blocks is to blame shows when each is tried alone.
  state.progress.suspect(heights)
  state.pace.alone()
  state.setbacks.limitOfSeveral(shown)
  if (error.code !== 'LENS_PROCESS_DIED') state.setbacks.pauseAtLimit(1)
}

/** A limit of time or memory at one block: it is tried again later. */
async function storeFailure(
  state: State,
  stage: Job['priority'],
  only: BlockOfJob,
  error: ServiceError,
): Promise<void> {
  const { parts, view, progress, setbacks, quarantine } = state
  const { height } = only
  const before = parts.reader.read((snapshot) => failureAt(snapshot, view.slot, height))
  const failure = toFailure(error, (before?.attempts ?? 0) + 1)
  const block = { ...only, failure: encodeFailure(failure) }
  const stored = await parts.writer.putViewRows(view.slot, encodeBlockRows([block]))
  // The block is gone: another one in its place has not failed.
  if (stored.length === 0) return
  progress.failed(height, parts.nowMs() + retryDelayMs(failure))
  await countFailure(state, stage, failure, height)
  setbacks.pauseAtLimit(quarantine.inRow())
  await quarantine.keepCount()
}

async function countFailure(
  state: State,
  stage: Job['priority'],
  failure: StoredFailure,
  height: number,
): Promise<void> {
  const { parts, view, setbacks, quarantine } = state
  parts.metrics.blocks(stage, 'failed', 1)
  const shown = toViewFailure(failure, height)
  setbacks.blockFailed(shown)
  const level = state.hasWarned ? 'debug' : 'warn'
  parts.log[level]({ view: view.name, id: view.id, ...shown }, 'a block of a View failed')
  state.hasWarned = true
  await quarantine.failed(shown)
}

/** Nobody's fault: the same is tried again soon. */
function pause({ parts, view, setbacks }: State, err: unknown): void {
  setbacks.delayed(err)
  const isBusy = err instanceof ServiceError && err.code === 'LENS_BUSY'
  if (!isBusy) parts.log.warn({ err, view: view.name }, 'blocks of a View are tried again shortly')
}
