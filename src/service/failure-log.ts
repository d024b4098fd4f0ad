/** Logs the failures of `/health`: once when one has lasted, and once when it is over. */
import type { Logger } from 'pino'
import type { FailureReport } from './contract.ts'

interface FailureLogOptions {
  /** Poll interval. Default 5,000. */
  readonly pollIntervalMs?: number
  /** How long a failure must last before it is logged, so that those of a start are not. Default 10,000. */
  readonly lastingMs?: number
}

interface FailureLogParts {
  readonly log: Logger
  /** The current failures. */
  readonly failures: () => readonly FailureReport[]
}

interface ActiveFailure {
  readonly sinceMs: number
  isReported: boolean
}

/** Polls until it is closed. Failures with the same code count as one. */
export function openFailureLog(
  { pollIntervalMs = 5_000, lastingMs = 10_000 }: FailureLogOptions,
  { log, failures }: FailureLogParts,
): { close(): void } {
  const active = new Map<string, ActiveFailure>()
  const poll = (): void => {
    const nowMs = performance.now()
    const found = new Map(failures().map((failure) => [failure.code, failure]))
    for (const [code, { isReported }] of active) {
      if (found.has(code)) continue
      active.delete(code)
      if (isReported) log.info({ code }, 'over')
    }
    for (const [code, { message, remedy }] of found) {
      const since = active.get(code) ?? { sinceMs: nowMs, isReported: false }
      active.set(code, since)
      if (since.isReported || nowMs - since.sinceMs < lastingMs) continue
      since.isReported = true
      log.warn({ code, remedy }, message)
    }
  }
  const timer = setInterval(poll, pollIntervalMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
