/**
 * The cache of opened blocks: parsed body headers and unpacked chunks. Both are keyed by the serial
 * number of the block as it was put, so that another block at the same height, or the same one put
 * again, never shows rows of the former.
 */
import { LRUCache } from 'lru-cache'
import { type BodyLayout, layoutOf } from '../../primitives/body/body.ts'
import { type ChunkEntry, parseHeader } from '../../primitives/body/body-header.ts'
import { type Chunk, unpackChunk } from '../../primitives/body/chunk.ts'
import { blockSections, type Section } from '../../primitives/collections.ts'
import type { StoredHeader } from '../disk/layout.ts'
import type { CacheReads } from '../disk/metrics.ts'
import { copyPieces, type ReadPiece } from './stored-pieces.ts'

/** A body without its chunks. */
interface OpenedBody {
  readonly layout: BodyLayout
  readonly places: Readonly<Record<Section, readonly ChunkEntry[]>>
}

export interface BlockCache {
  open(stored: StoredHeader, readPiece: ReadPiece): OpenedBody
  chunk(
    stored: StoredHeader,
    opened: OpenedBody,
    section: Section,
    chunk: number,
    readPiece: ReadPiece,
  ): Chunk
}

/** Part of the cache that holds body headers; the rest holds unpacked chunks. */
const headerShare = 0.125
/** Memory that a cached thing takes beside its bytes, roughly. */
const overheadBytes = 1024
/** Memory of a parsed header for each of its bytes, roughly. */
const parsedFactor = 12
const chunksPerBlock = 2 ** 18

/** A cache of at most `maxBytes`. */
export function createBlockCache(maxBytes: number, reads: CacheReads): BlockCache {
  const bodies = new LRUCache<number, OpenedBody>({ maxSize: Math.ceil(maxBytes * headerShare) })
  const chunks = new LRUCache<number, Chunk>({ maxSize: Math.ceil(maxBytes * (1 - headerShare)) })

  const open = (stored: StoredHeader, readPiece: ReadPiece): OpenedBody => {
    const known = bodies.get(stored.serial)
    if (known !== undefined) {
      reads.bodies.hits++
      return known
    }
    reads.bodies.misses++
    const head = copyPieces(readPiece, 0, stored.headBytes)
    const header = parseHeader(head, Number.POSITIVE_INFINITY, stored.header.bodyBytes)
    const opened = { layout: layoutOf(header), places: header.chunks }
    bodies.set(stored.serial, opened, { size: overheadBytes + stored.headBytes * parsedFactor })
    return opened
  }

  const chunk: BlockCache['chunk'] = (stored, opened, section, index, readPiece) => {
    const key = stored.serial * chunksPerBlock + (blockSections.indexOf(section) << 16) + index
    const known = chunks.get(key)
    if (known !== undefined) {
      reads.chunks.hits++
      return known
    }
    reads.chunks.misses++
    const unpacked = readChunk(opened, section, index, readPiece)
    chunks.set(key, unpacked, { size: unpacked.rawBytes + overheadBytes })
    return unpacked
  }

  return { open, chunk }
}

function readChunk(
  opened: OpenedBody,
  section: Section,
  index: number,
  readPiece: ReadPiece,
): Chunk {
  const place = opened.places[section][index]
  if (place === undefined) throw new RangeError(`the block has no chunk ${index} of ${section}`)
  const bytes = copyPieces(readPiece, place.start, place.storedBytes)
  return unpackChunk(bytes, { ...place, start: 0 })
}
