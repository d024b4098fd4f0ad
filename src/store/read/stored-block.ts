/** A stored block whose chunks are read, unpacked and cached as they are asked for. */
import type { StoredHeader } from '../disk/layout.ts'
import type { StoredBlock } from '../store.ts'
import type { BlockCache } from './block-cache.ts'
import type { ReadPiece } from './stored-pieces.ts'

/** Opens a block's body header; chunks follow when they are needed. */
export function openStoredBlock(
  stored: StoredHeader,
  cache: BlockCache,
  readPiece: ReadPiece,
): StoredBlock {
  const opened = cache.open(stored, readPiece)
  return {
    ...opened.layout,
    header: stored.header,
    openChunk: (section, chunk) => cache.chunk(stored, opened, section, chunk, readPiece),
  }
}
