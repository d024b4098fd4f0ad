/** Stored blocks in the form in which they travel: the body as it is stored, with the seals over it. */
import type { Seal } from '../primitives/seal.ts'
import { encodeSealedBlock } from '../primitives/sealed-block.ts'
import type { Snapshot, StoreReader } from '../store/store.ts'

export interface SealedBlocks {
  /** The message of a block; null where there is none, or no seal over it. */
  sealedBlock(height: number): Uint8Array | null
  /** The message without the documents, for blocks too large to be gossiped. */
  sealsAlone(height: number): Uint8Array | null
}

/** Seals a message may carry; peers refuse more. */
const maxSeals = 64

/** Messages of what the store shows at the moment of each call. */
export function createSealedBlocks(reader: StoreReader): SealedBlocks {
  return {
    sealedBlock: (height) =>
      reader.read((snapshot) => {
        const seals = sealsOver(snapshot, height)
        const body = seals.length === 0 ? undefined : snapshot.body(height)
        return body === undefined ? null : encodeSealedBlock(seals, body)
      }),
    sealsAlone: (height) =>
      reader.read((snapshot) => {
        const seals = sealsOver(snapshot, height)
        return seals.length === 0 ? null : encodeSealedBlock(seals, null)
      }),
  }
}

/** The seals over the stored block, not those of other branches at its height. */
export function sealsOver(snapshot: Snapshot, height: number): Seal[] {
  const header = snapshot.header(height)
  return snapshot
    .seals(height)
    .filter(({ blockHash, merkleRoot }) => {
      return blockHash === header?.hash && merkleRoot === header.root
    })
    .slice(0, maxSeals)
}

/** When the newest block was sealed, in milliseconds since 1970, as its seal says; null without one. */
export function newestSealMs(snapshot: Snapshot): number | null {
  const range = snapshot.range()
  const seal = range === null ? undefined : snapshot.seals(range.head)[0]
  return seal === undefined ? null : Date.parse(seal.createdAt)
}
