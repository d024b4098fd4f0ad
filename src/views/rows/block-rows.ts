/**
 * What a View made of some blocks, as bytes that pass from the process of the lenses to the thread that stores them:
 * DAG-CBOR without anything that has to be looked into on the way; a failure is JSON in the place of rows.
 */
import { ServiceError } from '../../errors.ts'
import {
  type ByteReader,
  type ByteWriter,
  createByteReader,
  createByteWriter,
  major,
  readBytes,
  readHead,
  writeBytes,
  writeHead,
} from '../../primitives/cbor.ts'
import { writeHexBytes } from '../../primitives/wire.ts'
import type { PackedRows } from './rows.ts'

/** What a View made of one block: its rows, or why there are none. */
export type BlockRows = {
  readonly height: number
  /** Of the block that was read; 0x-prefixed lower-case hex. */
  readonly blockHash: string
  /** Merkle root of its documents: hex without 0x. */
  readonly documentsRoot: string
} & ({ readonly rows: PackedRows } | { readonly failure: Uint8Array })

/** Fields of a block without its terms, and of a term. */
const failedFields = 4
const doneFields = 8
const termFields = 3

export function encodeBlockRows(blocks: readonly BlockRows[]): Uint8Array<ArrayBuffer> {
  const out = createByteWriter(blocks.reduce((sum, block) => sum + blockRowsBytes(block), 0))
  writeHead(out, major.array, blocks.length)
  for (const block of blocks) {
    writeHead(out, major.array, 'rows' in block ? doneFields : failedFields)
    writeHead(out, major.int, block.height)
    writeBytes(out, Buffer.from(block.blockHash.slice(2), 'hex'))
    writeHexBytes(out, block.documentsRoot)
    if ('rows' in block) writeRows(out, block.rows)
    else writeBytes(out, block.failure)
  }
  return new Uint8Array(out.bytes.subarray(0, out.at))
}

/**
 * How much work a block is for whoever stores it, as bytes: never fewer than it takes encoded. Each term counts as
 * much as its place in the index, which takes far longer to write than it takes room here.
 */
export function blockRowsBytes(block: BlockRows): number {
  if (!('rows' in block)) return blockBytes + block.failure.length
  const { bytes, terms } = block.rows
  return terms.reduce((sum, { value }) => sum + termBytes + value.length, blockBytes + bytes.length)
}

const blockBytes = 180
const termBytes = 128

function writeRows(out: ByteWriter, { count, mismatches, root, bytes, terms }: PackedRows): void {
  writeHead(out, major.int, count)
  writeHead(out, major.int, mismatches)
  writeHexBytes(out, root)
  writeBytes(out, bytes)
  writeHead(out, major.array, terms.length * termFields)
  for (const { field, chunk, value } of terms) {
    writeHead(out, major.int, field)
    writeHead(out, major.int, chunk)
    writeBytes(out, value)
  }
}

/**
 * What `encodeBlockRows` wrote; rows and terms are parts of `bytes`.
 * @throws ServiceError `VIEWS_ROW_MALFORMED`.
 */
export function decodeBlockRows(bytes: Uint8Array): BlockRows[] {
  const reader = createByteReader(bytes)
  const blocks = readItems(reader, () => readBlock(reader))
  if (reader.at !== reader.end) throw malformed(reader)
  return blocks
}

function readBlock(reader: ByteReader): BlockRows {
  const fields = checked(reader, readHead(reader, major.array))
  const height = checked(reader, readHead(reader, major.int))
  const hash = readPart(reader)
  const root = readPart(reader)
  if (hash.length !== 32 || root.length !== 32 || height > maxHeight) throw malformed(reader)
  const blockHash = `0x${hash.toString('hex')}`
  const block = { height, blockHash, documentsRoot: root.toString('hex') }
  if (fields === failedFields) return { ...block, failure: readPart(reader) }
  if (fields !== doneFields) throw malformed(reader)
  return { ...block, rows: readRows(reader) }
}

function readRows(reader: ByteReader): PackedRows {
  const count = checked(reader, readHead(reader, major.int))
  const mismatches = checked(reader, readHead(reader, major.int))
  const root = readPart(reader)
  const bytes = readPart(reader)
  if (root.length !== 32) throw malformed(reader)
  if (count > maxCount || (count === 0) !== (bytes.length === 0)) throw malformed(reader)
  const parts = checked(reader, readHead(reader, major.array))
  if (parts % termFields !== 0 || parts > reader.end - reader.at) throw malformed(reader)
  const terms = Array.from({ length: parts / termFields }, () => {
    const field = checked(reader, readHead(reader, major.int))
    const chunk = checked(reader, readHead(reader, major.int))
    if (field > maxPlace || chunk > maxPlace) throw malformed(reader)
    return { field, chunk, value: readPart(reader) }
  })
  return { count, mismatches, root: root.toString('hex'), bytes, terms }
}

/** A height has six bytes in the store, a count four, and the place of a field or chunk two. */
const maxHeight = 2 ** 48 - 2
const maxCount = 2 ** 32 - 1
const maxPlace = 2 ** 16 - 1

function readItems<T>(reader: ByteReader, read: () => T): T[] {
  const count = checked(reader, readHead(reader, major.array))
  if (count > reader.end - reader.at) throw malformed(reader)
  return Array.from({ length: count }, read)
}

function readPart(reader: ByteReader): Buffer {
  const part = readBytes(reader)
  if (part === undefined) throw malformed(reader)
  return part
}

function checked(reader: ByteReader, value: number): number {
  if (value < 0) throw malformed(reader)
  return value
}

function malformed({ at }: ByteReader): ServiceError {
  return new ServiceError(
    'VIEWS_ROW_MALFORMED',
    `What the process of the lenses made of blocks cannot be read at byte ${at}.`,
    { facts: { at }, remedy: 'Report this: the program and that process do not fit together.' },
  )
}

// --- Failures ---

/** Why a View failed at a block, as it is stored in the place of rows. */
export interface StoredFailure {
  readonly code: string
  readonly message: string
  readonly remedy: string | null
  /** How often it was tried; what depends on time and memory is tried again later. */
  readonly attempts: number
}

export function encodeFailure(failure: StoredFailure): Uint8Array {
  return Buffer.from(JSON.stringify(failure))
}

/** What `encodeFailure` wrote. */
export function decodeFailure(bytes: Uint8Array): StoredFailure {
  return JSON.parse(Buffer.from(bytes).toString())
}
