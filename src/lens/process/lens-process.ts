/**
 * The one process in which a program lets lenses run. It is started with the first job and again when it ended:
 * what a lens can break is its own job, never the program and never another View's work.
 */
import type { Logger } from 'pino'
import { invariant, ServiceError } from '../../errors.ts'
import { fromPlainError, type PlainError } from '../../plain-error.ts'
import { backoffMs } from '../../primitives/backoff.ts'
import type { FromChild } from '../child/messages.ts'
import { atLast, type LensPlace, nowhere, placeFacts } from '../running-lens.ts'
import { type LensChild, startChild } from './child-process.ts'
import { createLensJobs, type LensJob, type LensJobs, type LensResult } from './lens-jobs.ts'
import type { LensMetrics } from './metrics.ts'

export interface LensProcess {
  /**
   * Does a job in a thread of the process. Jobs have to be repeatable: where the process ends with several under way,
   * each is done once more with nothing beside it, so that only the one that ends it again fails.
   * @throws ServiceError What the worker's `load` and `run` throw; `LENS_TIME_LIMIT`, `LENS_MEMORY_LIMIT`,
   *   `LENS_PROCESS_DIED` and `LENS_BUSY`, after which a later attempt may succeed; the reason of the signal.
   */
  run(job: LensJob): Promise<LensResult>
  /** Rejects all jobs with an AbortError and ends the process. */
  close(): Promise<void>
}

interface LensProcessOptions {
  /** Module that calls `serveLensWorker`. */
  readonly workerUrl: URL
  /** What its `open` gets in each thread. */
  readonly data: unknown
  /** Jobs that run at the same time. */
  readonly threads: number
  /** Resident memory at which the process is ended; from three quarters on it is started again when it is idle. */
  readonly memoryBytes: number
  /** How long it is kept without a job; without this it stays. */
  readonly idleMs?: number
  /** How far its work stands behind the program's, as nice(1) counts; default 5, at most 19 in all. */
  readonly niceness?: number
  /** The program's; a few names that hold no secret are handed on. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

interface LensProcessParts {
  readonly log: Logger
  /** Those of all lens processes of the program. */
  readonly metrics: LensMetrics
  /** Called when the process has ended, in whatever way: what it held elsewhere can be cleared. */
  readonly onEnded: () => void
}

const startTimeoutMs = 30_000
const restartBackoff = { minMs: 100, maxMs: 10_000 }
const roomyShare = 0.75

/** Why the process is ended from here. */
type KillCause = 'memory' | 'stuck' | 'silent' | 'refused' | 'roomy' | 'idle' | 'start' | 'close'

/** The process while it lives. */
interface Life {
  readonly child: LensChild
  memoryBytes: number | null
  /** Where its one job was then. */
  place: LensPlace
  /** Whether a thread was ever ready. */
  isServing: boolean
  /** Whether a job has ended in it: until then no job has left memory behind. */
  hasWorked: boolean
  cause: KillCause | null
  refusal: PlainError | null
  readonly startTimer: NodeJS.Timeout
}

interface State {
  readonly options: LensProcessOptions
  readonly parts: LensProcessParts
  readonly metrics: LensMetrics
  readonly jobs: LensJobs
  life: Life | null
  /** Ends in a row, without a job in between that left its thread alive. */
  failures: number
  /** Views whose jobs ended it in that row: they wait for the next start longer and longer, others do not. */
  readonly harmful: Set<string>
  /** Whether nothing but a View can be why it ended last. */
  isSound: boolean
  starts: number
  restart: NodeJS.Timeout | undefined
  idle: NodeJS.Timeout | undefined
  closing: PromiseWithResolvers<void> | null
}

/** Nothing is started before the first job. */
export function openLensProcess(options: LensProcessOptions, parts: LensProcessParts): LensProcess {
  const { metrics } = parts
  const jobs = createLensJobs(options.threads, {
    metrics,
    send: (message) => state.life?.child.send(message),
    onSilent: () => kill(state, 'silent'),
  })
  const state: State = {
    options,
    parts,
    metrics,
    jobs,
    life: null,
    failures: 0,
    harmful: new Set(),
    isSound: true,
    starts: 0,
    restart: undefined,
    idle: undefined,
    closing: null,
  }
  metrics.watch({
    memoryBytes: () => state.life?.memoryBytes ?? null,
    waiting: () => state.jobs.waiting,
    running: () => state.jobs.running,
  })
  return {
    async run(job) {
      if (state.closing !== null) throw closingError()
      job.signal?.throwIfAborted()
      const result = jobs.add(job)
      goOn(state)
      return result
    },
    close: () => close(state),
  }
}

/** The error of jobs that are not done because the program stops; it is not reported. */
function closingError(): Error {
  return new DOMException('the lens process is closing', 'AbortError')
}

/** Starts what can be started: jobs, or the process. */
function goOn(state: State): void {
  const { life, jobs } = state
  if (life === null) {
    if (jobs.waiting > 0 && mayStart(state)) start(state)
    return
  }
  // A job that was given to a process that is ending would fail with it.
  if (life.cause !== null) return
  if (!isRoomy(state)) jobs.begin()
  else if (jobs.running === 0) kill(state, 'roomy')
  watchIdle(state)
}

/** What a View did to the process is no reason for others to wait. */
function mayStart({ restart, isSound, harmful, jobs }: State): boolean {
  return restart === undefined || (isSound && jobs.isWaiting((view) => !harmful.has(view)))
}

