/**
 * The rows of one block of a View, packed for the store: chunks of up to 64 rows, compressed as those of blocks are, behind a
 * directory of them; and what of the rows can be looked up.
 */
import {
  type ChunkEntry,
  chunkDocuments,
  chunkValuesBytes,
} from '../../primitives/body/body-header.ts'
import { type PackedChunk, packChunk } from '../../primitives/body/chunk.ts'
import {
  type ByteWriter,
  createByteReader,
  createByteWriter,
  major,
  readHead,
  writeHead,
} from '../../primitives/cbor.ts'
import { createRootBuilder, merkleRoot } from '../../primitives/merkle.ts'
import { createPlainRowWriter } from './plain/plain-row.ts'
import { writeRow, writeValue } from './row-codec.ts'
import { rowLimitError, rowLimits } from './row-limits.ts'
import type { RowType } from './row-type.ts'
import { type JsonValue, toRow } from './row-values.ts'

/** A value of an `@index` field that a chunk holds. */
interface RowTerm {
  /** Position of the field in the SDL. */
  readonly field: number
  /** As `rowTermValue` makes it. */
  readonly value: Uint8Array
  readonly chunk: number
}

/** The rows of one block, as the store takes them. */
export interface PackedRows {
  readonly count: number
  /** Directory and chunks; empty for no rows. */
  readonly bytes: Uint8Array
  readonly terms: readonly RowTerm[]
  /** Merkle root over the rows in their order, what Hosts agree on: lower-case hex without 0x. */
  readonly root: string
  /** Values that were not of the SDL's type and became null. */
  readonly mismatches: number
}

/** The root of no rows. */
export const emptyRowsRoot: string = Buffer.from(merkleRoot([])).toString('hex')

/** Where the rows of one chunk at a time lie with their lengths in front: compressing makes a copy of both. */
const raw = createByteWriter()

/** Takes rows in their order. */
interface RowPacker {
  /**
   * `source` is the position of the last document that the first lens was given; null before the first.
   * @throws ServiceError `LENS_OUTPUT_LIMIT` beyond `rowLimits`; the packer is of no use afterwards.
   */
  add(document: Readonly<Record<string, unknown>>, source: number | null): void
  /**
   * The same for an object as JSON, which nobody has parsed. False, with nothing added, where it has to be parsed to say
   * what row it is.
   */
  addJson(json: Uint8Array, source: number | null): boolean
  finish(): PackedRows
}

/** A packer without rows. Until they are compressed, they lie in `open`, which is its own until it has finished. */
export function createRowPacker(
  rowType: Pick<RowType, 'fields'>,
  open: ByteWriter = createByteWriter(),
): RowPacker {
  const indexed = rowType.fields.flatMap(({ index }, field) => (index ? [field] : []))
  const terms = createTermCollector()
  const tree = createRootBuilder()
  const chunks: PackedChunk[] = []
  let lengths: number[] = []
  let [count, mismatches, rowBytes] = [0, 0, 0]

  const closeChunk = (): void => {
    if (lengths.length === 0) return
    raw.at = 0
    chunks.push(packChunk(lengths, open.bytes.subarray(0, open.at), raw))
    open.at = 0
    lengths = []
    terms.nextChunk()
  }
  const plain = createPlainRowWriter(rowType)
  const written = (start: number, valueAt: (field: number) => JsonValue): void => {
    const bytes = open.at - start
    checkRowBytes(bytes)
    tree.add(open.bytes.subarray(start, open.at))
    lengths.push(bytes)
    for (const field of indexed) terms.add(field, valueAt(field))
    count += 1
    rowBytes += bytes
    checkBlockBytes(rowBytes + terms.bytes())
    if (lengths.length === chunkDocuments || open.at >= chunkValuesBytes) closeChunk()
  }
  return {
    add: (document, source) => {
      const { values, mismatches: more } = toRow(rowType, document)
      const start = open.at
      writeRow(open, values, source)
      mismatches += more
      written(start, (field) => values[field] ?? null)
    },
    addJson: (json, source) => {
      const start = open.at
      const isWritten = plain.write(open, json, source)
      if (isWritten) written(start, plain.value)
      return isWritten
    },
    finish: () => {
      closeChunk()
      const root = Buffer.from(tree.finish()).toString('hex')
      return { count, bytes: joined(chunks), terms: terms.all, root, mismatches }
    },
  }
}

