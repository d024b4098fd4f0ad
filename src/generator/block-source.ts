/** Sealed blocks as peers get them: from the store, each with its seals. */
import type { BlockSource } from '../p2p/range-server.ts'
import type { Seal } from '../primitives/seal.ts'
import { encodeSealedBlock } from '../primitives/sealed-block.ts'
import type { Snapshot, StoreReader } from '../store/store.ts'

/** Seals a message may carry; peers refuse more. */
const maxSeals = 64
/** Stored blocks at the end that may still wait for their seal. */
const maxUnsealed = 16

export interface SealedBlocks extends BlockSource {
  /** The message without the documents, for blocks too large to be gossiped. */
  sealsAlone(height: number): Uint8Array | null
}

/** A source over what the store shows at the moment of each call. */
export function createBlockSource(reader: StoreReader): SealedBlocks {
  const read = <T>(look: (snapshot: Snapshot) => T): T => {
    const snapshot = reader.snapshot()
    try {
      return look(snapshot)
    } finally {
      snapshot.release()
    }
  }
  return {
    range: () => read(sealedRange),
    sealedBlock: (height) =>
      read((snapshot) => {
        const seals = sealsOf(snapshot, height)
        const body = seals.length === 0 ? undefined : snapshot.body(height)
        return body === undefined ? null : encodeSealedBlock(seals, body)
      }),
    sealsAlone: (height) =>
      read((snapshot) => {
        const seals = sealsOf(snapshot, height)
        return seals.length === 0 ? null : encodeSealedBlock(seals, null)
      }),
  }
}

/** Heights up to the last sealed one: the block after it may be stored a moment before its seal. */
function sealedRange(snapshot: Snapshot): { tail: number; head: number } | null {
  const range = snapshot.range()
  if (range === null) return null
  const lowest = Math.max(range.tail, range.head - maxUnsealed)
  for (let head = range.head; head >= lowest; head--)
    if (sealsOf(snapshot, head).length > 0) return { tail: range.tail, head }
  return null
}

/** The seals over the stored block, not those of other branches at its height. */
function sealsOf(snapshot: Snapshot, height: number): Seal[] {
  const header = snapshot.header(height)
  return snapshot
    .seals(height)
    .filter(({ blockHash, merkleRoot }) => {
      return blockHash === header?.hash && merkleRoot === header.root
    })
    .slice(0, maxSeals)
}