/** Ends the process when it has had nothing to do for long enough. */
function watchIdle(state: State): void {
  const { options, jobs } = state
  clearTimeout(state.idle)
  if (options.idleMs === undefined || jobs.waiting + jobs.running > 0) return
  state.idle = setTimeout(() => kill(state, 'idle'), options.idleMs).unref()
}

/** Whether what earlier jobs left in memory should not be held against the next one. */
function isRoomy({ life, options }: State): boolean {
  return life?.hasWorked === true && (life.memoryBytes ?? 0) > options.memoryBytes * roomyShare
}

function start(state: State): void {
  const { options, parts } = state
  clearTimeout(state.restart)
  state.restart = undefined
  const child = startChild(options, {
    onMessage: (message) => receive(state, message),
    onExit: (reason, output) => ended(state, reason, output),
  })
  state.life = {
    child,
    memoryBytes: null,
    place: nowhere,
    isServing: false,
    hasWorked: false,
    cause: null,
    refusal: null,
    startTimer: setTimeout(() => kill(state, 'start'), startTimeoutMs),
  }
  state.starts += 1
  if (state.starts > 1) state.metrics.restarted()
  parts.log.debug({ threads: options.threads }, 'lens process started')
}

function kill(state: State, cause: KillCause): void {
  const { life } = state
  if (life === null || life.cause !== null) return
  life.cause = cause
  life.child.kill()
}

function receive(state: State, message: FromChild): void {
  const { life, jobs, options } = state
  if (life === null || life.cause !== null) return
  if (message.kind === 'ready') {
    clearTimeout(life.startTimer)
    life.isServing = true
    jobs.free(message.thread)
  } else if (message.kind === 'outcome') {
    life.hasWorked = true
    if (message.isFree && message.outcome.kind !== 'missing') {
      state.failures = 0
      state.harmful.clear()
    }
    jobs.finish(message)
  } else if (message.kind === 'piece') {
    jobs.piece(message)
    return
  } else if (message.kind === 'memory') {
    life.memoryBytes = message.bytes
    life.place = message.place
    if (message.bytes > options.memoryBytes) kill(state, 'memory')
  } else if (message.kind === 'refused') {
    life.refusal = message.error
    kill(state, 'refused')
  } else kill(state, 'stuck')
  goOn(state)
}

function ended(state: State, reason: string, output: string): void {
  const { life, jobs, parts } = state
  invariant(life !== null, 'only a process that was started ends')
  const { cause } = life
  clearTimeout(life.startTimer)
  clearTimeout(state.idle)
  state.life = null
  parts.onEnded()
  state.closing?.resolve()
  if (state.closing !== null) return
  const death = deathOf(state, life, reason)
  const isOrderly = cause === 'roomy' || cause === 'idle'
  if (isOrderly) parts.log.debug({ cause }, 'lens process ended to free its memory')
  else
    parts.log.warn(
      { reason, cause, jobs: jobs.running, views: jobs.viewsUnderWay(), output, err: death },
      'lens process ended; it is started again',
    )
  if (!isOrderly) state.failures += 1
  // What stopped a thread was settled before; the others had nothing to do with it.
  const failed = jobs.died(death, cause !== 'stuck' && cause !== 'refused')
  for (const view of failed) state.harmful.add(view)
  state.isSound = life.isServing && cause !== 'refused'
  // Where it cannot start at all, waiting for it is no use.
  if (!life.isServing) jobs.failAll(death, 'died')
  scheduleRestart(state)
  goOn(state)
}

function scheduleRestart(state: State): void {
  const delayMs =
    state.failures === 0 ? 0 : backoffMs(restartBackoff, state.failures, Math.random())
  state.restart = setTimeout(() => {
    state.restart = undefined
    goOn(state)
  }, delayMs)
}

function deathOf({ options }: State, life: Life, reason: string): ServiceError {
  if (life.cause === 'memory')
    return new ServiceError(
      'LENS_MEMORY_LIMIT',
      `the lens process took more than ${options.memoryBytes} bytes of memory${atLast(life.place)}`,
      {
        remedy: 'Keep less in the lenses, or use fewer of them.',
        facts: { memoryBytes: options.memoryBytes, ...placeFacts(life.place) },
      },
    )
  if (life.cause === 'silent')
    return new ServiceError('LENS_TIME_LIMIT', 'the lens process did not respond in time', {
      remedy: 'See that each lens comes to an end, and that the machine has time to spare.',
    })
  return new ServiceError(
    'LENS_PROCESS_DIED',
    `the lens process ended: ${causes[life.cause ?? 'none'] ?? reason}`,
    {
      remedy:
        'See that the machine has memory to spare; the log of a Host has what the process of the lenses wrote last.',
      ...(life.refusal !== null && { cause: fromPlainError(life.refusal) }),
    },
  )
}

const causes: Readonly<Record<string, string>> = {
  stuck: 'a thread in it could not be stopped',
  refused: 'a thread in it did not start',
  start: 'it did not start in time',
}

async function close(state: State): Promise<void> {
  if (state.closing === null) {
    state.closing = Promise.withResolvers()
    clearTimeout(state.restart)
    state.jobs.failAll(closingError(), 'aborted')
    if (state.life === null) state.closing.resolve()
    else kill(state, 'close')
  }
  await state.closing.promise
}
