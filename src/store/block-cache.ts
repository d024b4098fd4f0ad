/**
 * What readers keep of blocks they have opened: body headers with the pieces read so far, and
 * unpacked chunks. Both go by the serial number of the block as it was put, so that another block at
 * the same height, or the same one put again, never shows rows of the former.
 */
import { LRUCache } from 'lru-cache'
import { type Body, openBody } from '../primitives/body.ts'
import { type BodyHeader, parseHeader } from '../primitives/body-header.ts'
import type { Chunk } from '../primitives/chunk.ts'
import { blockSections, type Section } from '../primitives/collections.ts'
import { pieceBytes, pieceCount, type StoredHeader } from './layout.ts'
import type { ReaderMetrics } from './metrics.ts'

/** A body of which only some pieces are in memory. */
export interface OpenedBody {
  readonly body: Body
  readonly places: BodyHeader['chunks']
  /** As long as the body; zero where no piece has been read. */
  readonly bytes: Buffer
  /** 1 for each piece that has been read. */
  readonly pieces: Uint8Array
}

/** Copies a piece of a body to its place. */
export type ReadPiece = (piece: number, target: Uint8Array, at: number) => void

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

/** Part of the cache that holds bodies; the rest holds unpacked chunks. */
const bodyShare = 0.25
/** Memory that a cached thing takes beside its bytes, roughly. */
const overheadBytes = 1024
const codesPerBlock = 2 ** 18

/** A cache of at most `maxBytes`. */
export function createBlockCache(maxBytes: number, metrics: ReaderMetrics | undefined): BlockCache {
  const bodies = new LRUCache<number, OpenedBody>({ maxSize: Math.ceil(maxBytes * bodyShare) })
  const chunks = new LRUCache<number, Chunk>({ maxSize: Math.ceil(maxBytes * (1 - bodyShare)) })

  const open = (stored: StoredHeader, readPiece: ReadPiece): OpenedBody => {
    const known = bodies.get(stored.serial)
    metrics?.cacheReads.inc({ cache: 'bodies', result: known === undefined ? 'miss' : 'hit' })
    if (known !== undefined) return known
    const opened = readBodyHead(stored, readPiece)
    bodies.set(stored.serial, opened, { size: stored.header.bodyBytes + overheadBytes })
    return opened
  }

  const chunk: BlockCache['chunk'] = (stored, opened, section, index, readPiece) => {
    const key = stored.serial * codesPerBlock + (blockSections.indexOf(section) << 16) + index
    const known = chunks.get(key)
    metrics?.cacheReads.inc({ cache: 'chunks', result: known === undefined ? 'miss' : 'hit' })
    if (known !== undefined) return known
    const place = opened.places[section][index]
    if (place !== undefined) {
      readPieces(opened, place.start, place.start + place.storedBytes, readPiece)
    }
    const unpacked = opened.body.openChunk(section, index)
    chunks.set(key, unpacked, { size: unpacked.rawBytes + overheadBytes })
    return unpacked
  }

  return { open, chunk }
}

function readBodyHead(stored: StoredHeader, readPiece: ReadPiece): OpenedBody {
  const { bodyBytes } = stored.header
  const bytes = Buffer.from(new ArrayBuffer(bodyBytes))
  const pieces = new Uint8Array(pieceCount(bodyBytes))
  readPieces({ bytes, pieces }, 0, stored.headBytes, readPiece)
  const { chunks } = parseHeader(bytes, Number.POSITIVE_INFINITY)
  const body = openBody(bytes, { maxRawBytes: Number.POSITIVE_INFINITY })
  return { body, places: chunks, bytes, pieces }
}

/** Reads the pieces that hold `start` to `end` and are not there yet. */
function readPieces(
  opened: Pick<OpenedBody, 'bytes' | 'pieces'>,
  start: number,
  end: number,
  readPiece: ReadPiece,
): void {
  for (let piece = Math.floor(start / pieceBytes); piece * pieceBytes < end; piece++) {
    if (opened.pieces[piece] === 1) continue
    readPiece(piece, opened.bytes, piece * pieceBytes)
    opened.pieces[piece] = 1
  }
}
