/** A clock that goes on when a test says so. */
import type { Clock } from '../../../src/generator/head/clock.ts'

export interface FakeClock extends Clock {
  /** Lets time pass, and calls what is due meanwhile in its order. */
  advance(ms: number): void
}

/** Begins at 0, which is `unixMs` in milliseconds since 1970. */
export function createFakeClock(unixMs = 1_700_000_000_000): FakeClock {
  let nowMs = 0
  const due = new Set<{ readonly atMs: number; readonly run: () => void }>()
  const next = (untilMs: number) =>
    [...due].filter(({ atMs }) => atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs)[0]
  return {
    nowMs: () => nowMs,
    unixMs: () => unixMs + nowMs,
    after(ms, run) {
      const timer = { atMs: nowMs + ms, run }
      due.add(timer)
      return () => due.delete(timer)
    },
    advance(ms) {
      const untilMs = nowMs + ms
      for (let timer = next(untilMs); timer !== undefined; timer = next(untilMs)) {
        due.delete(timer)
        nowMs = timer.atMs
        timer.run()
      }
      nowMs = untilMs
    },
  }
}
