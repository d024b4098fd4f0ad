/** Pauses between attempts of one thing, which grow from failure to failure. */
import { type Backoff, backoffMs } from '../primitives/backoff.ts'

export interface RetryDelay {
  /** The pause after one more failure. */
  nextMs(): number
  /** After a success the next pause is short again. */
  reset(): void
}

/** Chance takes off up to half of each pause, so that many programs do not return together. */
export function createRetryDelay(backoff: Backoff): RetryDelay {
  let failures = 0
  return {
    nextMs() {
      failures += 1
      return backoffMs(backoff, failures, Math.random())
    },
    reset() {
      failures = 0
    },
  }
}
