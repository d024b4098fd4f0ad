/** One thread of the lens process: started again whenever it ended, and watched while it works. */
import { Worker } from 'node:worker_threads'
import { codeOf, messageOf, ServiceError } from '../../errors.ts'
import { toPlainError } from '../../plain-error.ts'
import {
  atLast,
  createRunningLens,
  type LensPlace,
  nowhere,
  placeFacts,
  readRunningLens,
} from '../running-lens.ts'
import { stackMebibytes } from '../stack-limit.ts'
import type { FromChild, FromThread, GatedJob, JobOutcome, ThreadJob } from './messages.ts'
import { createPieceGate, notePieceTaken, stopPieces } from './piece-gate.ts'
import { processorMsOf } from './thread-time.ts'

interface LensThreadOptions {
  readonly number: number
  /** Module that calls `serveLensWorker`. */
  readonly url: URL
  readonly data: unknown
}

export interface LensThread {
  run(job: ThreadJob): void
  /** A piece of the result of the job with this number was taken. */
  taken(id: number): void
  /** Ends the job with this number if it is still under way. */
  abort(id: number): void
  /** Whether a job is under way. */
  isBusy(): boolean
  /** Where that job is. */
  place(): LensPlace
}

/** Bounds of a thread's heap in MB; documents and rows of one block are far below. */
const resourceLimits = {
  maxOldGenerationSizeMb: 512,
  // Three times a semi-space of those that the process is started with.
  maxYoungGenerationSizeMb: 48,
  stackSizeMb: stackMebibytes,
}

const checkIntervalMs = 50
/** A thread that has not ended after this is not going to. */
const terminateTimeoutMs = 2_000
/** How long a job whose result comes in pieces may take to stop by itself, which spares its thread. */
const stopTimeoutMs = 250

interface State {
  readonly options: LensThreadOptions
  readonly post: (message: FromChild) => void
  worker: Worker
  job: GatedJob | null
  /** Processor time of the worker when the last job ended. */
  usedMs: number
  /** Its name in Linux's list of threads. */
  task: string | null
  watch: NodeJS.Timeout | undefined
}

/** Starts the thread; it says `ready` when it takes its first job. */
export function openLensThread(
  options: LensThreadOptions,
  post: (message: FromChild) => void,
): LensThread {
  const state: State = {
    options,
    post,
    worker: createWorker(options),
    job: null,
    usedMs: 0,
    task: null,
    watch: undefined,
  }
  listen(state)
  return {
    run(wanted) {
      const gate = wanted.isPieced ? createPieceGate() : null
      const job = { ...wanted, gate, running: createRunningLens() }
      state.job = job
      state.worker.postMessage(job)
      state.watch = watchJob(state, job)
    },
    taken(id) {
      const gate = state.job?.id === id ? state.job.gate : null
      if (gate !== null) notePieceTaken(gate)
    },
    abort: (id) => abort(state, id),
    isBusy: () => state.job !== null,
    place: () => placeOf(state.job),
  }
}

function placeOf(job: GatedJob | null): LensPlace {
  return job === null ? nowhere : readRunningLens(job.running)
}

function abort(state: State, id: number): void {
  const { job } = state
  if (job?.id !== id) return
  const end = (): void => {
    if (state.job === job) finishAndReplace(state, abortError(), 0)
  }
  if (job.gate === null) end()
  else {
    stopPieces(job.gate)
    setTimeout(end, stopTimeoutMs)
  }
}

/** Nobody waits for the outcome any more. */
function abortError(): Error {
  return new DOMException('the job was aborted', 'AbortError')
}

function createWorker({ number, url, data }: LensThreadOptions): Worker {
  return new Worker(url, {
    name: `lens ${number}`,
    workerData: data,
    env: {},
    resourceLimits,
  })
}

function listen(state: State): void {
  const { worker, options, post } = state
  const isCurrent = (): boolean => state.worker === worker
  worker.on('message', (message: FromThread) => {
    if (!isCurrent()) return
    if (message.kind === 'refused') post(message)
    else if (message.kind === 'piece') post({ ...message, thread: options.number })
    else if (message.kind === 'ready') {
      state.usedMs = message.processorMs
      state.task = message.task
      post({ kind: 'ready', thread: options.number })
    } else {
      const usedMs = message.processorMs - state.usedMs
      state.usedMs = message.processorMs
      finish(state, message.outcome, usedMs, true)
    }
  })
  const died = (error: unknown): void => {
    if (!isCurrent()) return
    if (state.job === null) post({ kind: 'refused', error: toPlainError(error) })
    else finishAndReplace(state, deathOf(error, placeOf(state.job)), 0)
  }
  worker.on('error', died)
  worker.on('messageerror', died)
  worker.on('exit', (code) => died(new Error(`exit code ${code}`)))
}

function deathOf(error: unknown, place: LensPlace): ServiceError {
  const reason = messageOf(error)
  const isMemory = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
  return new ServiceError(
    isMemory ? 'LENS_MEMORY_LIMIT' : 'LENS_PROCESS_DIED',
    `the thread of the lenses ended${atLast(place)}: ${reason}`,
    {
      facts: placeFacts(place),
      remedy: isMemory
        ? 'Keep less in the lenses, or use fewer of them.'
        : 'See that the machine has memory to spare, and leave out the lens that was at work.',
      cause: error,
    },
  )
}

/** A failure that costs the thread its worker. */
function finishAndReplace(state: State, error: Error, processorMs: number): void {
  finish(state, { kind: 'failure', error: toPlainError(error) }, processorMs, false)
  void replace(state)
}

function finish(state: State, outcome: JobOutcome, processorMs: number, isFree: boolean): void {
  const { job, options } = state
  if (job === null) return
  clearInterval(state.watch)
  state.job = null
  state.post({ kind: 'outcome', thread: options.number, id: job.id, outcome, processorMs, isFree })
}

/** Ends the worker and starts another one. */
async function replace(state: State): Promise<void> {
  const { worker, options, post } = state
  const timer = setTimeout(
    () => post({ kind: 'stuck', thread: options.number }),
    terminateTimeoutMs,
  )
  state.worker = createWorker(options)
  listen(state)
  await worker.terminate()
  clearTimeout(timer)
}

/** Ends the worker where the job takes too long by the clock or the processor. */
function watchJob(state: State, job: GatedJob): NodeJS.Timeout {
  const startedAt = performance.now()
  const end = (what: string, limitMs: number, processorMs: number): void => {
    if (state.job !== job) return
    const place = placeOf(job)
    const error = new ServiceError(
      'LENS_TIME_LIMIT',
      `the lenses took more than ${limitMs} ms of ${what}${atLast(place)}`,
      {
        facts: { limitMs, ...placeFacts(place) },
        remedy:
          'See that each lens comes to an end; select fewer documents in the query, or do less in the lenses.',
      },
    )
    finishAndReplace(state, error, processorMs)
  }
  return setInterval(() => {
    const wallMs = performance.now() - startedAt
    if (wallMs > job.wallMs) end('time', job.wallMs, wallMs)
    else if (wallMs > job.processorMs)
      void usedBy(state, job).then((usedMs) => {
        if (usedMs > job.processorMs) end('processor time', job.processorMs, usedMs)
      })
  }, checkIntervalMs)
}

/** Processor time of the job so far. */
async function usedBy(state: State, job: GatedJob): Promise<number> {
  const usedMs = await processorMsOf(state.worker, state.task)
  return usedMs !== null && state.job === job ? usedMs - state.usedMs : 0
}
