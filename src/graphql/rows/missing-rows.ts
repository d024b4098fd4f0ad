/** Which stored blocks the Views of a request have no rows of, because they were not computed yet or failed. */
import {
  type HeightRanges,
  intersectHeights,
  subtractHeights,
} from '../../primitives/height-ranges.ts'
import type { Snapshot } from '../../store/store.ts'

/** Stored blocks without the rows of a View. */
interface MissingBlocks {
  readonly notDone: HeightRanges
  readonly failed: HeightRanges
}

/** What the Views of one request lack; worked out once for each View. */
export interface MissingRows {
  /** Of all stored blocks, by the slot of the View. */
  of(slot: number): MissingBlocks
}

/** Nothing is read before a View is asked about. */
export function createMissingRows(snapshot: Snapshot): MissingRows {
  const known = new Map<number, MissingBlocks>()
  return {
    of(slot) {
      const blocks = known.get(slot) ?? missingOf(snapshot, slot)
      known.set(slot, blocks)
      return blocks
    },
  }
}

function missingOf(snapshot: Snapshot, slot: number): MissingBlocks {
  const range = snapshot.range()
  if (range === null) return { notDone: [], failed: [] }
  const done = snapshot.viewRanges(slot)
  const undone = subtractHeights([[range.tail, range.head]], done)
  if (undone.length === 0) return { notDone: [], failed: [] }
  const gaps = snapshot.gaps(Infinity).map(({ from, to }) => [from, to] as const)
  const missing = subtractHeights(undone, gaps)
  const failures = snapshot.viewFailures(slot)
  return {
    notDone: subtractHeights(missing, failures),
    failed: intersectHeights(missing, failures),
  }
}
