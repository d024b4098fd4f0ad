/** Arithmetic of height ranges, both ends included. */

export interface HeightRange {
  readonly from: number
  readonly to: number
}

/** What of `range` is in none of `taken`, ascending. `taken` may overlap and come in any order. */
export function subtractRanges(range: HeightRange, taken: readonly HeightRange[]): HeightRange[] {
  const left: HeightRange[] = []
  let from = range.from
  for (const hole of [...taken].sort((a, b) => a.from - b.from)) {
    if (hole.to < from) continue
    if (hole.from > range.to) break
    if (hole.from > from) left.push({ from, to: hole.from - 1 })
    from = hole.to + 1
  }
  if (from <= range.to) left.push({ from, to: range.to })
  return left
}
