/** What following a block means for the stored chain: which blocks come, and which have to go. */
import { type BlockRef, footOf, type KnownBlocks, pathTo } from './block-ref.ts'

export interface Replacement {
  /** The blocks to store, ascending. */
  readonly path: readonly BlockRef[]
  /** Heights of the stored blocks that contradict the path, the lowest and the highest; null without any. */
  readonly conflict: Conflict | null
}

export interface Conflict {
  readonly from: number
  readonly to: number
  /** How many blocks are stored there. */
  readonly depth: number
}

/** Null where the block is stored, or not linked. */
export function replacementFor(blocks: KnownBlocks, target: BlockRef): Replacement | null {
  const { base, isLinked } = footOf(blocks, target)
  const path = isLinked ? pathTo(blocks, target) : []
  const [lowest] = path
  if (lowest === undefined) return null
  // Without a stored block below it, a root contradicts what is stored in its parent's place.
  const from = base === null ? Math.max(0, lowest.number - 1) : lowest.number
  return { path, conflict: conflictFrom(blocks, from, target) }
}

/** The stored blocks from a height on that contradict a block or what it stands on. */
export function conflictFrom(blocks: KnownBlocks, from: number, target: BlockRef): Conflict | null {
  const heights: number[] = []
  for (let height = from; ; height++) {
    const stored = blocks.stored(height)
    if (height > target.number && (stored === undefined || stored.parentHash === target.hash)) break
    if (stored !== undefined) heights.push(height)
  }
  const [first] = heights
  const last = heights.at(-1)
  if (first === undefined || last === undefined) return null
  return { from: first, to: last, depth: heights.length }
}
