/**
 * When a replica is checked again: within two seconds after a change, then after pauses that double up to the
 * interval. A replica that says something else each time is checked soon a few times a minute, not for ever.
 */
import { createRetryDelay } from '../../../src/service/retry-delay.ts'

interface CheckScheduleOptions {
  /** The longest pause between two checks, in milliseconds; chance takes off up to half. */
  readonly intervalMs: number
  /** True pauses for the interval each time, whatever changes. */
  readonly isEven: boolean
}

export interface CheckSchedule {
  /** Something changed: the next pause is a short one. Returns false where that was said too often of late. */
  change(): boolean
  /** How long to wait before the next check, in milliseconds; longer each time. */
  nextMs(): number
}

const firstPauseMs = 2_000
/** Changes a minute that are followed by a short pause. */
const maxChanges = 6
const minuteMs = 60_000

/** Something has just changed. `nowMs` is a monotonic clock in milliseconds. */
export function createCheckSchedule(
  { intervalMs, isEven }: CheckScheduleOptions,
  nowMs: () => number,
): CheckSchedule {
  const minMs = isEven ? intervalMs : Math.min(firstPauseMs, intervalMs)
  const pauses = createRetryDelay({ minMs, maxMs: intervalMs })
  let changes: readonly number[] = []
  return {
    change: () => {
      const recent = changes.filter((atMs) => nowMs() - atMs < minuteMs)
      if (recent.length >= maxChanges) return false
      changes = [...recent, nowMs()]
      pauses.reset()
      return true
    },
    nextMs: pauses.nextMs,
  }
}
