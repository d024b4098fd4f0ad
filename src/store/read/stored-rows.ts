/** The rows of a View's block, whose chunks are read, unpacked and cached as they are asked for. */
import { invariant } from '../../errors.ts'
import { unpackChunk } from '../../primitives/body/chunk.ts'
import { emptyRowsRoot, type RowDirectory, readRowDirectory } from '../../views/rows/rows.ts'
import { pieceBytes, pieceCount } from '../disk/layout.ts'
import type { ViewBlock } from '../disk/view-layout.ts'
import type { StoredViewRows } from '../store.ts'
import type { RowCache } from './row-cache.ts'

/** Returns a copy of `length` bytes of the packed rows from `start` on. */
type CopyRows = (start: number, length: number) => Buffer

/** Opens the directory of rows; chunks follow when they are needed. */
export function openStoredRows(
  { serial, blockHash, count, bytes, root }: ViewBlock,
  cache: RowCache,
  copy: CopyRows,
): StoredViewRows {
  const { chunks } = cache.directory(serial, () => readDirectory(bytes, copy))
  return {
    blockHash,
    count,
    root,
    chunkCount: chunks.length,
    byteLength: bytes,
    copy,
    chunkOf: (position) => chunkOf(chunks, position),
    openChunk: (index) =>
      cache.chunk(serial, index, () => {
        const place = chunks[index] ?? noChunk(index)
        return unpackChunk(copy(place.start, place.storedBytes), { ...place, start: 0 })
      }),
  }
}

/** A block that is done and has no rows. */
export function noStoredRows(blockHash: string): StoredViewRows {
  const none = { count: 0, root: emptyRowsRoot, chunkCount: 0, byteLength: 0 }
  const copy = (): Uint8Array => new Uint8Array(0)
  return { blockHash, ...none, copy, chunkOf: noChunk, openChunk: noChunk }
}

function chunkOf(chunks: RowDirectory['chunks'], position: number): number {
  let [low, high] = [0, chunks.length]
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((chunks[middle]?.first ?? 0) <= position) low = middle
    else high = middle
  }
  return low
}

function noChunk(index: number): never {
  throw new RangeError(`the rows have no chunk ${index}`)
}

/** Reads as much of the beginning as the directory takes. */
function readDirectory(bytes: number, copy: CopyRows): RowDirectory {
  for (let length = Math.min(bytes, pieceBytes); ; length = Math.min(bytes, length * 4)) {
    const directory = readRowDirectory(copy(0, length))
    if (directory !== null) return directory
    invariant(length < bytes, `packed rows of ${pieceCount(bytes)} pieces have a directory`)
  }
}
