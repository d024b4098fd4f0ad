/** Pauses between attempts: each may be twice as long as the one before, and chance takes off up to half. */

export interface RetryDelay {
  nextMs(): number
  /** After a success the next pause is short again. */
  reset(): void
}

/** Both bounds are of the pause before chance shortens it. */
export function createBackoff(minMs: number, maxMs: number): RetryDelay {
  let boundMs = minMs
  return {
    nextMs() {
      const pauseMs = boundMs * (0.5 + Math.random() / 2)
      boundMs = Math.min(maxMs, boundMs * 2)
      return pauseMs
    },
    reset() {
      boundMs = minMs
    },
  }
}
