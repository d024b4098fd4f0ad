/**
 * Writes values of a View's rows as JSON text straight from their bytes. Text that JSON shows as it is, which is
 * most, is copied.
 */
import {
  type ByteReader,
  type ByteWriter,
  createByteReader,
  major,
  readHead,
  reserve,
  simple,
  skipString,
} from '../../primitives/cbor.ts'
import { map, readNextValue, readRowValue } from '../../views/rows/row-codec.ts'
import { putByte, putText } from './write-value.ts'

const quote = 0x22
const backslash = 0x5c
const firstShown = 0x20
const comma = 0x2c
const colon = 0x3a
const zero = 0x30
const nine = 0x39
const list = { open: 0x5b, close: 0x5d } as const
const object = { open: 0x7b, close: 0x7d } as const

/** Lists and objects in one another that are written here. */
const maxDepth = 16

/** Writes the value that begins at a place of a row, which ends at `end`. */
export function putRowValue(out: ByteWriter, bytes: Buffer, at: number, end: number): void {
  const start = out.at
  if (putValue(out, createByteReader(bytes, at, end), maxDepth)) return
  out.at = start
  putText(out, JSON.stringify(readRowValue(bytes, at, end)))
}

/** False where it takes the value itself to say how it is written, or what is wrong with it. */
function putValue(out: ByteWriter, reader: ByteReader, depth: number): boolean {
  if (reader.at >= reader.end) return false
  const head = reader.bytes[reader.at] ?? simple.null
  switch (head >>> 5) {
    case major.text >>> 5:
      return putString(out, reader)
    case major.array >>> 5:
      return putList(out, reader, depth)
    case map >>> 5:
      return putObject(out, reader, depth)
    default:
      putText(out, head === simple.null ? 'null' : JSON.stringify(readNextValue(reader, 0)))
      if (head === simple.null) reader.at += 1
      return true
  }
}

function putList(out: ByteWriter, reader: ByteReader, depth: number): boolean {
  const count = readHead(reader, major.array)
  if (count < 0 || depth === 0) return false
  putByte(out, list.open)
  for (let index = 0; index < count; index++) {
    if (index > 0) putByte(out, comma)
    if (!putValue(out, reader, depth - 1)) return false
  }
  putByte(out, list.close)
  return true
}

/** Keys that are numbers come first in an object of JavaScript: such an object is not written here. */
function putObject(out: ByteWriter, reader: ByteReader, depth: number): boolean {
  const count = readHead(reader, map)
  if (count < 0 || depth === 0) return false
  putByte(out, object.open)
  for (let index = 0; index < count; index++) {
    if (index > 0) putByte(out, comma)
    const key = out.at
    if (!putString(out, reader) || isDigit(out.bytes[key + 1] ?? 0)) return false
    putByte(out, colon)
    if (!putValue(out, reader, depth - 1)) return false
  }
  putByte(out, object.close)
  return true
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine

/** False where a character has to be escaped, or what stands there is no text. */
function putString(out: ByteWriter, reader: ByteReader): boolean {
  const length = skipString(reader, major.text)
  if (length < 0) return false
  const { bytes, at } = reader
  reserve(out, length + 2)
  const to = out.bytes
  let next = out.at
  to[next++] = quote
  for (let from = at - length; from < at; from++) {
    const byte = bytes[from] ?? 0
    if (byte < firstShown || byte === quote || byte === backslash) return false
    to[next++] = byte
  }
  to[next++] = quote
  out.at = next
  return true
}
