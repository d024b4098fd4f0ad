/** Jobs of the lens process, from being asked for to their result: which wait, which thread does which. */

import { ServiceError } from '../../errors.ts'
import { fromPlainError } from '../../plain-error.ts'
import type { FromChild, ToChild } from '../child/messages.ts'
import { createJobScheduler, type JobScheduler, type Priority } from './job-scheduler.ts'
import type { JobEnd, LensMetrics } from './metrics.ts'

/** A piece of work for the worker of `openLensProcess`. */
export interface LensJob {
  /** Key of the View, another one whenever its definition is another. */
  readonly view: string
  /** What the worker's `load` gets; asked for where a thread has not loaded the View. */
  readonly definition: () => Uint8Array
  readonly priority: Priority
  /** What the worker's `run` gets. */
  readonly payload: Uint8Array
  /** Loading the View included; default 2,000. */
  readonly processorMs?: number
  /** By the clock, while it is under way; default 10,000. */
  readonly wallMs?: number
  /** When it is ended by the clock of `performance.now()`, however long it waited before; replaces `wallMs`. */
  readonly endsAt?: number
  readonly signal?: AbortSignal
  /**
   * Called with each piece that the worker's `run` hands over; after some that are not taken it waits. Such a job is
   * never repeated, also where it was not the one that ended the process.
   */
  readonly onPiece?: (piece: Uint8Array, taken: () => void) => void
}

export interface LensResult {
  readonly bytes: Uint8Array
  /** What the job took. */
  readonly processorMs: number
}

/** A job that was asked for. */
interface PendingJob {
  readonly id: number
  readonly job: LensJob
  readonly view: string
  readonly priority: Priority
  readonly settled: PromiseWithResolvers<LensResult>
  isSettled: boolean
  /** Whether it was under way when the process ended, so that nothing else is to run beside it now. */
  isSuspect: boolean
  processorMs: number
  beganAt: number
  silence: NodeJS.Timeout | undefined
}

export interface LensJobs {
  readonly waiting: number
  readonly running: number
  /** Views of jobs that are under way, each once, for the log: at most 8 of them. */
  viewsUnderWay(): string[]
  /** Whether a job of such a View waits. */
  isWaiting(matches: (view: string) => boolean): boolean
  /** @throws ServiceError `LENS_BUSY` where too much of the View waits. */
  add(job: LensJob): Promise<LensResult>
  /** A thread takes jobs. */
  free(thread: number): void
  /** Gives jobs to free threads. */
  begin(): void
  /** A thread reports the end of a job, or that it needs the View's definition. */
  finish(message: Extract<FromChild, { kind: 'outcome' }>): void
  /** A thread hands over a piece of its result. */
  piece(message: Extract<FromChild, { kind: 'piece' }>): void
  /**
   * The process ended: `blame` is whether that was because of a job that is under way. It fails where it is the only one;
   * of several each waits to be done again, alone. Returns the Views of jobs that failed.
   */
  died(error: Error, blame: boolean): string[]
  /** Rejects all jobs. */
  failAll(error: Error, outcome: JobEnd): void
}

interface Parts {
  readonly metrics: LensMetrics
  readonly send: (message: ToChild) => void
  /** A job is under way for longer than its thread should have let it. */
  readonly onSilent: () => void
}

const defaultProcessorMs = 2_000
const defaultWallMs = 10_000
/** How much later than the thread's own limit a job is taken for lost. */
const silenceMs = 5_000
/** Views that the log names: there may be as many as threads. */
const maxNamed = 8

interface State {
  readonly parts: Parts
  readonly scheduler: JobScheduler<PendingJob>
  readonly suspects: PendingJob[]
  readonly running: Map<number, PendingJob>
  readonly free: Set<number>
  lastId: number
}

/** `threads` is how many jobs may be under way. */
export function createLensJobs(threads: number, parts: Parts): LensJobs {
  const state: State = {
    parts,
    scheduler: createJobScheduler(threads),
    suspects: [],
    running: new Map(),
    free: new Set(),
    lastId: 0,
  }
  return {
    get waiting() {
      return state.scheduler.size + state.suspects.length
    },
    get running() {
      return state.running.size
    },
    viewsUnderWay: () =>
      [...new Set([...state.running.values()].map(({ view }) => view))].slice(0, maxNamed),
    isWaiting: (matches) =>
      state.suspects.some(({ view }) => matches(view)) || state.scheduler.isWaiting(matches),
    add: (job) => add(state, job),
    free: (thread) => void state.free.add(thread),
    begin: () => beginAll(state),
    finish: (message) => finish(state, message),
    piece: ({ thread, id, bytes }) => {
      const pending = state.running.get(thread)
      if (pending?.id !== id || pending.isSettled) return
      pending.job.onPiece?.(bytes, () => state.parts.send({ kind: 'taken', thread, id }))
    },
    died: (error, blame) => died(state, error, blame),
    failAll(error, outcome) {
      const jobs = [
        ...state.running.values(),
        ...state.suspects.splice(0),
        ...state.scheduler.clear(),
      ]
      for (const pending of jobs) fail(state, pending, error, outcome)
    },
  }
}

