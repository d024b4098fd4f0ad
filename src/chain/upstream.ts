/**
 * All URLs of the execution node as one upstream that retries for ever: tries them in their order,
 * backs off from round to round, and logs a lasting failure once and its end once.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type ErrorCode, messageOf, ServiceError } from '../errors.ts'
import { onOneLine } from '../one-line.ts'
import { type Backoff, backoffMs } from '../primitives/backoff.ts'
import type { Endpoint } from './endpoint.ts'
import { timedOut } from './http-post.ts'
import type { ChainMetrics } from './metrics.ts'

interface UpstreamOptions {
  readonly backoff: Backoff
  /** Longest wait for a block that the node does not have yet. */
  readonly pollIntervalMs: number
}

/** A failure that lasts, as `/health` shows it. */
export interface UpstreamFailure {
  readonly code: ErrorCode
  readonly message: string
  /** What to do about it, where that is known. */
  readonly remedy?: string
}

interface Upstream {
  /**
   * Repeats `attempt` until it succeeds, on one endpoint after the other. `what` names the request in
   * the log. Only an aborted signal ends it without a result. Where `lateMs` is given, an attempt that takes longer
   * counts as a failure meanwhile, unless there are other endpoints to try.
   */
  persist<T>(
    what: string,
    attempt: (endpoint: Endpoint) => Promise<T>,
    signal: AbortSignal,
    lateMs?: number,
  ): Promise<T>
  /** The current failure; null while requests succeed within a few rounds. */
  failure(): UpstreamFailure | null
  close(): Promise<void>
}

interface RankedEndpoint {
  readonly endpoint: Endpoint
  failures: number
  /** `performance.now()` before which other endpoints are preferred. */
  avoidUntil: number
}

/** Failures of the requested block, not of the endpoint. */
const contentCodes: ReadonlySet<ErrorCode> = new Set([
  'CHAIN_BLOCK_UNAVAILABLE',
  'CHAIN_BLOCK_INCOMPLETE',
  'CHAIN_HEADER_MISMATCH',
])
/** Failed rounds before a failure is reported: nodes hiccup. */
const roundsBeforeReport = 2
const reminderMs = 60_000

/** Takes over the endpoints and closes them. */
export function openUpstream(
  endpoints: readonly Endpoint[],
  options: UpstreamOptions,
  parts: { readonly log: Logger; readonly metrics: ChainMetrics },
): Upstream {
  const { log, metrics } = parts
  const candidates = endpoints.map((endpoint): RankedEndpoint => {
    return { endpoint, failures: 0, avoidUntil: 0 }
  })
  const tracker = createFailureTracker(log)

  const failed = (candidate: RankedEndpoint, error: ServiceError, what: string): void => {
    const { code, message, cause } = error
    metrics.failures.inc({ code })
    log.debug(
      { endpoint: candidate.endpoint.label, code, reason: message, what, err: cause },
      'attempt failed',
    )
    if (contentCodes.has(code)) return
    candidate.failures++
    candidate.avoidUntil = performance.now() + randomBackoffMs(options.backoff, candidate.failures)
  }

  async function round<T>(
    what: string,
    attempt: (endpoint: Endpoint, isLast: boolean) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly value: T } | ServiceError> {
    let last: ServiceError | null = null
    for (const [index, candidate] of inOrder(candidates).entries()) {
      signal.throwIfAborted()
      try {
        const value = await attempt(candidate.endpoint, index === candidates.length - 1)
        candidate.failures = 0
        candidate.avoidUntil = 0
        return { value }
      } catch (error) {
        signal.throwIfAborted()
        const failure = toServiceError(error, candidate.endpoint)
        failed(candidate, failure, what)
        last = worseOf(last, failure)
      }
    }
    return last ?? new ServiceError('CHAIN_UNREACHABLE', 'no endpoint is configured')
  }

  const waitMs = ({ code }: ServiceError, failures: number): number => {
    const waited = randomBackoffMs(options.backoff, failures)
    return code === 'CHAIN_BLOCK_UNAVAILABLE' ? Math.min(waited, options.pollIntervalMs) : waited
  }

  return {
    async persist(what, attempt, signal, lateMs) {
      const work = {}
      let isAnswered = false
      const onLate = (endpoint: Endpoint): void =>
        tracker.report(work, what, timedOut(endpoint.label, lateMs ?? 0))
      try {
        for (let failures = 1; ; failures++) {
          const timed = (endpoint: Endpoint, isLast: boolean): ReturnType<typeof attempt> =>
            lateMs === undefined || !isLast
              ? attempt(endpoint)
              : whileLate(attempt(endpoint), lateMs, () => onLate(endpoint))
          const result = await round(what, timed, signal)
          isAnswered = !(result instanceof ServiceError)
          if (!(result instanceof ServiceError)) return result.value
          if (failures >= roundsBeforeReport) tracker.report(work, what, result)
          await pause(waitMs(result, failures), undefined, { signal })
        }
      } finally {
        tracker.end(work, isAnswered)
      }
    },
    failure: () => tracker.current(),
    async close() {
      await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    },
  }
}

