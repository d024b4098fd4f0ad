/**
 * Chunks: up to 64 neighbouring documents of one section, compressed together, so that one document
 * is read without unpacking the block. Raw form: for each document the length of its values bytes
 * (four bytes, lowest first), then the values bytes one after the other.
 */
import { invariant } from '../../errors.ts'
import { asBuffer, type ByteWriter, reserve } from '../cbor.ts'
import { bodyMalformed, type ChunkEntry } from './body-header.ts'
import { compressFrame, decompressFrame } from './frame.ts'

const lengthBytes = 4

/** An opened chunk. */
export interface Chunk {
  /** Position of its first document in the section. */
  readonly first: number
  readonly length: number
  /** Memory it holds. */
  readonly rawBytes: number
  /** The memory its documents share. */
  readonly bytes: Buffer
  /** Where in `bytes` each document begins, and where the last one ends. */
  readonly starts: Uint32Array
  /** What its readers find out, one for the other. */
  readonly found: ChunkFindings
  /**
   * Where in `bytes` the document at this position in the section begins; for the position after
   * the last one, where that one ends.
   */
  start(position: number): number
  /** The values bytes of the document at this position in the section. */
  values(position: number): Uint8Array
}

/**
 * What a search needs to know of a chunk. It is part of it, and not in a WeakMap beside it, because V8 frees what stands
 * there only with everything else.
 */
interface ChunkFindings {
  /** Where each field of each document begins, document by document, once that is worth knowing. */
  fields: Uint32Array | null
  /** The first four bytes of a field of each document, by field, for those that are searched. */
  readonly heads: (Uint32Array | undefined)[]
  /** Fields read so far, until `fields` is known. */
  reads: number
}

/** A chunk ready to be placed in a body. */
export interface PackedChunk {
  /** Number of documents. */
  readonly length: number
  readonly rawBytes: number
  readonly stored: Uint8Array
}

/**
 * The chunk of documents whose values lie in `values`, one after the other. Its raw form is added
 * to `raw`.
 */
export function packChunk(
  lengths: readonly number[],
  values: Uint8Array,
  raw: ByteWriter,
): PackedChunk {
  const rawBytes = lengths.length * lengthBytes + values.length
  reserve(raw, rawBytes)
  const own = raw.bytes.subarray(raw.at, raw.at + rawBytes)
  raw.at += rawBytes
  for (const [index, length] of lengths.entries()) own.writeUInt32LE(length, index * lengthBytes)
  own.set(values, lengths.length * lengthBytes)
  return { length: lengths.length, rawBytes, stored: compressFrame(own) }
}

/**
 * Unpacks one chunk of a body, never to more than its directory entry says.
 * @throws ServiceError `PRIMITIVES_BODY_MALFORMED`.
 */
export function unpackChunk(body: Uint8Array, entry: ChunkEntry): Chunk {
  const stored = asBuffer(body).subarray(entry.start, entry.start + entry.storedBytes)
  const raw = decompress(stored, entry.rawBytes)
  if (raw.length !== entry.rawBytes) throw bodyMalformed('a chunk unpacks to another size')
  return openRawChunk(raw, entry)
}

function decompress(stored: Uint8Array, rawBytes: number): Buffer {
  try {
    return decompressFrame(stored, rawBytes)
  } catch (cause) {
    throw bodyMalformed('a chunk does not unpack', cause)
  }
}

/**
 * Opens the raw form of one chunk.
 * @throws ServiceError `PRIMITIVES_BODY_MALFORMED`.
 */
export function openRawChunk(bytes: Buffer, entry: ChunkEntry): Chunk {
  const { first, length } = entry
  const starts = new Uint32Array(length + 1)
  let at = length * lengthBytes
  if (at > bytes.length) throw bodyMalformed('a chunk is cut off')
  for (let index = 0; index < length; index++) {
    starts[index] = at
    at += bytes.readUInt32LE(index * lengthBytes)
  }
  starts[length] = at
  if (at !== bytes.length) throw bodyMalformed('a chunk’s documents do not fill it')
  const start = (position: number): number => {
    const found = starts[position - first]
    invariant(found !== undefined, 'the chunk holds the position')
    return found
  }
  return {
    first,
    length,
    rawBytes: bytes.length,
    bytes,
    starts,
    found: { fields: null, heads: [], reads: 0 },
    start,
    values: (position) => bytes.subarray(start(position), start(position + 1)),
  }
}
