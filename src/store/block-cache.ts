/**
 * What readers keep of blocks they have opened: parsed body headers and unpacked chunks. Both go by
 * the serial number of the block as it was put, so that another block at the same height, or the
 * same one put again, never shows rows of the former.
 */
import { LRUCache } from 'lru-cache'
import { type Body, openBody } from '../primitives/body.ts'
import { type BodyHeader, type ChunkEntry, parseHeader } from '../primitives/body-header.ts'
import { type Chunk, unpackChunk } from '../primitives/chunk.ts'
import { blockSections, type Section } from '../primitives/collections.ts'
import { pieceBytes, type StoredHeader } from './layout.ts'
import type { ReaderMetrics } from './metrics.ts'

/** A body without its chunks. */
export interface OpenedBody {
  readonly body: Omit<Body, 'openChunk'>
  readonly places: BodyHeader['chunks']
}

/** Answers a piece of a body; valid until the next call. */
export type ReadPiece = (piece: number) => Uint8Array

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
const scratchBytes = 1024 * 1024

/** A cache of at most `maxBytes`. */
export function createBlockCache(maxBytes: number, metrics: ReaderMetrics | undefined): BlockCache {
  const bodies = new LRUCache<number, OpenedBody>({ maxSize: Math.ceil(maxBytes * headerShare) })
  const chunks = new LRUCache<number, Chunk>({ maxSize: Math.ceil(maxBytes * (1 - headerShare)) })
  // A body's header is parsed within a body of the right length, of which only the header is read.
  const scratch = Buffer.alloc(scratchBytes)

  const open = (stored: StoredHeader, readPiece: ReadPiece): OpenedBody => {
    const known = bodies.get(stored.serial)
    metrics?.cacheReads.inc({ cache: 'bodies', result: known === undefined ? 'miss' : 'hit' })
    if (known !== undefined) return known
    const { bodyBytes } = stored.header
    const isLarge = bodyBytes > scratch.length
    const bytes = isLarge ? Buffer.alloc(bodyBytes) : scratch.subarray(0, bodyBytes)
    copyRange(readPiece, 0, bytes.subarray(0, stored.headBytes))
    const { chunks: places } = parseHeader(bytes, Number.POSITIVE_INFINITY)
    const opened = { body: openBody(bytes, { maxRawBytes: Number.POSITIVE_INFINITY }), places }
    const size = overheadBytes + stored.headBytes * parsedFactor + (isLarge ? bodyBytes : 0)
    bodies.set(stored.serial, opened, { size })
    return opened
  }

  const chunk: BlockCache['chunk'] = (stored, opened, section, index, readPiece) => {
    const key = stored.serial * chunksPerBlock + (blockSections.indexOf(section) << 16) + index
    const known = chunks.get(key)
    metrics?.cacheReads.inc({ cache: 'chunks', result: known === undefined ? 'miss' : 'hit' })
    if (known !== undefined) return known
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
  const place: ChunkEntry | undefined = opened.places[section][index]
  if (place === undefined) throw new RangeError(`the block has no chunk ${index} of ${section}`)
  const bytes = Buffer.allocUnsafe(place.storedBytes)
  copyRange(readPiece, place.start, bytes)
  return unpackChunk(bytes, { ...place, start: 0 })
}

/** Fills `target` with the body's bytes from `start` on. */
function copyRange(readPiece: ReadPiece, start: number, target: Uint8Array): void {
  let at = 0
  while (at < target.length) {
    const piece = Math.floor((start + at) / pieceBytes)
    const from = start + at - piece * pieceBytes
    const length = Math.min(pieceBytes - from, target.length - at)
    target.set(readPiece(piece).subarray(from, from + length), at)
    at += length
  }
}
