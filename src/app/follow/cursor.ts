/** What an application has of a View, as the places by which a Host finds where to go on. */
import { followLimits } from '../../follow/follow-limits.ts'
import type { FollowedBlock } from '../../follow/open-frames.ts'
import { clipHeights, type HeightRanges, uniteHeights } from '../../primitives/height-ranges.ts'
import type { SeenBlocks, Snapshot } from '../../store/store.ts'

/** Newest blocks that a cursor names one by one, since most reorganisations are short. */
const nearBlocks = 32

interface DoneBlocks extends Pick<Snapshot, 'viewRanges' | 'viewFailures'> {
  readonly rowBlocks: Pick<SeenBlocks, 'header'>
}

/**
 * Blocks below a height that a View is done with, newest first: the last ones, then some farther and farther below, so that a Host that
 * followed another branch finds one that both have.
 */
export function followCursor(
  snapshot: DoneBlocks,
  slot: number,
  below: number = Number.MAX_SAFE_INTEGER,
): FollowedBlock[] {
  const all = uniteHeights([...snapshot.viewRanges(slot), ...snapshot.viewFailures(slot)])
  const newestFirst = clipHeights(all, 0, below - 1).toReversed()
  const places: FollowedBlock[] = []
  let newer = 0
  while (places.length < followLimits.cursorBlocks) {
    const number = heightAfter(newestFirst, newer)
    if (number === null) break
    const hash = snapshot.rowBlocks.header(number)?.hash
    if (hash !== undefined) places.push({ number, hash })
    newer += 1
    if (newer >= nearBlocks) newer *= 2
  }
  return places
}

/** The height that so many heights of the ranges, which descend, are above; null where there are no more. */
function heightAfter(newestFirst: HeightRanges, newer: number): number | null {
  let left = newer
  for (const [from, to] of newestFirst) {
    if (left <= to - from) return to - left
    left -= to - from + 1
  }
  return null
}
