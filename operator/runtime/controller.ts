/**
 * A controller: a queue of keys without duplicates and workers that bring what each key names to where
 * it should be. A key is worked on by one worker at a time; what fails is tried again, later each time.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { hasCode, retryAfterOf } from './client/api-error.ts'
import { parseKey } from './client/resource-type.ts'
import type { QueueMetrics, ReconcileMetrics } from './metrics.ts'
import { createWorkQueue, type Urgency, type WorkItem, type WorkQueue } from './work-queue.ts'

/** What a reconcile is given beside its key. */
export interface ReconcileRun {
  /** Aborted when the controller stops for good. */
  readonly signal: AbortSignal
  /** Says controller, namespace, name and reconcileID in every line. */
  readonly log: Logger
}

export interface ReconcileResult {
  /** Reconciles again after this time even if nothing changes. */
  readonly requeueAfterMs?: number | undefined
  /** It failed, and only a person can mend that; counted as controller-runtime counts terminal errors. */
  readonly isTerminal?: boolean
}

/**
 * Brings one key to where it should be. Throwing means: again after a pause that doubles from 5 ms to 1,000 s,
 * or as long as the API server asked for; to 10 s only while it cannot be reached. What only a person can fix is
 * not thrown but reported in status.
 */
export type Reconcile = (key: string, run: ReconcileRun) => Promise<ReconcileResult>

export interface ControllerOptions {
  /** Label of its metrics and field of its log lines: `host`. */
  readonly name: string
  /** Keys worked on at once. Default 4. */
  readonly workers?: number
  /** First and longest pause after failures. Default 5 and 1,000,000. */
  readonly minRetryMs?: number
  readonly maxRetryMs?: number
  /** Time for running reconciles to end when closing. Default 20,000. */
  readonly stopTimeoutMs?: number
}

interface ControllerParts {
  readonly reconcile: Reconcile
  readonly log: Logger
  readonly metrics: { readonly queue: QueueMetrics; readonly reconcile: ReconcileMetrics }
}

export interface Controller {
  /** Adds a key; one that waits already keeps the higher urgency. */
  add(key: string, urgency: Urgency): void
  /** Adds a key after a time; an earlier date for the same key stands. */
  addAfter(key: string, delayMs: number): void
  /** Starts the workers; keys added before wait. */
  start(): void
  /** Takes no more keys, waits for what is running and aborts what is left. */
  close(): Promise<void>
}

const defaultWorkers = 4
const defaultMinRetryMs = 5
const defaultMaxRetryMs = 1_000_000
const defaultStopTimeoutMs = 20_000
/** Longest pause while the API server cannot be reached or written to: what waits for it goes on soon after. */
const maxAwayRetryMs = 10_000
/** Longest time a Node timer takes. */
const maxTimerMs = 2_147_483_647

/** A date for a key. */
interface Later {
  readonly timer: NodeJS.Timeout
  readonly atMs: number
}

/** A controller at work. */
interface ControllerState {
  readonly name: string
  readonly settings: Required<Omit<ControllerOptions, 'name'>>
  readonly parts: ControllerParts
  readonly queue: WorkQueue
  /** By key. */
  readonly later: Map<string, Later>
  /** Failures in a row, by key. */
  readonly failures: Map<string, number>
  readonly running: Set<Promise<void>>
  readonly aborting: AbortController
  phase: 'waiting' | 'working' | 'closed'
}

/** Opens it; nothing is worked on before `start`. */
export function openController(options: ControllerOptions, parts: ControllerParts): Controller {
  const { name } = options
  const settings = {
    workers: options.workers ?? defaultWorkers,
    minRetryMs: options.minRetryMs ?? defaultMinRetryMs,
    maxRetryMs: options.maxRetryMs ?? defaultMaxRetryMs,
    stopTimeoutMs: options.stopTimeoutMs ?? defaultStopTimeoutMs,
  }
  const state: ControllerState = {
    name,
    settings,
    parts,
    queue: createWorkQueue(),
    later: new Map(),
    failures: new Map(),
    running: new Set(),
    aborting: new AbortController(),
    phase: 'waiting',
  }
  const { metrics } = parts
  metrics.reconcile.workers.set({ controller: name }, settings.workers)
  metrics.reconcile.failing.set({ controller: name }, 0)
  metrics.queue.running.set(name, () => state.queue.runningForMs())
  return {
    add: (key, urgency) => add(state, key, urgency),
    addAfter: (key, delayMs) => addAfter(state, key, delayMs, 'resync'),
    start() {
      if (state.phase !== 'waiting') return
      state.phase = 'working'
      schedule(state)
    },
    close: () => close(state),
  }
}

