/** Counts what happened within the last minute, for `blocks_per_minute`. */

interface RecentCount {
  /** Counts so many events that happen now. */
  add(events: number): void
  /** Events within the last minute. */
  count(): number
}

const windowMs = 60_000

/** Nothing has happened. `nowMs` is a clock in milliseconds. */
export function createRecentCount(nowMs: () => number): RecentCount {
  const times: number[] = []
  const dropOld = (): void => {
    const since = nowMs() - windowMs
    const kept = times.findIndex((time) => time >= since)
    times.splice(0, kept < 0 ? times.length : kept)
  }
  return {
    add: (events) => {
      for (let event = 0; event < events; event++) times.push(nowMs())
      dropOld()
    },
    count: () => {
      dropOld()
      return times.length
    },
  }
}
