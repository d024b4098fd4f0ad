/** The clock by which heads are signed, so that a test can pass another one. */

export interface Clock {
  /** Milliseconds of a monotonic clock. */
  nowMs(): number
  /** Milliseconds since 1970. */
  unixMs(): number
  /** Calls `run` after this time; returns the function that cancels it. */
  after(ms: number, run: () => void): () => void
}

/** The machine's clock. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  unixMs: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