function add(state: State, job: LensJob): Promise<LensResult> {
  const { view, priority, signal } = job
  state.lastId += 1
  const pending: PendingJob = {
    id: state.lastId,
    job,
    view,
    priority,
    settled: Promise.withResolvers(),
    isSettled: false,
    isSuspect: false,
    processorMs: 0,
    beganAt: 0,
    silence: undefined,
  }
  state.scheduler.add(pending)
  const abort = (): void => {
    fail(state, pending, signal?.reason, 'aborted')
    withdraw(state, pending)
  }
  signal?.addEventListener('abort', abort)
  return pending.settled.promise.finally(() => signal?.removeEventListener('abort', abort))
}

/** Takes an aborted job out, wherever it is. */
function withdraw(state: State, pending: PendingJob): void {
  state.scheduler.remove(pending)
  const index = state.suspects.indexOf(pending)
  if (index >= 0) state.suspects.splice(index, 1)
  for (const [thread, running] of state.running)
    if (running === pending) state.parts.send({ kind: 'abort', thread, id: pending.id })
}

function beginAll(state: State): void {
  for (const thread of state.free) {
    const pending = nextJob(state)
    if (pending === undefined) return
    state.free.delete(thread)
    state.running.set(thread, pending)
    pending.beganAt = performance.now()
    send(state, thread, pending, null)
  }
}

/** A suspect runs with nothing beside it. */
function nextJob({ suspects, running, scheduler }: State): PendingJob | undefined {
  const jobs = [...running.values()]
  if (suspects.length > 0) return jobs.length === 0 ? suspects.shift() : undefined
  return jobs.some(({ isSuspect }) => isSuspect) ? undefined : scheduler.next(jobs)
}

function send(
  state: State,
  thread: number,
  pending: PendingJob,
  definition: Uint8Array | null,
): void {
  const { id, view, job } = pending
  const { payload, processorMs = defaultProcessorMs, endsAt } = job
  const wallMs =
    endsAt === undefined
      ? (job.wallMs ?? defaultWallMs)
      : Math.max(1, Math.round(endsAt - performance.now()))
  clearTimeout(pending.silence)
  pending.silence = setTimeout(state.parts.onSilent, wallMs + silenceMs)
  state.parts.send({
    kind: 'job',
    thread,
    job: {
      id,
      view,
      definition,
      payload,
      processorMs,
      wallMs,
      isPieced: job.onPiece !== undefined,
    },
  })
}

function finish(state: State, message: Extract<FromChild, { kind: 'outcome' }>): void {
  const { thread, id, outcome, processorMs, isFree } = message
  const pending = state.running.get(thread)
  if (pending?.id !== id) return
  pending.processorMs += processorMs
  state.scheduler.charge(pending.view, processorMs)
  if (outcome.kind === 'missing' && !pending.isSettled && define(state, thread, pending)) return
  state.running.delete(thread)
  if (isFree) state.free.add(thread)
  if (outcome.kind === 'failure') fail(state, pending, fromPlainError(outcome.error))
  else if (outcome.kind === 'result') succeed(state, pending, outcome.bytes)
}

/** Sends a job again with the definition of its View; false where there is none any more. */
function define(state: State, thread: number, pending: PendingJob): boolean {
  try {
    send(state, thread, pending, pending.job.definition())
    return true
  } catch (error) {
    fail(state, pending, error)
    return false
  }
}

function died(state: State, error: Error, blame: boolean): string[] {
  const victims = [...state.running.values()]
  const failed: string[] = []
  state.running.clear()
  state.free.clear()
  for (const pending of victims) {
    clearTimeout(pending.silence)
    // A job that ends the process has used its time as well.
    state.scheduler.charge(pending.view, performance.now() - pending.beganAt)
    const isRepeatable = pending.job.onPiece === undefined
    if (!isRepeatable || (blame && victims.length === 1)) {
      fail(state, pending, error)
      failed.push(pending.view)
    } else if (!pending.isSettled) {
      pending.isSuspect = true
      state.suspects.push(pending)
    }
  }
  return failed
}

function succeed({ parts }: State, pending: PendingJob, bytes: Uint8Array): void {
  if (!settle(pending)) return
  const { priority, processorMs } = pending
  parts.metrics.job(priority, 'done', processorMs)
  pending.settled.resolve({ bytes, processorMs })
}

function fail(
  { parts }: State,
  pending: PendingJob,
  error: unknown,
  outcome: JobEnd = endOf(error),
): void {
  if (!settle(pending)) return
  parts.metrics.job(pending.priority, outcome, pending.processorMs)
  pending.settled.reject(error)
}

function settle(pending: PendingJob): boolean {
  clearTimeout(pending.silence)
  const isFirst = !pending.isSettled
  pending.isSettled = true
  return isFirst
}

function endOf(error: unknown): JobEnd {
  if (!(error instanceof ServiceError)) return 'failed'
  if (error.code === 'LENS_PROCESS_DIED') return 'died'
  const isLimit = error.code === 'LENS_TIME_LIMIT' || error.code === 'LENS_MEMORY_LIMIT'
  return isLimit ? 'limited' : 'failed'
}
