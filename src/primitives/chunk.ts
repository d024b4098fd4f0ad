/**
 * Chunks: up to 64 neighbouring documents of one section, compressed together, so that one document
 * is read without unpacking the block. Raw form: for each document the length of its values bytes
 * (four bytes, lowest first), then the values bytes one after the other.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { bodyMalformed, type ChunkEntry } from './body-header.ts'

/** A chunk takes no further document once its raw form has this many bytes. */
export const chunkRawBytes: number = 256 * 1024

const lengthBytes = 4
/** Level 1 never needs a larger window; a peer's frame that asks for more is refused. */
const maxWindowLog = 20
const compressOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** An opened chunk. */
export interface Chunk {
  /** Position of its first document in the section. */
  readonly first: number
  readonly length: number
  /** Memory it holds. */
  readonly rawBytes: number
  /** The values bytes of the document at this position in the section. */
  values(position: number): Uint8Array
}

/** A chunk ready to be placed in a body. */
export interface PackedChunk {
  /** Number of documents. */
  readonly length: number
  readonly rawBytes: number
  readonly stored: Uint8Array
}

/** Raw form of what was written, compressed unless that would make it larger. */
export function packChunk(lengths: readonly number[], values: Uint8Array): PackedChunk {
  const raw = Buffer.allocUnsafe(lengths.length * lengthBytes + values.length)
  for (const [index, length] of lengths.entries()) raw.writeUInt32LE(length, index * lengthBytes)
  raw.set(values, lengths.length * lengthBytes)
  const compressed = zstdCompressSync(raw, compressOptions)
  const stored = compressed.length < raw.length ? compressed : raw
  return { length: lengths.length, rawBytes: raw.length, stored }
}

/**
 * Unpacks one chunk of a body, never to more than its directory entry says.
 * @throws ServiceError `PRIMITIVES_BODY_MALFORMED`.
 */
export function unpackChunk(body: Uint8Array, entry: ChunkEntry): Chunk {
  const stored = body.subarray(entry.start, entry.start + entry.storedBytes)
  const raw = entry.storedBytes === entry.rawBytes ? stored : decompress(stored, entry.rawBytes)
  if (raw.length !== entry.rawBytes) throw bodyMalformed('a chunk unpacks to another size')
  return openRaw(raw, entry)
}

function decompress(stored: Uint8Array, rawBytes: number): Uint8Array {
  try {
    return zstdDecompressSync(stored, {
      chunkSize: Math.max(constants.Z_MIN_CHUNK, Math.min(rawBytes, chunkRawBytes)),
      maxOutputLength: rawBytes,
      params: { [constants.ZSTD_d_windowLogMax]: maxWindowLog },
    })
  } catch (cause) {
    throw bodyMalformed('a chunk does not unpack', cause)
  }
}

function openRaw(raw: Uint8Array, entry: ChunkEntry): Chunk {
  const { first, length } = entry
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
  const offsets = new Uint32Array(length + 1)
  let at = length * lengthBytes
  if (at > raw.length) throw bodyMalformed('a chunk is cut off')
  offsets[0] = at
  for (let index = 0; index < length; index++) {
    at += view.getUint32(index * lengthBytes, true)
    offsets[index + 1] = at
    if (at > raw.length) throw bodyMalformed('a chunk is cut off')
  }
  if (at !== raw.length) throw bodyMalformed('a chunk has bytes that belong to no document')
  return {
    first,
    length,
    rawBytes: raw.length,
    values: (position) => raw.subarray(offsets[position - first], offsets[position - first + 1]),
  }
}
