/** Spans of time as kubectl shows them. */

const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** `45s`, `12m`, `5h`, `3d`: between a time (RFC 3339) and now; `-` where there is none. */
export function ageOf(time: Date | string | undefined, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - new Date(time ?? '').getTime()) / 1_000))
  if (Number.isNaN(seconds)) return '-'
  if (seconds < 2 * minute) return `${seconds}s`
  if (seconds < 2 * hour) return `${Math.floor(seconds / minute)}m`
  return seconds < 2 * day ? `${Math.floor(seconds / hour)}h` : `${Math.floor(seconds / day)}d`
}
