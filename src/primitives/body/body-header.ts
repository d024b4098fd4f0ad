/**
 * The header of a block's body: how many documents each section has, which logs and access list
 * entries belong to which transaction, and where the compressed chunks lie. All numbers are
 * unsigned LEB128 in their shortest form.
 *
 *   version (one byte, 1)
 *   number of transactions, of access list entries, of logs
 *   total difficulty: 0 for none, else its length in bytes + 1, then the bytes, biggest first
 *   for each transaction its number of logs, then for each its number of access list entries
 *   for each section the number of its chunks, then for each chunk: documents, raw bytes, stored bytes
 *   the chunks' stored bytes, in the same order, to the end
 */
import { ServiceError } from '../../errors.ts'
import { asBuffer, type ByteReader, type ByteWriter, createByteReader, reserve } from '../cbor.ts'
import { blockSections, type Section } from '../collections.ts'

const bodyVersion = 1
const maxQuantityBytes = 32
const quantityPattern = /^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/
/** Characters of a wrong value that an error shows. */
const maxShown = 80
/** More documents than any chain puts into a block; keeps a forged header from costing memory. */
const maxDocuments = 1_000_000

/** Documents a chunk holds at most. */
export const chunkDocuments: number = 64

/** A chunk takes no further document once its documents' values bytes reach this. */
export const chunkValuesBytes: number = 256 * 1024

/** What compression may add to bytes that do not compress: one part in 255, and its frame. */
const maxFrameBytes = 64

/** In a chunk, what stands beside each document's values bytes. */
const documentOverheadBytes = 4

/** Where one chunk lies in the body and what it unpacks to. */
export interface ChunkEntry {
  /** Position of its first document in the section. */
  readonly first: number
  readonly length: number
  readonly rawBytes: number
  /** Place of the stored bytes in the body. */
  readonly start: number
  readonly storedBytes: number
}

/** The parsed header. */
export interface BodyHeader {
  readonly counts: Readonly<Record<Section, number>>
  readonly totalDifficulty: string | null
  /** `logEnds[i]` is the position after the last log of transaction i. */
  readonly logEnds: Uint32Array
  readonly entryEnds: Uint32Array
  readonly chunks: Readonly<Record<Section, readonly ChunkEntry[]>>
}

/** What a header is made from. */
interface HeaderParts {
  readonly totalDifficulty: string | null
  readonly logsPerTransaction: readonly number[]
  readonly entriesPerTransaction: readonly number[]
  readonly counts: Readonly<Record<Section, number>>
  readonly chunks: Readonly<
    Record<Section, readonly { length: number; rawBytes: number; stored: Uint8Array }[]>
  >
}

/** Writes the header; the chunks' stored bytes follow it. */
export function writeHeader(out: ByteWriter, parts: HeaderParts): void {
  writeVarint(out, bodyVersion)
  writeVarint(out, parts.counts.Transaction)
  writeVarint(out, parts.counts.AccessListEntry)
  writeVarint(out, parts.counts.Log)
  writeTotalDifficulty(out, parts.totalDifficulty)
  for (const count of parts.logsPerTransaction) writeVarint(out, count)
  for (const count of parts.entriesPerTransaction) writeVarint(out, count)
  for (const section of blockSections) {
    writeVarint(out, parts.chunks[section].length)
    for (const chunk of parts.chunks[section]) {
      writeVarint(out, chunk.length)
      writeVarint(out, chunk.rawBytes)
      writeVarint(out, chunk.stored.length)
    }
  }
}

function writeTotalDifficulty(out: ByteWriter, value: string | null): void {
  if (value === null) {
    writeVarint(out, 0)
    return
  }
  if (!quantityPattern.test(value)) {
    const found = value.slice(0, maxShown)
    throw new ServiceError(
      'PRIMITIVES_BLOCK_MALFORMED',
      `Block.totalDifficulty cannot be stored as quantity: ${JSON.stringify(found)}`,
      { facts: { collection: 'Block', field: 'totalDifficulty', found } },
    )
  }
  const digits = value === '0x0' ? '' : value.slice(2)
  const bytes = Buffer.from(digits.length % 2 === 1 ? `0${digits}` : digits, 'hex')
  writeVarint(out, bytes.length + 1)
  reserve(out, bytes.length)
  out.bytes.set(bytes, out.at)
  out.at += bytes.length
}

