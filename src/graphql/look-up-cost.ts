/**
 * What looking values up in the store's index takes, in documents looked at, and when it takes more
 * than going through all documents.
 */
import type { Session } from './block-view.ts'

/** Blocks whose values lie together in the index. */
const spanBlocks = 64
/** A look-up, and each span that it has to go to. */
const lookUpDocuments = 6
const spanDocuments = 2
/** Spans that are reckoned with; where blocks are missing there are fewer than the heights say. */
const maxSpans = 512

/** First and last height. */
export type Bounds = readonly [from: number, to: number]

/** What looking one value up takes. */
export function lookUpCost([from, to]: Bounds): number {
  const spans = Math.min(maxSpans, Math.floor(to / spanBlocks) - Math.floor(from / spanBlocks) + 1)
  return lookUpDocuments + spanDocuments * spans
}

/** True when there are fewer documents than so many look-ups take. */
export async function isScanCheaper(
  { snapshot, work }: Session,
  bounds: Bounds,
  lookUps: number,
): Promise<boolean> {
  const limit = lookUps * lookUpCost(bounds)
  let documents = 0
  for (const height of snapshot.heights(bounds[0], bounds[1], false)) {
    documents += snapshot.header(height)?.count ?? 0
    if (documents >= limit) return false
    if (work.isDue()) await work.turn()
  }
  return true
}
