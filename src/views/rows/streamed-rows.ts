/**
 * Rows that a View makes for one query, as bytes that pass from the lenses to who answers it: pieces of some rows, in
 * the order in which they were made. Nothing of them is stored.
 */
import { ServiceError } from '../../errors.ts'
import { type Chunk, openRawChunk } from '../../primitives/body/chunk.ts'
import {
  type ByteReader,
  createByteReader,
  createByteWriter,
  major,
  readBytes,
  readHead,
  writeBytes,
  writeHead,
} from '../../primitives/cbor.ts'
import { writeRow } from './row-codec.ts'
import { rowLimitError, rowLimits } from './row-limits.ts'
import type { RowType } from './row-type.ts'
import { toRow } from './row-values.ts'

/** The block of the last document that the first lens was given. */
export interface StreamBlock {
  readonly height: number
  /** 0x-prefixed lower-case hex. */
  readonly blockHash: string
}

/** Neighbouring rows of one block, or of the end of the stream. */
export interface StreamedRows {
  /** Null for rows that were made when there was no further document. */
  readonly block: StreamBlock | null
  /** Rows for `openRowPlaces`; behind the values of the SDL's fields stands the text of the source, if it was asked for. */
  readonly chunk: Chunk
}

/** Takes rows in their order. */
export interface StreamPacker {
  /** Bytes of the rows that were not taken yet. */
  readonly bytes: number
  /** Values so far that were not of the SDL's type and became null. */
  readonly mismatches: number
  /**
   * `source` is the text of the document that the row was made of, where that was asked for.
   * @throws ServiceError `LENS_OUTPUT_LIMIT` beyond `rowLimits` of a row.
   */
  add(
    document: Readonly<Record<string, unknown>>,
    block: StreamBlock | null,
    source: string | null,
  ): void
  /** The rows since it was asked last, as `decodeStreamPiece` reads them. */
  take(): Uint8Array<ArrayBuffer>
}

interface OpenRows {
  readonly block: StreamBlock | null
  readonly lengths: number[]
}

const fieldsOfGroup = 4
/** What stands in the place of a block where there is none. */
const noBlock: StreamBlock = { height: 0, blockHash: '0x' }

/** A packer without rows. */
export function createStreamPacker(rowType: Pick<RowType, 'fields'>): StreamPacker {
  let groups: OpenRows[] = []
  let rows = createByteWriter()
  let mismatches = 0
  return {
    get bytes() {
      return rows.at
    },
    get mismatches() {
      return mismatches
    },
    add(document, block, source) {
      const row = toRow(rowType, document)
      mismatches += row.mismatches
      const start = rows.at
      writeRow(rows, source === null ? row.values : [...row.values, source], null)
      checkRow(rows.at - start - (source === null ? 0 : Buffer.byteLength(source)))
      const last = groups.at(-1)
      if (last?.block?.blockHash === block?.blockHash && last !== undefined)
        last.lengths.push(rows.at - start)
      else groups.push({ block, lengths: [rows.at - start] })
    },
    take() {
      const bytes = encode(groups, rows.bytes.subarray(0, rows.at))
      groups = []
      rows = createByteWriter()
      return bytes
    },
  }
}

function checkRow(bytes: number): void {
  if (bytes <= rowLimits.rowBytes + sourceHeadBytes) return
  throw rowLimitError(
    `a row takes more than ${rowLimits.rowBytes} bytes`,
    'Let the View return several rows, or smaller values.',
  )
}

/** What the length of a source takes. */
const sourceHeadBytes = 9

function encode(groups: readonly OpenRows[], rows: Buffer): Uint8Array<ArrayBuffer> {
  const out = createByteWriter(rows.length)
  writeHead(out, major.array, groups.length * fieldsOfGroup)
  let at = 0
  for (const { block, lengths } of groups) {
    const end = at + lengths.reduce((sum, length) => sum + length, 0)
    const starts = Buffer.alloc(lengths.length * 4)
    for (const [index, length] of lengths.entries()) starts.writeUInt32LE(length, index * 4)
    const { height, blockHash } = block ?? noBlock
    writeHead(out, major.int, height)
    writeBytes(out, Buffer.from(blockHash.slice(2), 'hex'))
    writeHead(out, major.int, lengths.length)
    writeBytes(out, Buffer.concat([starts, rows.subarray(at, end)]))
    at = end
  }
  return new Uint8Array(out.bytes.subarray(0, out.at))
}

/**
 * What `StreamPacker.take` wrote; rows are parts of `bytes`, and numbered from `first` on.
 * @throws ServiceError `VIEWS_ROW_MALFORMED`, `PRIMITIVES_BODY_MALFORMED`.
 */
export function decodeStreamPiece(bytes: Uint8Array, first: number): StreamedRows[] {
  const reader = createByteReader(bytes)
  const fields = readHead(reader, major.array)
  // What is no list has -1.
  if (fields % fieldsOfGroup !== 0) throw malformed(reader)
  const groups: StreamedRows[] = []
  let next = first
  for (let index = 0; index < fields / fieldsOfGroup; index++) {
    const group = readGroup(reader, next)
    groups.push(group)
    next += group.chunk.length
  }
  if (reader.at !== reader.end) throw malformed(reader)
  return groups
}

function readGroup(reader: ByteReader, first: number): StreamedRows {
  const height = readHead(reader, major.int)
  const hash = readBytes(reader)
  const length = readHead(reader, major.int)
  const raw = readBytes(reader)
  if (height < 0 || hash === undefined || raw === undefined) throw malformed(reader)
  if (length <= 0 || length * 4 > raw.length) throw malformed(reader)
  if (hash.length !== 0 && hash.length !== 32) throw malformed(reader)
  const entry = { first, length, rawBytes: raw.length, start: 0, storedBytes: raw.length }
  const block = hash.length === 0 ? null : { height, blockHash: `0x${hash.toString('hex')}` }
  return { block, chunk: openRawChunk(raw, entry) }
}

function malformed({ at }: ByteReader): ServiceError {
  return new ServiceError(
    'VIEWS_ROW_MALFORMED',
    `What the process of the lenses made for a query cannot be read at byte ${at}.`,
    { facts: { at }, remedy: 'Report this: the program and that process do not fit together.' },
  )
}
