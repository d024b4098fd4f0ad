/** The blocks that Views may have rows of, as one snapshot shows them. */
import {
  countHeights,
  eachHeight,
  type HeightRanges,
  subtractHeights,
} from '../../../primitives/height-ranges.ts'
import type { Snapshot, ViewsDone } from '../../../store/store.ts'

/** What Views look at for work. */
export interface VisibleBlocks {
  readonly heights: HeightRanges
  /** As in `Snapshot`. */
  readonly epoch: number
  /** What changed since a View saw other heights of the same epoch. */
  since(before: HeightRanges): NewlyVisible
}

interface NewlyVisible {
  /** Heights that have become visible. */
  readonly heights: HeightRanges
  /** Slots of Views that are known to be done with all of them. */
  readonly done: ReadonlySet<number>
}

/** Heights of gaps that are looked at. */
const maxGaps = 10_000

/** Heights of the blocks that a snapshot shows. */
export function visibleHeights(snapshot: Snapshot): HeightRanges {
  const range = snapshot.range()
  if (range === null) return []
  const gaps = snapshot.gaps(maxGaps).map(({ from, to }) => [from, to] as const)
  return subtractHeights([[range.tail, range.head]], gaps)
}

/**
 * The blocks that a snapshot shows, for many Views that mostly saw the same before. Of what the writer reported only what
 * is of the same epoch counts: the others may be gone.
 */
export function readVisible(
  snapshot: Snapshot,
  reported: readonly ViewsDone[] = [],
): VisibleBlocks {
  const heights = visibleHeights(snapshot)
  const { epoch } = snapshot
  const slotsAt = new Map(
    reported.flatMap((each) => (each.epoch === epoch ? [[each.height, each.slots]] : [])),
  )
  let last: (NewlyVisible & { readonly before: HeightRanges }) | null = null
  return {
    heights,
    epoch,
    since: (before) => {
      if (last?.before === before) return last
      const fresh = subtractHeights(heights, before)
      last = { before, heights: fresh, done: doneWithAll(fresh, slotsAt) }
      return last
    },
  }
}

function doneWithAll(
  heights: HeightRanges,
  slotsAt: ReadonlyMap<number, readonly number[]>,
): ReadonlySet<number> {
  if (countHeights(heights) > slotsAt.size) return new Set()
  const [first = [], ...others] = [...eachHeight(heights)].map(
    (height) => new Set(slotsAt.get(height)),
  )
  return new Set([...first].filter((slot) => others.every((slots) => slots.has(slot))))
}
