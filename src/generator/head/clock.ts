/** Time as the signing of heads sees it, so that a test can pass another one. */

export interface Clock {
  /** Milliseconds of a clock that never jumps. */
  nowMs(): number
  /** Milliseconds since 1970. */
  unixMs(): number
  /** Calls `run` after this time; returns the function that prevents it. */
  after(ms: number, run: () => void): () => void
}

/** The machine's. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  unixMs: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
