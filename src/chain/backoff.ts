/** How long to wait before trying again: exponential, bounded, and different for everyone. */

export interface Backoff {
  /** Longest wait before the second try. */
  readonly minMs: number
  /** Longest wait there ever is. */
  readonly maxMs: number
}

/**
 * The wait after `failures` failures in a row (1 = the first). Half of it is fixed and half is
 * random, so that many clients of one node do not return at the same moment.
 */
export function backoffMs(
  backoff: Backoff,
  failures: number,
  random: () => number = Math.random,
): number {
  const doubled = backoff.minMs * 2 ** Math.min(failures - 1, 30)
  return Math.min(backoff.maxMs, doubled) * (0.5 + random() / 2)
}
