/**
 * Which heights are compared with a peer at a time: the newest page every time, because votes come in there,
 * and some of the older ones in turn, so that all are compared sooner or later.
 */
import type { Heights } from '../../mesh/vote-groups.ts'
import { groupHeights, groupOf } from '../../primitives/vote-exchange.ts'

/** Older pages to compare: so many from this one on, 0 being the one below the newest. */
export interface OlderPages {
  readonly first: number
  readonly count: number
}

/** Heights of a page: as many digests as one answer may hold for the most signers. */
export const pageHeights: number = 16 * groupHeights

/** The newest page of a range, and older ones, beginning again at the newest of these where they end. */
export function votePages({ from, to }: Heights, { first, count }: OlderPages): Heights[] {
  const end = (groupOf(to) + 1) * groupHeights - 1
  const older = Math.ceil((end - from + 1) / pageHeights) - 1
  const indexes = Array.from({ length: Math.min(count, older) }, (_, index) => {
    return 1 + ((first + index) % older)
  })
  return [0, ...indexes].map((index) => {
    const last = end - index * pageHeights
    return { from: Math.max(from, last - pageHeights + 1), to: Math.min(to, last) }
  })
}
