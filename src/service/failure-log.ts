/** Tells in the log what `/health` says, once when it has lasted and once when it is over. */
import type { Logger } from 'pino'
import type { FailureReport } from './contract.ts'

export interface FailureLogOptions {
  /** Pause between two looks. Default 5,000. */
  readonly everyMs?: number
  /** How long a failure has to last: what a start brings with it is over by then. Default 10,000. */
  readonly lastingMs?: number
}

export interface FailureLogParts {
  readonly log: Logger
  /** What is wrong now. */
  readonly failures: () => readonly FailureReport[]
}

interface Standing {
  readonly sinceMs: number
  isTold: boolean
}

/** Looks now and then until it is closed. Failures with one code are one. */
export function openFailureLog(
  { everyMs = 5_000, lastingMs = 10_000 }: FailureLogOptions,
  { log, failures }: FailureLogParts,
): { close(): void } {
  const standing = new Map<string, Standing>()
  const look = (): void => {
    const nowMs = performance.now()
    const found = new Map(failures().map((failure) => [failure.code, failure]))
    for (const [code, { isTold }] of standing) {
      if (found.has(code)) continue
      standing.delete(code)
      if (isTold) log.info({ code }, 'over')
    }
    for (const [code, { message, remedy }] of found) {
      const since = standing.get(code) ?? { sinceMs: nowMs, isTold: false }
      standing.set(code, since)
      if (since.isTold || nowMs - since.sinceMs < lastingMs) continue
      since.isTold = true
      log.warn({ code, remedy }, message)
    }
  }
  const timer = setInterval(look, everyMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
