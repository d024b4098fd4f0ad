/**
 * The cost of lookups in the store's index, in documents read, and when a scan of all documents costs
 * less.
 */
import type { SeenBlocks } from '../../store/store.ts'
import type { Session } from '../rows/block-view.ts'

/** Blocks whose values lie together in the index. */
const spanBlocks = 64
/** A lookup, and each span that it has to read. */
const lookupDocuments = 6
const spanDocuments = 2
/** Spans that are counted at most; where blocks are missing there are fewer than the heights say. */
const maxSpans = 512

/** What finding a block by its hash takes, in documents. */
export const hashCost = 8

/** First and last height. */
export type Bounds = readonly [from: number, to: number]

/** The cost of one lookup. */
export function lookupCost([from, to]: Bounds): number {
  const spans = Math.min(maxSpans, Math.floor(to / spanBlocks) - Math.floor(from / spanBlocks) + 1)
  return lookupDocuments + spanDocuments * spans
}

/** Whether there are fewer documents than so many lookups cost. */
export async function isScanCheaper(
  { session: { budget }, blocks }: { readonly session: Session; readonly blocks: SeenBlocks },
  bounds: Bounds,
  lookups: number,
): Promise<boolean> {
  const limit = lookups * lookupCost(bounds)
  let documents = 0
  for (const height of blocks.heights(bounds[0], bounds[1], false)) {
    documents += blocks.header(height)?.count ?? 0
    if (documents >= limit) return false
    if (budget.shouldYield()) await budget.yieldThread()
  }
  return true
}

/** Counts what a lookup takes, and lets other requests run where it is their turn. */
export async function charge({ budget }: Session, documents: number): Promise<void> {
  budget.countDocuments(documents)
  if (budget.shouldYield()) await budget.yieldThread()
}
