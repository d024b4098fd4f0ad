/**
 * Reads single values of stored documents. Where the window of the chunk knows where its fields
 * begin, a value is read right there; otherwise the codec walks to it.
 */
import {
  type ByteReader,
  type ByteWriter,
  createByteReader,
  major,
  readHead,
  simple,
} from '../../primitives/cbor.ts'
import { type Field, type Section, storedFields, type Value } from '../../primitives/collections.ts'
import { readField } from '../../primitives/values.ts'
import { documentWindow } from './block-view.ts'
import { type ChunkWindow, fieldStart, holds, knowsFields, windowValues } from './chunk-window.ts'
import type { Row } from './row.ts'
import { putStored, putText } from './write-value.ts'

/** A reader of one stored field. */
export function fieldReader(section: Section, index: number): (row: Row) => Value {
  const fields = storedFields(section)
  const field = fields[index]
  return (row) => {
    const window = windowAt(row, section)
    if (field === undefined || !knowsFields(window, fields.length)) {
      return readField(section, windowValues(window, row.position), index)
    }
    return valueAt(field, window.bytes, fieldStart(window, fields.length, row.position, index))
  }
}

/** A writer of one stored field, as JSON text. */
export function fieldWriter(section: Section, index: number): (out: ByteWriter, row: Row) => void {
  const fields = storedFields(section)
  const field = fields[index]
  return (out, row) => {
    const window = windowAt(row, section)
    if (field === undefined || !knowsFields(window, fields.length)) {
      const value = readField(section, windowValues(window, row.position), index)
      putText(out, JSON.stringify(value))
    } else {
      const at = fieldStart(window, fields.length, row.position, index)
      putStored(out, field, window.bytes, at)
    }
  }
}

/** The stored values of a row. */
export function bytesOf(row: Row, section: Section): Uint8Array {
  return windowValues(windowAt(row, section), row.position)
}

function windowAt(row: Row, section: Section): ChunkWindow {
  const known = row.window
  if (known !== null && holds(known, row.position)) return known
  row.window = documentWindow(row.block, section, row.position)
  return row.window
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
