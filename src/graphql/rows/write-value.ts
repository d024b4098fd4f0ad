/**
 * Writes stored values as JSON text straight from their bytes, without a string for each. Text is
 * UTF-8; what stored documents hold is hex and docIDs but for free text.
 */
import { type ByteWriter, major, readHead, reserve, simple } from '../../primitives/cbor.ts'
import type { Field } from '../../primitives/collections.ts'

const digits = Buffer.from('0123456789abcdef')
const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const zero = 0x30
const x = 0x78

/** Reads one value at a time: a reader for each would be most of what rendering leaves to be collected. */
const reader = { bytes: Buffer.alloc(0) as Buffer, at: 0, end: 0 }

/** Up to this length a loop is faster than a call into native code. */
const shortText = 24

/** Writes text that is JSON already. */
export function putText(out: ByteWriter, text: string): void {
  reserve(out, text.length * 3)
  if (text.length > shortText) {
    out.at += out.bytes.write(text, out.at)
    return
  }
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) {
      out.at += out.bytes.write(text.slice(index), out.at)
      return
    }
    out.bytes[out.at++] = code
  }
}

/** Writes one character of JSON. */
export function putByte(out: ByteWriter, byte: number): void {
  reserve(out, 1)
  out.bytes[out.at++] = byte
}

/** Writes the value of a field that begins at a place; the bytes were checked when they were stored. */
export function putStored(out: ByteWriter, field: Field, bytes: Buffer, at: number): void {
  const head = bytes[at]
  if (head === simple.null) putText(out, 'null')
  else if (field.kind === 'boolean') putText(out, head === simple.true ? 'true' : 'false')
  else if (field.kind === 'int') putText(out, String(readHeadAt(bytes, at, major.int)))
  else if (field.list === true) putList(out, field, bytes, at)
  else putString(out, field, bytes, at)
}

function putList(out: ByteWriter, field: Field, bytes: Buffer, at: number): void {
  const length = readHeadAt(bytes, at, major.array)
  let next = reader.at
  putByte(out, openBracket)
  for (let index = 0; index < length; index++) {
    if (index > 0) putByte(out, comma)
    next = putString(out, field, bytes, next)
  }
  putByte(out, closeBracket)
}

/** Returns where the string ends. */
function putString(out: ByteWriter, { kind }: Field, bytes: Buffer, at: number): number {
  const length = readHeadAt(bytes, at, kind === 'text' ? major.text : major.bytes)
  const start = reader.at
  const end = start + length
  if (kind === 'text') putText(out, JSON.stringify(bytes.toString('utf8', start, end)))
  else putHex(out, bytes, start, end, kind === 'quantity')
  return end
}

/** The value of a head; the reader is behind it. */
function readHeadAt(bytes: Buffer, at: number, kind: number): number {
  reader.bytes = bytes
  reader.at = at
  reader.end = bytes.length
  return readHead(reader, kind)
}

function putHex(
  out: ByteWriter,
  bytes: Buffer,
  start: number,
  end: number,
  isQuantity: boolean,
): void {
  reserve(out, 2 * (end - start) + 5)
  const to = out.bytes
  let at = out.at
  let from = start
  to[at++] = quote
  to[at++] = zero
  to[at++] = x
  if (isQuantity) {
    if (start === end) to[at++] = zero
    else if ((bytes[start] ?? 0) < 0x10) to[at++] = digits[bytes[from++] ?? 0] ?? 0
  }
  for (; from < end; from++) {
    const byte = bytes[from] ?? 0
    to[at++] = digits[byte >>> 4] ?? 0
    to[at++] = digits[byte & 15] ?? 0
  }
  to[at++] = quote
  out.at = at
}