function writeVarint(out: ByteWriter, value: number): void {
  reserve(out, 8)
  let rest = value
  while (rest >= 0x80) {
    out.bytes[out.at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  out.bytes[out.at++] = rest
}

/**
 * Parses and bounds-checks a header; nothing is unpacked. `body` may end with the header where the
 * length of the whole is known.
 * @throws ServiceError `PRIMITIVES_BODY_MALFORMED`.
 */
export function parseHeader(
  body: Uint8Array,
  maxRawBytes: number,
  bodyBytes: number = body.length,
): BodyHeader {
  const reader = createByteReader(asBuffer(body))
  if (body[reader.at++] !== bodyVersion) throw bodyMalformed('its version is unknown')
  const counts = readCounts(reader)
  const totalDifficulty = readTotalDifficulty(reader)
  const logEnds = readEnds(reader, counts.Transaction, counts.Log)
  const entryEnds = readEnds(reader, counts.Transaction, counts.AccessListEntry)
  const chunks = readDirectory(reader, counts, { maxRawBytes, bodyBytes })
  return { counts, totalDifficulty, logEnds, entryEnds, chunks }
}

/** The error for a body that cannot be used; `why` continues "A block's documents cannot be read: ". */
export function bodyMalformed(why: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'PRIMITIVES_BODY_MALFORMED',
    `A block’s documents cannot be read: ${why}`,
    {
      facts: { why },
      remedy: 'Discard the block and fetch it again, from another peer where one is known.',
      cause,
    },
  )
}

function readCounts(reader: ByteReader): Record<Section, number> {
  const Transaction = readVarint(reader)
  const AccessListEntry = readVarint(reader)
  const Log = readVarint(reader)
  if (Math.max(Transaction, AccessListEntry, Log) > maxDocuments) {
    throw bodyMalformed('it claims too many documents')
  }
  return { Block: 1, Transaction, AccessListEntry, Log }
}

function readTotalDifficulty(reader: ByteReader): string | null {
  const length = readVarint(reader) - 1
  if (length < 0) return null
  if (length > maxQuantityBytes || length > reader.end - reader.at) {
    throw bodyMalformed('its total difficulty is too long')
  }
  reader.at += length
  const digits = reader.bytes.toString('hex', reader.at - length, reader.at)
  if (digits.startsWith('00')) throw bodyMalformed('its total difficulty is not minimal')
  return digits === '' ? '0x0' : `0x${digits.startsWith('0') ? digits.slice(1) : digits}`
}

/** Running totals of `length` counts, which must add up to `total`. */
function readEnds(reader: ByteReader, length: number, total: number): Uint32Array {
  if (length > reader.end - reader.at) throw bodyMalformed('it is cut off')
  const ends = new Uint32Array(length)
  let end = 0
  for (let index = 0; index < length; index++) {
    end += readVarint(reader)
    if (end > total) break
    ends[index] = end
  }
  if (end !== total) throw bodyMalformed('its transactions do not add up')
  return ends
}

function readDirectory(
  reader: ByteReader,
  counts: Readonly<Record<Section, number>>,
  { maxRawBytes, bodyBytes }: { readonly maxRawBytes: number; readonly bodyBytes: number },
): Record<Section, ChunkEntry[]> {
  const chunks: Record<Section, ChunkEntry[]> = {
    Block: [],
    Transaction: [],
    AccessListEntry: [],
    Log: [],
  }
  const sizes = { raw: 0, stored: 0 }
  for (const section of blockSections) {
    readSectionChunks(reader, counts[section], chunks[section], sizes)
    if (sizes.raw > maxRawBytes) throw bodyMalformed('it unpacks to more than the limit')
  }
  if (sizes.stored !== bodyBytes - reader.at) throw bodyMalformed('its length is wrong')
  return placeChunks(chunks, reader.at)
}

function readSectionChunks(
  reader: ByteReader,
  documents: number,
  chunks: ChunkEntry[],
  sizes: { raw: number; stored: number },
): void {
  const count = readVarint(reader)
  if (count > documents) throw bodyMalformed('it has more chunks than documents')
  let first = 0
  for (let index = 0; index < count; index++) {
    const length = readVarint(reader)
    const rawBytes = readVarint(reader)
    const storedBytes = readVarint(reader)
    const entry = { first, length, rawBytes, start: sizes.stored, storedBytes }
    if (!isPossibleChunk(entry) || (index < count - 1 && !isFullChunk(entry))) {
      throw bodyMalformed('a chunk has an impossible size')
    }
    chunks.push(entry)
    first += length
    sizes.raw += rawBytes
    sizes.stored += storedBytes
  }
  if (first !== documents) throw bodyMalformed('its chunks do not add up')
}

/** Whether packing makes chunks of such sizes. */
export function isPossibleChunk({ length, rawBytes, storedBytes }: ChunkEntry): boolean {
  if (length < 1 || length > chunkDocuments) return false
  return storedBytes <= rawBytes + Math.floor(rawBytes / 255) + maxFrameBytes
}

/** Only the last chunk of a section may have room left, so that a body cannot be all chunks. */
export function isFullChunk({ length, rawBytes }: ChunkEntry): boolean {
  return length === chunkDocuments || rawBytes - length * documentOverheadBytes >= chunkValuesBytes
}

function placeChunks(
  chunks: Readonly<Record<Section, readonly ChunkEntry[]>>,
  offset: number,
): Record<Section, ChunkEntry[]> {
  const place = (entry: ChunkEntry): ChunkEntry => ({ ...entry, start: entry.start + offset })
  return {
    Block: chunks.Block.map(place),
    Transaction: chunks.Transaction.map(place),
    AccessListEntry: chunks.AccessListEntry.map(place),
    Log: chunks.Log.map(place),
  }
}

function readVarint(reader: ByteReader): number {
  let value = 0
  let scale = 1
  for (let count = 0; count < 5; count++) {
    if (reader.at >= reader.end) throw bodyMalformed('it is cut off')
    const byte = reader.bytes[reader.at++] ?? 0
    value += (byte & 0x7f) * scale
    if (byte < 0x80) {
      if (byte === 0 && count > 0) break
      return value
    }
    scale *= 0x80
  }
  throw bodyMalformed('a number in its header is not in its shortest form')
}
