/**
 * A controller: a queue of keys without duplicates and workers that bring what each key names to where
 * it should be. A key is worked on by one worker at a time; what fails is tried again, later each time.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { hasCode, retryAfterOf } from './api-error.ts'
import type { QueueMetrics, ReconcileMetrics } from './metrics.ts'
import { parseKey } from './resource-type.ts'
import { createWorkQueue, type Urgency, type WorkItem } from './work-queue.ts'

/** What a reconcile is given beside its key. */
export interface ReconcileRun {
  /** Aborted when the controller stops for good. */
  readonly signal: AbortSignal
  /** Says controller, namespace, name and reconcileID in every line. */
  readonly log: Logger
}

export interface ReconcileResult {
  /** Looks again after this time even if nothing changes. */
  readonly requeueAfterMs?: number | undefined
}

/**
 * Brings one key to where it should be. Throwing means: again after a pause that doubles from 5 ms to 1,000 s,
 * or as long as the API server asked for; to 10 s only while it cannot be reached. What only a person can mend is not thrown but told in status.
 */
export type Reconcile = (key: string, run: ReconcileRun) => Promise<ReconcileResult>

export interface ControllerOptions {
  /** Label of its metrics and field of its log lines: `host`. */
  readonly name: string
  /** Keys worked on at once. Default 4. */
  readonly workers?: number
  /** Every key is looked at again after about this time. Default 600,000. */
  readonly resyncMs?: number
  /** First and longest pause after failures. Default 5 and 1,000,000. */
  readonly minRetryMs?: number
  readonly maxRetryMs?: number
  /** Time for running reconciles to end when closing. Default 20,000. */
  readonly stopTimeoutMs?: number
}

export interface ControllerParts {
  readonly reconcile: Reconcile
  /** All keys there are, for the resync. */
  readonly keys: () => Iterable<string>
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
const defaultResyncMs = 600_000
const resyncJitter = 0.1
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

/** Opens it; nothing is worked on before `start`. */
export function openController(options: ControllerOptions, parts: ControllerParts): Controller {
  const { name } = options
  const { metrics, log } = parts
  const workers = options.workers ?? defaultWorkers
  const labels = { name, controller: name }
  const queue = createWorkQueue()
  const later = new Map<string, Later>()
  const failures = new Map<string, number>()
  const running = new Set<Promise<void>>()
  const aborting = new AbortController()
  let state: 'waiting' | 'working' | 'closed' = 'waiting'
  let resync: NodeJS.Timeout | undefined
  metrics.reconcile.workers.set({ controller: name }, workers)
  metrics.reconcile.failing.set({ controller: name }, 0)

  const add = (key: string, urgency: Urgency): void => {
    if (state === 'closed') return
    queue.add(key, urgency)
    metrics.queue.adds.inc(labels)
    schedule()
  }
  const addAfter = (key: string, delayMs: number): void => {
    if (state === 'closed') return
    const atMs = performance.now() + delayMs
    const known = later.get(key)
    if (known !== undefined && known.atMs <= atMs) return
    clearTimeout(known?.timer)
    const fire = (): void => {
      later.delete(key)
      add(key, 'owned')
    }
    later.set(key, { timer: setTimeout(fire, Math.min(delayMs, maxTimerMs)), atMs })
  }
  const schedule = (): void => {
    while (state === 'working' && running.size < workers) {
      const item = queue.take()
      if (item === null) break
      const work = workOn(item).finally(() => {
        running.delete(work)
        queue.done(item.key)
        schedule()
      })
      running.add(work)
    }
    metrics.queue.depth.set(labels, queue.depth())
    metrics.reconcile.active.set({ controller: name }, running.size)
  }
  const workOn = async ({ key, waitedMs }: WorkItem): Promise<void> => {
    metrics.queue.waited.observe(labels, waitedMs / 1_000)
    const startedMs = performance.now()
    const run = { signal: aborting.signal, log: log.child(factsOf(name, key)) }
    const result = await attempt(key, run)
    const seconds = (performance.now() - startedMs) / 1_000
    metrics.queue.worked.observe(labels, seconds)
    metrics.reconcile.seconds.observe({ controller: name }, seconds)
    metrics.reconcile.total.inc({ controller: name, result })
    metrics.reconcile.failing.set({ controller: name }, failures.size)
  }
  const attempt = async (key: string, run: ReconcileRun): Promise<string> => {
    try {
      const { requeueAfterMs } = await parts.reconcile(key, run)
      failures.delete(key)
      if (requeueAfterMs === undefined) return 'success'
      addAfter(key, requeueAfterMs)
      return 'requeue_after'
    } catch (error) {
      if (aborting.signal.aborted) return 'error'
      retry(key, error, run.log)
      return 'error'
    }
  }
  const retry = (key: string, error: unknown, runLog: Logger): void => {
    const count = failures.get(key) ?? 0
    failures.set(key, count + 1)
    const minMs = options.minRetryMs ?? defaultMinRetryMs
    const maxMs = options.maxRetryMs ?? defaultMaxRetryMs
    const isAway = hasCode(
      error,
      'OPERATOR_API_UNREACHABLE',
      'OPERATOR_API_TIMEOUT',
      'OPERATOR_FENCED',
    )
    const doubled = Math.min(isAway ? maxAwayRetryMs : maxMs, minMs * 2 ** count)
    const delayMs = Math.max(doubled, retryAfterOf(error) ?? 0)
    metrics.reconcile.errors.inc({ controller: name })
    metrics.queue.retries.inc(labels)
    runLog.warn({ err: error, retryInMs: delayMs, failures: count + 1 }, 'reconcile failed')
    addAfter(key, delayMs)
  }
  const planResync = (): void => {
    const baseMs = options.resyncMs ?? defaultResyncMs
    resync = setTimeout(resyncAll, baseMs * (1 - resyncJitter + Math.random() * 2 * resyncJitter))
  }
  const resyncAll = (): void => {
    const known = new Set(parts.keys())
    for (const key of known) add(key, 'resync')
    for (const key of failures.keys()) if (!known.has(key)) failures.delete(key)
    planResync()
  }
  return {
    add,
    addAfter,
    start() {
      if (state !== 'waiting') return
      state = 'working'
      planResync()
      schedule()
    },
    async close() {
      state = 'closed'
      clearTimeout(resync)
      for (const { timer } of later.values()) clearTimeout(timer)
      const limit = setTimeout(() => {
        log.warn({ controller: name, running: running.size }, 'reconciles are cut off')
        aborting.abort(new DOMException('the controller closes', 'AbortError'))
      }, options.stopTimeoutMs ?? defaultStopTimeoutMs)
      await Promise.allSettled(running)
      clearTimeout(limit)
    },
  }
}

function factsOf(controller: string, key: string): Readonly<Record<string, string>> {
  return { controller, ...parseKey(key), reconcileID: randomUUID() }
}
