/**
 * Work that others cause, on a thread that has other things to do: a piece at a time, and never more of the time
 * than its share.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

export interface ShareOfTime {
  /** Runs a piece of work after those before it; throws what it throws. A piece should take a few milliseconds. */
  run<T>(piece: () => T): Promise<T>
}

interface ShareOfTimeOptions {
  /** Part of the time that may be used in the long run. Default 0.1. */
  readonly share?: number
  /** Milliseconds that may be used at once. Default 100. */
  readonly burstMs?: number
}

interface ShareOfTimeParts {
  /** Monotonic, in milliseconds. */
  readonly nowMs: () => number
  /** Resolves in a later iteration of the event loop, after so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>
}

const realTime: ShareOfTimeParts = {
  nowMs: () => performance.now(),
  // The shortest delay is a millisecond.
  pause: (ms) => (ms > 0 ? delay(ms) : nextTurn()),
}

/** A share that is not used yet. */
export function createShareOfTime(
  { share = 0.1, burstMs = 100 }: ShareOfTimeOptions = {},
  { nowMs, pause }: ShareOfTimeParts = realTime,
): ShareOfTime {
  let leftMs = burstMs
  let atMs = nowMs()
  let last: Promise<unknown> = Promise.resolve()

  /** Resolves when something is left. */
  const turn = async (): Promise<void> => {
    const now = nowMs()
    leftMs = Math.min(burstMs, leftMs + (now - atMs) * share)
    atMs = now
    await pause(Math.max(0, -leftMs / share))
  }

  return {
    run: <T>(piece: () => T): Promise<T> => {
      const result = last.then(turn).then(() => {
        const startMs = nowMs()
        try {
          return piece()
        } finally {
          leftMs -= nowMs() - startMs
        }
      })
      last = result.catch(() => undefined)
      return result
    },
  }
}
