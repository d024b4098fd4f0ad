/**
 * Sets of heights, or of other whole numbers that mostly follow each other, as ascending ranges that
 * neither overlap nor touch; both ends are included.
 */

/** Lowest and highest height of a range. */
export type HeightRange = readonly [from: number, to: number]

/** A set of heights. */
export type HeightRanges = readonly HeightRange[]

/** Every number that may be a height. */
export const allHeights: HeightRanges = [[0, Number.MAX_SAFE_INTEGER]]

/** The set of single heights. */
export function toHeightRanges(heights: readonly number[]): HeightRanges {
  return uniteHeights(heights.map((height) => [height, height]))
}

/** Every height in any of the ranges, which come in any order; one that ends before it begins is empty. */
export function uniteHeights(ranges: readonly HeightRange[]): HeightRanges {
  const sorted = ranges.filter(([from, to]) => from <= to).sort((a, b) => a[0] - b[0])
  const united: [number, number][] = []
  for (const [from, to] of sorted) {
    const last = united.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else united.push([from, to])
  }
  return united
}

/** The heights in both sets. */
export function intersectHeights(a: HeightRanges, b: HeightRanges): HeightRanges {
  const common: HeightRange[] = []
  let [i, j] = [0, 0]
  for (;;) {
    const [left, right] = [a[i], b[j]]
    if (left === undefined || right === undefined) return common
    const from = Math.max(left[0], right[0])
    const to = Math.min(left[1], right[1])
    if (from <= to) common.push([from, to])
    if (left[1] < right[1]) i++
    else j++
  }
}

/** The nearest height of the set at or beyond `height` in a direction; null when there is none. */
export function nearestHeight(
  ranges: HeightRanges,
  height: number,
  descending: boolean,
): number | null {
  const index = firstEndingAt(ranges, height)
  const range = ranges[index]
  if (range !== undefined && range[0] <= height) return height
  if (!descending) return range?.[0] ?? null
  return ranges[index - 1]?.[1] ?? null
}

/** Index of the first range that ends at or above a height. */
function firstEndingAt(ranges: HeightRanges, height: number): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ranges[middle]?.[1] ?? 0) < height) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether a height is in the set. */
export function hasHeight(ranges: HeightRanges, height: number): boolean {
  const range = ranges[firstEndingAt(ranges, height)]
  return range !== undefined && range[0] <= height
}

/** The ranges with `from` to `to` added. */
export function addHeights(ranges: HeightRanges, from: number, to: number = from): HeightRanges {
  const before = firstEndingAt(ranges, from - 1)
  let after = before
  let [low, high] = [from, to]
  for (let range = ranges[after]; range && range[0] <= to + 1; range = ranges[++after]) {
    low = Math.min(low, range[0])
    high = Math.max(high, range[1])
  }
  return [...ranges.slice(0, before), [low, high], ...ranges.slice(after)]
}

/** The ranges without `from` to `to`. */
export function removeHeights(ranges: HeightRanges, from: number, to: number = from): HeightRanges {
  return ranges.flatMap((range): HeightRange[] => {
    const [low, high] = range
    if (high < from || low > to) return [range]
    const below: HeightRange[] = low < from ? [[low, from - 1]] : []
    return high > to ? [...below, [to + 1, high]] : below
  })
}

/** The heights of `ranges` that are not in `others`. */
export function subtractHeights(ranges: HeightRanges, others: HeightRanges): HeightRanges {
  const left: HeightRange[] = []
  for (const [from, to] of ranges) {
    let low = from
    for (const [without, end] of clipHeights(others, from, to)) {
      if (without > low) left.push([low, without - 1])
      low = end + 1
    }
    if (low <= to) left.push([low, to])
  }
  return left
}

/** What of the ranges lies within `from` to `to`. */
export function clipHeights(ranges: HeightRanges, from: number, to: number): HeightRanges {
  const clipped: HeightRange[] = []
  let index = firstEndingAt(ranges, from)
  for (let range = ranges[index]; range && range[0] <= to; range = ranges[++index])
    clipped.push([Math.max(range[0], from), Math.min(range[1], to)])
  return clipped
}

/** What lies between the ranges, lowest first, at most `limit` ranges. */
export function heightGaps(ranges: HeightRanges, limit: number): HeightRange[] {
  const gaps: HeightRange[] = []
  let before: HeightRange | undefined
  for (const range of ranges) {
    if (gaps.length === limit) break
    if (before !== undefined) gaps.push([before[1] + 1, range[0] - 1])
    before = range
  }
  return gaps
}

/** Number of heights in the set. */
export function countHeights(ranges: HeightRanges): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
}

/** Every height, one at a time. */
export function* eachHeight(ranges: HeightRanges, descending = false): Generator<number> {
  for (const [from, to] of descending ? ranges.toReversed() : ranges) {
    if (descending) for (let height = to; height >= from; height--) yield height
    else for (let height = from; height <= to; height++) yield height
  }
}

/** The numbers of the spans of `size` heights that the ranges touch, each once. */
export function* eachSpan(
  ranges: HeightRanges,
  size: number,
  descending = false,
): Generator<number> {
  let last = -1
  for (const [from, to] of descending ? ranges.toReversed() : ranges) {
    const [low, high] = [Math.floor(from / size), Math.floor(to / size)]
    for (let step = 0; step <= high - low; step++) {
      const span = descending ? high - step : low + step
      if (span !== last) yield span
      last = span
    }
  }
}

/** Lowest and highest height; null where there is none. */
export function rangeOfHeights(ranges: HeightRanges): { tail: number; head: number } | null {
  const tail = ranges[0]?.[0]
  const head = ranges.at(-1)?.[1]
  return tail === undefined || head === undefined ? null : { tail, head }
}
