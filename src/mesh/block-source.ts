/** Sealed blocks as peers get them: from the store, each with its seals. */
import { type BlockSource, firstHeights } from '../p2p/range/range-server.ts'
import type { Snapshot, StoreReader } from '../store/store.ts'
import { createSealedBlocks, type SealedBlocks, sealsOver } from './sealed-blocks.ts'

/** Stored blocks at the end that may still wait for their seal. */
const maxUnsealed = 16

/** A source over what the store shows at the moment of each call. */
export function createBlockSource(reader: StoreReader): BlockSource & SealedBlocks {
  return {
    ...createSealedBlocks(reader),
    range: () => reader.read(sealedRange),
    heights: (from, to, limit) =>
      reader.read((snapshot) => firstHeights(snapshot.heights(from, to, false), limit)),
  }
}

/** Heights up to the last sealed one: the block after it may be stored a moment before its seal. */
function sealedRange(snapshot: Snapshot): { tail: number; head: number } | null {
  const range = snapshot.range()
  if (range === null) return null
  const lowest = Math.max(range.tail, range.head - maxUnsealed)
  for (let head = range.head; head >= lowest; head--)
    if (sealsOver(snapshot, head).length > 0) return { tail: range.tail, head }
  return null
}