/** @throws ServiceError `LENS_OUTPUT_LIMIT` for a row of more bytes than one may take. */
export function checkRowBytes(bytes: number): void {
  if (bytes > rowLimits.rowBytes)
    throw rowLimitError(
      `a row takes more than ${rowLimits.rowBytes} bytes`,
      'Let the View return several rows, or smaller values.',
    )
}

/** The same for the rows of a block with their terms. */
export function checkBlockBytes(bytes: number): void {
  if (bytes > rowLimits.blockBytes)
    throw rowLimitError(
      `the rows of one block take more than ${rowLimits.blockBytes} bytes`,
      'Let the View return fewer or smaller rows.',
    )
}

/** Where the chunks of packed rows lie, and how long the directory is. */
export interface RowDirectory {
  readonly chunks: readonly ChunkEntry[]
  /** Bytes of the directory itself. */
  readonly headBytes: number
}

/** Reads the directory of rows that `createRowPacker` packed; null where the bytes are no such thing. */
export function readRowDirectory(bytes: Uint8Array): RowDirectory | null {
  const reader = createByteReader(bytes)
  const count = readHead(reader, major.array)
  const sizes: [length: number, rawBytes: number, storedBytes: number][] = []
  for (let index = 0; index < count; index++) {
    const length = readHead(reader, major.int)
    const raw = readHead(reader, major.int)
    const stored = readHead(reader, major.int)
    if (length <= 0 || raw < 0 || stored < 0) return null
    sizes.push([length, raw, stored])
  }
  if (count <= 0) return null
  let [first, start] = [0, reader.at]
  const chunks = sizes.map(([length, rawBytes, storedBytes]) => {
    const chunk = { first, length, rawBytes, start, storedBytes }
    first += length
    start += storedBytes
    return chunk
  })
  return { chunks, headBytes: reader.at }
}

/**
 * The bytes under which a value of an `@index` field is looked up. Hex in 0x form is looked up without regard to
 * case, so a filter checks the rows that it finds.
 */
export function rowTermValue(value: boolean | number | string): Uint8Array {
  term.at = 0
  writeValue(term, typeof value === 'string' && isHex.test(value) ? value.toLowerCase() : value)
  return Buffer.from(term.bytes.subarray(0, term.at))
}

/** Where one value is written at a time. */
const term = createByteWriter()
const isHex = /^0x[0-9a-f]*$/i

interface TermCollector {
  readonly all: RowTerm[]
  /** Adds a value, or each item of a list; null has no term. */
  add(field: number, value: JsonValue): void
  /** Bytes of the values of all terms. */
  bytes(): number
  nextChunk(): void
}

/** Collects each value of a chunk once, up to the limit of a block. */
export function createTermCollector(): TermCollector {
  const all: RowTerm[] = []
  /** By field. Values of two types are never the same. */
  let seen = new Map<number, Set<JsonValue>>()
  /** As the same values come in many chunks. */
  const known = new Map<boolean | number | string, Uint8Array>()
  let [chunk, bytes] = [0, 0]
  const add = (field: number, value: JsonValue): void => {
    if (Array.isArray(value)) {
      for (const item of value) add(field, item)
      return
    }
    // So is null.
    if (typeof value === 'object') return
    const values = seen.get(field) ?? new Set()
    if (values.has(value)) return
    if (all.length === rowLimits.blockTerms) throw tooManyTerms()
    seen.set(field, values.add(value))
    const made = known.get(value) ?? rowTermValue(value)
    known.set(value, made)
    const term = { field, value: made, chunk }
    bytes += term.value.length
    all.push(term)
  }
  return {
    all,
    add,
    bytes: () => bytes,
    nextChunk: () => {
      chunk += 1
      seen = new Map()
    },
  }
}

function tooManyTerms(): Error {
  return rowLimitError(
    `the rows of one block have more than ${rowLimits.blockTerms} values in fields with @index; each chunk of up to ${chunkDocuments} rows counts its own`,
    'Take @index from fields with many values, or let the View return fewer rows.',
  )
}

function joined(chunks: readonly PackedChunk[]): Uint8Array {
  if (chunks.length === 0) return new Uint8Array()
  const head: ByteWriter = createByteWriter()
  writeHead(head, major.array, chunks.length)
  for (const { length, rawBytes, stored } of chunks) {
    for (const size of [length, rawBytes, stored.length]) writeHead(head, major.int, size)
  }
  return Buffer.concat([head.bytes.subarray(0, head.at), ...chunks.map(({ stored }) => stored)])
}
