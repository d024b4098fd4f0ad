/**
 * All URLs of the execution node as one thing that never gives up: tries them in their order, waits
 * longer from round to round, and speaks up once when something stays wrong and once when it ends.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type ErrorCode, ServiceError } from '../errors.ts'
import { type Backoff, backoffMs } from './backoff.ts'
import type { Endpoint } from './endpoint.ts'
import type { ChainMetrics } from './metrics.ts'

export interface UpstreamOptions {
  readonly backoff: Backoff
  /** Longest wait for a block that the node does not have yet. */
  readonly pollIntervalMs: number
}

/** A failure that lasts, as `/health` shows it. */
export interface Trouble {
  readonly code: ErrorCode
  readonly message: string
  /** What to do about it, where that is known. */
  readonly remedy?: string
}

export interface Upstream {
  /**
   * Repeats `attempt` until it succeeds, on one endpoint after the other. `what` names the work in
   * the log. Only an aborted signal or an error that is no ServiceError ends it without a result.
   */
  persist<T>(
    what: string,
    attempt: (endpoint: Endpoint) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T>
  /** What is wrong now, null while all work succeeds sooner or later. */
  trouble(): Trouble | null
  close(): Promise<void>
}

interface Candidate {
  readonly endpoint: Endpoint
  failures: number
  /** `performance.now()` before which other endpoints are preferred. */
  restsUntil: number
}

/** Failures that tell about the block asked for, not about the endpoint. */
const contentCodes: ReadonlySet<ErrorCode> = new Set([
  'CHAIN_BLOCK_UNAVAILABLE',
  'CHAIN_BLOCK_INCOMPLETE',
  'CHAIN_HEADER_MISMATCH',
])
/** Rounds that may fail before it counts as trouble: nodes hiccup. */
const roundsBeforeTrouble = 2
const reminderMs = 60_000

/** Takes over the endpoints and closes them. */
export function openUpstream(
  endpoints: readonly Endpoint[],
  options: UpstreamOptions,
  parts: { readonly log: Logger; readonly metrics: ChainMetrics },
): Upstream {
  const { log, metrics } = parts
  const candidates = endpoints.map((endpoint): Candidate => {
    return { endpoint, failures: 0, restsUntil: 0 }
  })
  const troubles = createTroubles(log)

  /** Preferred ones first; resting ones last, so that something is tried at all. */
  const inOrder = (): Candidate[] => {
    const now = performance.now()
    const rest = ({ restsUntil }: Candidate): number => Math.max(0, restsUntil - now)
    return candidates.toSorted((a, b) => rest(a) - rest(b))
  }

  const failed = (candidate: Candidate, error: ServiceError, what: string): void => {
    const { endpoint } = candidate
    metrics.failures.inc({ code: error.code })
    log.debug(
      { endpoint: endpoint.label, code: error.code, reason: error.message, what },
      'attempt failed',
    )
    if (contentCodes.has(error.code)) return
    candidate.failures++
    candidate.restsUntil = performance.now() + backoffMs(options.backoff, candidate.failures)
  }

  async function round<T>(
    what: string,
    attempt: (endpoint: Endpoint) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly value: T } | ServiceError> {
    let last: ServiceError | null = null
    for (const candidate of inOrder()) {
      signal.throwIfAborted()
      try {
        const value = await attempt(candidate.endpoint)
        candidate.failures = 0
        candidate.restsUntil = 0
        return { value }
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof ServiceError)) throw error
        failed(candidate, error, what)
        last = worseOf(last, error)
      }
    }
    return last ?? new ServiceError('CHAIN_UNREACHABLE', 'no endpoint is configured')
  }

  const waitMs = ({ code }: ServiceError, failures: number): number => {
    const waited = backoffMs(options.backoff, failures)
    return code === 'CHAIN_BLOCK_UNAVAILABLE' ? Math.min(waited, options.pollIntervalMs) : waited
  }

  return {
    async persist(what, attempt, signal) {
      const work = {}
      let isAnswered = false
      try {
        for (let failures = 1; ; failures++) {
          const result = await round(what, attempt, signal)
          isAnswered = !(result instanceof ServiceError)
          if (!(result instanceof ServiceError)) return result.value
          if (failures >= roundsBeforeTrouble) troubles.report(work, what, result)
          await pause(waitMs(result, failures), undefined, { signal })
        }
      } finally {
        troubles.settle(work, isAnswered)
      }
    },
    trouble: () => troubles.current(),
    async close() {
      await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    },
  }
}

/** Of two endpoints' failures the one a person should hear of: that a block is not there yet is none. */
function worseOf(first: ServiceError | null, second: ServiceError): ServiceError {
  if (first === null || first.code === 'CHAIN_BLOCK_UNAVAILABLE') return second
  return first
}

interface Troubles {
  report(work: object, what: string, error: ServiceError): void
  /** The work is over, with an answer or given up. */
  settle(work: object, isAnswered: boolean): void
  current(): Trouble | null
}

/** One line when the first work is in trouble, reminders, and one line when the last is out of it. */
function createTroubles(log: Logger): Troubles {
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
    settle(work, isAnswered) {
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
