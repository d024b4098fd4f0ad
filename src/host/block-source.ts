/** Serves stored blocks to peers that pull them: the body as it came, with every seal on it. */
import type { BlockSource } from '../p2p/range-server.ts'
import { encodeSealedBlock } from '../primitives/sealed-block.ts'
import type { Snapshot, StoreReader } from '../store/store.ts'

/** Seals a message may carry; peers refuse more. */
const maxSeals = 64

/** A source over what the store shows at the moment of each call. */
export function createBlockSource(reader: StoreReader): BlockSource {
  const read = <T>(look: (snapshot: Snapshot) => T): T => {
    const snapshot = reader.snapshot()
    try {
      return look(snapshot)
    } finally {
      snapshot.release()
    }
  }
  return {
    range: () => read((snapshot) => snapshot.range()),
    sealedBlock: (height) => read((snapshot) => sealedBlock(snapshot, height)),
  }
}

function sealedBlock(snapshot: Snapshot, height: number): Uint8Array | null {
  const header = snapshot.header(height)
  const body = snapshot.body(height)
  if (header === undefined || body === undefined) return null
  const seals = snapshot
    .seals(height)
    .filter(({ blockHash, merkleRoot }) => blockHash === header.hash && merkleRoot === header.root)
  return seals.length === 0 ? null : encodeSealedBlock(seals.slice(0, maxSeals), body)
}
