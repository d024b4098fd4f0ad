/** Reads and writes single values of stored documents, right where they begin. */
import { invariant } from '../../errors.ts'
import type { Chunk } from '../../primitives/body/chunk.ts'
import {
  type ByteReader,
  type ByteWriter,
  createByteReader,
  major,
  readHead,
  simple,
} from '../../primitives/cbor.ts'
import { type Field, type Section, storedFields, type Value } from '../../primitives/collections.ts'
import { documentChunk } from './block-view.ts'
import { fieldPlace, holds } from './chunk-search.ts'
import type { Row } from './row.ts'
import { putStored } from './write-value.ts'

/** A reader of one stored field. */
export function fieldReader(section: Section, index: number): (row: Row) => Value {
  const { field, count } = storedField(section, index)
  return (row) => {
    const chunk = chunkAt(row, section)
    return valueAt(field, chunk.bytes, fieldPlace(chunk, count, row.position, index))
  }
}

/** A writer of one stored field, as JSON text. */
export function fieldWriter(section: Section, index: number): (out: ByteWriter, row: Row) => void {
  const { field, count } = storedField(section, index)
  return (out, row) => {
    const chunk = chunkAt(row, section)
    putStored(out, field, chunk.bytes, fieldPlace(chunk, count, row.position, index))
  }
}

/** A field, and how many a document of its section has. */
function storedField(section: Section, index: number): { field: Field; count: number } {
  const fields = storedFields(section)
  const field = fields[index]
  invariant(field !== undefined, `a stored ${section} has a field ${index}`)
  return { field, count: fields.length }
}

/** The stored values of a row. */
export function bytesOf(row: Row, section: Section): Uint8Array {
  return chunkAt(row, section).values(row.position)
}

function chunkAt(row: Row, section: Section): Chunk {
  const known = row.chunk
  if (known !== null && holds(known, row.position)) return known
  row.chunk = documentChunk(row.block, section, row.position)
  return row.chunk
}

/** Reads the value that begins at a place; the bytes were checked when they were stored. */
function valueAt(field: Field, bytes: Buffer, at: number): Value {
  const head = bytes[at]
  if (head === simple.null) return null
  if (field.kind === 'boolean') return head === simple.true
  const reader = createByteReader(bytes, at)
  if (field.kind === 'int') return readHead(reader, major.int)
  if (field.list !== true) return readString(field, reader)
  const length = readHead(reader, major.array)
  return Array.from({ length }, () => readString(field, reader))
}

function readString({ kind }: Field, reader: ByteReader): string {
  const length = readHead(reader, kind === 'text' ? major.text : major.bytes)
  const { bytes, at } = reader
  reader.at = at + length
  if (kind === 'text') return bytes.toString('utf8', at, reader.at)
  return kind === 'quantity'
    ? quantityText(bytes, at, length)
    : `0x${bytes.toString('hex', at, reader.at)}`
}

/** The most bytes that `readUIntBE` takes. */
const maxSmallBytes = 6

function quantityText(bytes: Buffer, at: number, length: number): string {
  if (length === 0) return '0x0'
  if (length <= maxSmallBytes) return `0x${bytes.readUIntBE(at, length).toString(16)}`
  const digits = bytes.toString('hex', at, at + length)
  return digits.startsWith('0') ? `0x${digits.slice(1)}` : `0x${digits}`
}
