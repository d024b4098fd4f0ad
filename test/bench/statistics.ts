/** Medians and percentiles of repeated measurements. */

/** The value below which `share` (0 to 1) of the values lie; nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))
  return sorted[rank] ?? Number.NaN
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** Milliseconds that `work` took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
