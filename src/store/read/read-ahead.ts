/**
 * Read-ahead: after a start most queries read the newest blocks, so a reader unpacks them into its cache
 * first, one in each turn of the event loop.
 */
import { blockSections } from '../../primitives/collections.ts'
import type { Snapshot, StoredBlock, StoreReader } from '../store.ts'

/** Blocks that are unpacked at most. */
const aheadBlocks = 64

/**
 * Unpacks the newest blocks, up to `maxBytes`. A failure ends it and is reported to `onFailure`; a read
 * of that block fails as well. Returns the function that stops it.
 */
export function startReadAhead(
  reader: Pick<StoreReader, 'read'>,
  maxBytes: number,
  onFailure: (cause: unknown) => void,
): () => void {
  let below = Number.MAX_SAFE_INTEGER
  let left = maxBytes
  let blocks = 0

  const unpackNext = (snapshot: Snapshot): boolean => {
    const block = nextBelow(snapshot, below)
    if (block === undefined) return false
    below = block.header.number
    left -= unpackAll(block)
    return left > 0 && ++blocks < aheadBlocks
  }
  const step = (): void => {
    try {
      if (reader.read(unpackNext)) next = setImmediate(step).unref()
    } catch (cause) {
      onFailure(cause)
    }
  }
  let next = setImmediate(step).unref()
  return () => clearImmediate(next)
}

function nextBelow(snapshot: Snapshot, height: number): StoredBlock | undefined {
  const [newest] = snapshot.heights(0, height - 1, true)
  return newest === undefined ? undefined : snapshot.block(newest)
}

/** Returns the number of bytes unpacked. */
function unpackAll(block: StoredBlock): number {
  let bytes = 0
  for (const section of blockSections) {
    for (let chunk = 0; chunk < block.chunkCount(section); chunk++) {
      bytes += block.openChunk(section, chunk).rawBytes
    }
  }
  return bytes
}