function add(state: ControllerState, key: string, urgency: Urgency): void {
  if (state.phase === 'closed') return
  state.queue.add(key, urgency)
  state.parts.metrics.queue.adds.inc(labelsOf(state))
  schedule(state)
}

function addAfter(state: ControllerState, key: string, delayMs: number, urgency: Urgency): void {
  if (state.phase === 'closed') return
  const { later } = state
  const atMs = performance.now() + delayMs
  const known = later.get(key)
  if (known !== undefined && known.atMs <= atMs) return
  clearTimeout(known?.timer)
  const fire = (): void => {
    later.delete(key)
    add(state, key, urgency)
  }
  later.set(key, { timer: setTimeout(fire, Math.min(delayMs, maxTimerMs)), atMs })
}

/** Has as many workers at work as there may be. */
function schedule(state: ControllerState): void {
  const { queue, running, settings, parts } = state
  while (state.phase === 'working' && running.size < settings.workers) {
    const item = queue.take()
    if (item === null) break
    const work = workOn(state, item).finally(() => {
      running.delete(work)
      queue.done(item.key)
      schedule(state)
    })
    running.add(work)
  }
  parts.metrics.queue.depth.set(labelsOf(state), queue.depth())
  parts.metrics.reconcile.active.set({ controller: state.name }, running.size)
}

async function workOn(state: ControllerState, { key, waitedMs }: WorkItem): Promise<void> {
  const { name, parts, aborting, failures } = state
  const { queue, reconcile } = parts.metrics
  queue.waited.observe(labelsOf(state), waitedMs / 1_000)
  const startedMs = performance.now()
  const run = { signal: aborting.signal, log: parts.log.child(factsOf(name, key)) }
  const result = await attempt(state, key, run)
  const seconds = (performance.now() - startedMs) / 1_000
  queue.worked.observe(labelsOf(state), seconds)
  reconcile.seconds.observe({ controller: name }, seconds)
  reconcile.total.inc({ controller: name, result })
  reconcile.failing.set({ controller: name }, failures.size)
}

/** Returns the result as the metric counts it. */
async function attempt(state: ControllerState, key: string, run: ReconcileRun): Promise<string> {
  try {
    const { requeueAfterMs, isTerminal = false } = await state.parts.reconcile(key, run)
    state.failures.delete(key)
    if (requeueAfterMs !== undefined) addAfter(state, key, requeueAfterMs, 'resync')
    if (isTerminal) return countTerminal(state)
    return requeueAfterMs === undefined ? 'success' : 'requeue_after'
  } catch (error) {
    if (!state.aborting.signal.aborted) retry(state, key, error, run.log)
    return 'error'
  }
}

function countTerminal({ name, parts }: ControllerState): string {
  parts.metrics.reconcile.errors.inc({ controller: name })
  parts.metrics.reconcile.terminal.inc({ controller: name })
  return 'error'
}

function retry(state: ControllerState, key: string, error: unknown, log: Logger): void {
  const { name, settings, parts, failures } = state
  const count = failures.get(key) ?? 0
  failures.set(key, count + 1)
  const isAway = hasCode(
    error,
    'OPERATOR_API_UNREACHABLE',
    'OPERATOR_API_TIMEOUT',
    'OPERATOR_FENCED',
  )
  const maxMs = isAway ? maxAwayRetryMs : settings.maxRetryMs
  // The pauses of controller-runtime. Those of `RetryDelay` are random; here workers bound how many keys return at once.
  const doubled = Math.min(maxMs, settings.minRetryMs * 2 ** count)
  const delayMs = Math.max(doubled, retryAfterOf(error) ?? 0)
  parts.metrics.reconcile.errors.inc({ controller: name })
  parts.metrics.queue.retries.inc(labelsOf(state))
  log.warn({ err: error, retryInMs: delayMs, failures: count + 1 }, 'reconcile failed')
  addAfter(state, key, delayMs, 'owned')
}

async function close(state: ControllerState): Promise<void> {
  const { name, settings, parts, running, later, aborting } = state
  state.phase = 'closed'
  for (const { timer } of later.values()) clearTimeout(timer)
  const limit = setTimeout(() => {
    parts.log.warn({ controller: name, running: running.size }, 'reconciles are cut off')
    aborting.abort(new DOMException('the controller closes', 'AbortError'))
  }, settings.stopTimeoutMs)
  await Promise.allSettled(running)
  clearTimeout(limit)
}

function labelsOf({ name }: ControllerState): {
  readonly name: string
  readonly controller: string
} {
  return { name, controller: name }
}

function factsOf(controller: string, key: string): Readonly<Record<string, string>> {
  return { controller, ...parseKey(key), reconcileID: randomUUID() }
}
