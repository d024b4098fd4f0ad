/** Sets of heights as ascending ranges that neither overlap nor touch; both ends are included. */

export type HeightRange = readonly [from: number, to: number]
export type HeightRanges = readonly HeightRange[]

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

export function hasHeight(ranges: HeightRanges, height: number): boolean {
  const range = ranges[firstEndingAt(ranges, height)]
  return range !== undefined && range[0] <= height
}

/** The ranges with `from` to `to` added. */
export function addHeights(ranges: HeightRanges, from: number, to: number = from): HeightRanges {
  const before = firstEndingAt(ranges, from - 1)
  let after = before
  let [low, high] = [from, to]
  for (; after < ranges.length; after++) {
    const range = ranges[after]
    if (range === undefined || range[0] > to + 1) break
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

/** What of the ranges lies within `from` to `to`. */
export function clipHeights(ranges: HeightRanges, from: number, to: number): HeightRanges {
  const clipped: HeightRange[] = []
  for (let index = firstEndingAt(ranges, from); index < ranges.length; index++) {
    const range = ranges[index]
    if (range === undefined || range[0] > to) break
    clipped.push([Math.max(range[0], from), Math.min(range[1], to)])
  }
  return clipped
}

/** What lies between the ranges, lowest first, at most `limit` ranges. */
export function heightGaps(ranges: HeightRanges, limit: number): HeightRange[] {
  const gaps: HeightRange[] = []
  for (let index = 1; index < ranges.length && gaps.length < limit; index++) {
    gaps.push([(ranges[index - 1]?.[1] ?? 0) + 1, (ranges[index]?.[0] ?? 0) - 1])
  }
  return gaps
}

export function countHeights(ranges: HeightRanges): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
}

/** Every height, one at a time. */
export function* eachHeight(ranges: HeightRanges, descending = false): Generator<number> {
  for (let index = 0; index < ranges.length; index++) {
    const range = ranges[descending ? ranges.length - 1 - index : index]
    if (range === undefined) return
    const [from, to] = range
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
  for (let index = 0; index < ranges.length; index++) {
    const range = ranges[descending ? ranges.length - 1 - index : index]
    if (range === undefined) return
    const [low, high] = [Math.floor(range[0] / size), Math.floor(range[1] / size)]
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
