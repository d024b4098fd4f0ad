/**
 * Packed rows that came from a stranger: nothing of them is believed, and all that follows from them is computed here. What
 * is accepted is what `createRowPacker` makes of some rows, but for how it is compressed.
 */
import { ServiceError } from '../../errors.ts'
import {
  type ChunkEntry,
  chunkDocuments,
  chunkValuesBytes,
  isFullChunk,
  isPossibleChunk,
} from '../../primitives/body/body-header.ts'
import { type Chunk, unpackChunk } from '../../primitives/body/chunk.ts'
import {
  type ByteReader,
  createByteReader,
  major,
  readHead,
  skipNull,
} from '../../primitives/cbor.ts'
import { createRootBuilder } from '../../primitives/merkle.ts'
import { createValueCheck, malformedRow } from './received-value.ts'
import { readRowValue } from './row-codec.ts'
import { rowLimits } from './row-limits.ts'
import type { RowType } from './row-type.ts'
import {
  checkBlockBytes,
  checkRowBytes,
  createTermCollector,
  type PackedRows,
  readRowDirectory,
} from './rows.ts'

/** In a chunk, what stands beside each row. */
const lengthBytes = 4
/** What no rows of a chunk reach: before the last of them it is not full. */
const maxValuesBytes = chunkValuesBytes + rowLimits.rowBytes
/** Of a row without values: two lists and a source. */
const minRowBytes = 3
/** Of the rows that are read at once: in each byte may be a value that is looked up. */
const pieceBytes = 16 * 1024

/**
 * Reads rows of this type, whose bytes stay as they came, in pieces of a few milliseconds each: a block may have millions.
 * None of them are counted as mismatches, which is known only where they were made.
 * @throws ServiceError `VIEWS_ROW_MALFORMED` for other than `count` rows, rows of another type, and what is beyond
 *   `rowLimits`, for which no memory is taken.
 */
export function* readReceivedRows(
  rowType: Pick<RowType, 'fields'>,
  count: number,
  bytes: Uint8Array,
): Generator<void, PackedRows, void> {
  try {
    return yield* readRows(rowType, count, bytes)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw error.code === 'VIEWS_ROW_MALFORMED' ? error : malformedRow(error.message, error)
  }
}

function* readRows(
  { fields }: Pick<RowType, 'fields'>,
  count: number,
  bytes: Uint8Array,
): Generator<void, PackedRows, void> {
  const checks = fields.map(createValueCheck)
  const terms = createTermCollector()
  const tree = createRootBuilder()
  let [rowBytes, pieceEnd] = [0, pieceBytes]

  const readValues = (reader: ByteReader): void => {
    let items = 0
    for (const [field, check] of checks.entries()) {
      const start = reader.at
      items = check(reader, items)
      if (fields[field]?.index) terms.add(field, readRowValue(reader.bytes, start, reader.at))
    }
  }
  const takeRow = (row: Buffer): void => {
    checkRowBytes(row.length)
    const reader = createByteReader(row)
    readRowHead(reader, fields.length)
    readValues(reader)
    if (reader.at !== reader.end) throw malformedRow('bytes follow a row')
    tree.add(row)
    rowBytes += row.length
    checkBlockBytes(rowBytes + terms.bytes())
  }
  for (const entry of chunksOf(count, bytes, minRowBytes + fields.length)) {
    const { bytes: raw, starts } = openChunk(bytes, entry)
    for (let index = 0; index < entry.length; index++) {
      takeRow(raw.subarray(starts[index], starts[index + 1]))
      if (rowBytes < pieceEnd) continue
      pieceEnd = rowBytes + pieceBytes
      yield
    }
    terms.nextChunk()
    yield
  }
  const root = Buffer.from(tree.finish()).toString('hex')
  return { count, bytes, terms: terms.all, root, mismatches: 0 }
}

function readRowHead(reader: ByteReader, fields: number): void {
  if (readHead(reader, major.array) !== 2) throw malformedRow('a row is no pair')
  if (!skipNull(reader) && readHead(reader, major.int) < 0)
    throw malformedRow('a source is no position')
  if (readHead(reader, major.array) !== fields) throw malformedRow('a row has other fields')
}

/** The chunks, which hold so many rows and unpack to no more than the rows of a block may take. */
function chunksOf(count: number, bytes: Uint8Array, leastRowBytes: number): readonly ChunkEntry[] {
  if (bytes.length === 0 && count === 0) return []
  if (!(count > 0 && count * leastRowBytes <= rowLimits.blockBytes))
    throw malformedRow(`they cannot be ${count} rows`)
  checkChunkCount(count, bytes)
  const { chunks, headBytes } = readRowDirectory(bytes) ?? { chunks: [], headBytes: 0 }
  const sum = { rows: 0, values: 0, end: headBytes }
  for (const [index, entry] of chunks.entries()) {
    const values = entry.rawBytes - entry.length * lengthBytes
    const hasRoom = !isFullChunk(entry) && index < chunks.length - 1
    if (values < 0 || values >= maxValuesBytes || hasRoom || !isPossibleChunk(entry))
      throw malformedRow('a chunk has an impossible size')
    sum.rows += entry.length
    sum.values += values
    sum.end += entry.storedBytes
  }
  checkBlockBytes(sum.values)
  if (sum.rows !== count || sum.end !== bytes.length)
    throw malformedRow('their directory does not add up')
  return chunks
}

/** Only full chunks precede the last, so rows have few; the entries of others take memory before they are looked at. */
function checkChunkCount(count: number, bytes: Uint8Array): void {
  const chunks = readHead(createByteReader(bytes), major.array)
  const byRows = Math.floor(count / chunkDocuments)
  const byBytes = Math.floor(rowLimits.blockBytes / chunkValuesBytes)
  if (chunks > byRows + byBytes + 1) throw malformedRow('they have too many chunks')
}

/** Unpacks a chunk, which takes no further row once it is full. */
function openChunk(bytes: Uint8Array, entry: ChunkEntry): Chunk {
  const chunk = unpackChunk(bytes, entry)
  const { length, starts } = chunk
  const beforeLast = (starts[length - 1] ?? 0) - (starts[0] ?? 0)
  if (beforeLast >= chunkValuesBytes) throw malformedRow('a chunk has too many rows')
  return chunk
}