/** What is awaited; `onLate` is called once if it takes longer than this. */
async function whileLate<T>(awaited: Promise<T>, lateMs: number, onLate: () => void): Promise<T> {
  const timer = setTimeout(onLate, lateMs)
  try {
    return await awaited
  } finally {
    clearTimeout(timer)
  }
}

/** An error without a code is of an answer that nobody thought of: another endpoint may have a better one. */
function toServiceError(error: unknown, { label }: Endpoint): ServiceError {
  if (error instanceof ServiceError) return error
  const reason = onOneLine(messageOf(error), 300)
  return new ServiceError('CHAIN_ANSWER_MALFORMED', `${label} answered what fails: ${reason}`, {
    facts: { endpoint: label },
    remedy: 'Check the execution node; the log has the cause at the level debug.',
    cause: error,
  })
}

/** Preferred endpoints first; those backing off last, so that something is tried at all. */
function inOrder(candidates: readonly RankedEndpoint[]): RankedEndpoint[] {
  const now = performance.now()
  const waitMs = ({ avoidUntil }: RankedEndpoint): number => Math.max(0, avoidUntil - now)
  return candidates.toSorted((a, b) => waitMs(a) - waitMs(b))
}

/** Of two endpoints' failures the one worth reporting: a block that does not exist yet is none. */
function worseOf(first: ServiceError | null, second: ServiceError): ServiceError {
  if (first === null || first.code === 'CHAIN_BLOCK_UNAVAILABLE') return second
  return first
}

interface FailureTracker {
  report(work: object, what: string, error: ServiceError): void
  /** The request is over, with a result or abandoned. */
  end(work: object, isAnswered: boolean): void
  current(): UpstreamFailure | null
}

/** Logs one line when the first request fails, reminders, and one line when the last recovers. */
function createFailureTracker(log: Logger): FailureTracker {
  const open = new Map<object, ServiceError>()
  let since = 0
  let remindAt = 0
  return {
    report(work, what, error) {
      if (error.code === 'CHAIN_BLOCK_UNAVAILABLE') return
      const now = performance.now()
      if (open.size === 0) since = now
      const isNew = open.size === 0 || now >= remindAt
      open.set(work, error)
      if (!isNew) return
      remindAt = now + reminderMs
      const facts = { what, code: error.code, reason: error.message, ...remedyOf(error) }
      const needsPerson = error.code === 'CHAIN_UNAUTHORIZED'
      log[needsPerson ? 'error' : 'warn'](
        facts,
        'execution node fails, will try again until it answers',
      )
    },
    end(work, isAnswered) {
      if (!open.delete(work) || open.size > 0 || !isAnswered) return
      log.info({ afterMs: Math.round(performance.now() - since) }, 'execution node answers again')
    },
    current() {
      const [error] = open.values()
      if (error === undefined) return null
      return { code: error.code, message: error.message, ...remedyOf(error) }
    },
  }
}

function remedyOf({ remedy }: ServiceError): { readonly remedy?: string } {
  return remedy === undefined ? {} : { remedy }
}

function randomBackoffMs(backoff: Backoff, failures: number): number {
  return backoffMs(backoff, failures, Math.random())
}
