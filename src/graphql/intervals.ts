/**
 * Sets of whole numbers as ascending intervals that do not touch: heights with both ends included.
 */

/** First and last number. */
export type Interval = readonly [from: number, to: number]
/** Ascending, neither overlapping nor touching. */
export type Intervals = readonly Interval[]

/** Every number that may be a height. */
export const everything: Intervals = [[0, Number.MAX_SAFE_INTEGER]]

/** The set of single numbers. */
export function intervalsOf(numbers: readonly number[]): Intervals {
  return union(numbers.map((number) => [number, number]))
}

/** Everything in any of the intervals, given in any order. */
export function union(intervals: readonly Interval[]): Intervals {
  const sorted = intervals.filter(([from, to]) => from <= to).sort((a, b) => a[0] - b[0])
  const result: [number, number][] = []
  for (const [from, to] of sorted) {
    const last = result.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}

/** What is in both. */
export function intersect(a: Intervals, b: Intervals): Intervals {
  const result: Interval[] = []
  let [i, j] = [0, 0]
  for (;;) {
    const [left, right] = [a[i], b[j]]
    if (left === undefined || right === undefined) return result
    const from = Math.max(left[0], right[0])
    const to = Math.min(left[1], right[1])
    if (from <= to) result.push([from, to])
    if (left[1] < right[1]) i++
    else j++
  }
}

/** The nearest number of the set at or beyond `number` in a direction; null when there is none. */
export function nearest(set: Intervals, number: number, descending: boolean): number | null {
  const index = firstEndingAt(set, number)
  const [from, to] = set[index] ?? [Infinity, Infinity]
  if (!descending) return to === Infinity ? null : Math.max(from, number)
  if (from <= number) return number
  return set[index - 1]?.[1] ?? null
}

/** Index of the first interval that ends at or above a number. */
function firstEndingAt(set: Intervals, number: number): number {
  let low = 0
  let high = set.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((set[middle]?.[1] ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
