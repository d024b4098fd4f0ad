/** How long to wait before trying again: exponential, bounded, and as random as the caller wants it. */

export interface Backoff {
  /** Longest wait before the second try. */
  readonly minMs: number
  /** Longest wait there ever is. */
  readonly maxMs: number
}

/**
 * The wait after `failures` failures in a row (1 = the first). Half of it is fixed, of the other half
 * `chance` (0 to 1) is taken: where that is random, many clients of one server do not return together.
 */
export function backoffMs({ minMs, maxMs }: Backoff, failures: number, chance: number): number {
  const doubled = minMs * 2 ** Math.min(failures - 1, 30)
  return Math.min(maxMs, doubled) * (0.5 + chance / 2)
}
