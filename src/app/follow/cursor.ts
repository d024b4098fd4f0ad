/** What an application has of a View, as the places by which a Host finds where to go on. */
import { followLimits } from '../../follow/follow-limits.ts'
import type { FollowedBlock } from '../../follow/open-frames.ts'
import { clipHeights, eachHeight, uniteHeights } from '../../primitives/height-ranges.ts'
import type { Snapshot } from '../../store/store.ts'

/** Newest blocks that a cursor names one by one, since most reorganisations are short. */
const nearBlocks = 32

/**
 * Blocks below a height that a View is done with, newest first: the last ones, then some farther and farther below, so that a Host that
 * followed another branch finds one that both have.
 */
export function followCursor(
  snapshot: Snapshot,
  slot: number,
  below: number = Number.MAX_SAFE_INTEGER,
): FollowedBlock[] {
  const all = uniteHeights([...snapshot.viewRanges(slot), ...snapshot.viewFailures(slot)])
  const done = clipHeights(all, 0, below - 1)
  const places: FollowedBlock[] = []
  let wantedAt = 0
  let seen = 0
  for (const number of eachHeight(done, true)) {
    if (places.length === followLimits.cursorBlocks) break
    if (seen++ < wantedAt) continue
    const hash = snapshot.rowBlocks.header(number)?.hash
    if (hash !== undefined) places.push({ number, hash })
    wantedAt = seen < nearBlocks ? seen : seen * 2
  }
  return places
}
