/**
 * Writes values of a View's rows as JSON text straight from their bytes. Text that JSON shows as it is, which is
 * most, is copied.
 */
import {
  type ByteWriter,
  createByteReader,
  major,
  readHead,
  reserve,
  simple,
} from '../../primitives/cbor.ts'
import { readRowValue } from '../../views/row-codec.ts'
import { putText } from './write-value.ts'

const quote = 0x22
const backslash = 0x5c
const firstShown = 0x20

/** Writes the value that begins at a place of a row, which ends at `end`. */
export function putRowValue(out: ByteWriter, bytes: Buffer, at: number, end: number): void {
  const head = bytes[at] ?? simple.null
  if (head === simple.null) putText(out, 'null')
  else if (head >>> 5 !== major.text >>> 5 || !putPlainText(out, bytes, at, end))
    putText(out, JSON.stringify(readRowValue(bytes, at, end)))
}

/** False, with nothing written, where a character has to be escaped. */
function putPlainText(out: ByteWriter, bytes: Buffer, at: number, end: number): boolean {
  const reader = createByteReader(bytes, at, end)
  const length = readHead(reader, major.text)
  const start = reader.at
  reserve(out, length + 2)
  const to = out.bytes
  let next = out.at
  to[next++] = quote
  for (let from = start; from < start + length; from++) {
    const byte = bytes[from] ?? 0
    if (byte < firstShown || byte === quote || byte === backslash) return false
    to[next++] = byte
  }
  to[next++] = quote
  out.at = next
  return true
}
