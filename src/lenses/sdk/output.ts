/**
 * What a lens answers: one item at a time, in one buffer that grows to the largest. Beyond 16 MiB an answer is
 * replaced by an error, so that a hostile document cannot fill the memory.
 */
import { DOCUMENT, END_OF_STREAM, ERROR, HEADER, NIL } from './item'
import { Span } from './span'

const LEAST: usize = 4096
const MOST: usize = 16 * 1024 * 1024

let buffer: usize = 0
let capacity: usize = 0
let used: usize = 0
let full = false

/** Begins a document; what was answered before is gone. */
export function beginDocument(): void {
  begin(DOCUMENT)
}

/** The document as it was put together, or an error where it became too large. */
export function endDocument(): usize {
  if (full) return errorItem('the answer is larger than 16 MiB')
  return finish()
}

/** An error with a fixed text. */
export function errorItem(text: string): usize {
  begin(ERROR)
  putText(text)
  return finish()
}

/** Begins an error that is put together; `endError` ends it. */
export function beginError(text: string): void {
  begin(ERROR)
  putText(text)
}

export function endError(): usize {
  return finish()
}

export function nilItem(): usize {
  begin(NIL)
  return finish()
}

export function endOfStream(): usize {
  begin(END_OF_STREAM)
  return finish()
}

/** Whether the answer is too large already; nothing that is put then has an effect. */
export function isFull(): bool {
  return full
}

/** How much is written; `rewindTo` takes it. */
export function written(): usize {
  return used
}

/** Takes back all that was put since `written` said this. */
export function rewindTo(mark: usize): void {
  used = mark
}

export function putByte(byte: u8): void {
  if (reserve(1)) {
    store<u8>(buffer + used, byte)
    used += 1
  }
}

export function putBytes(from: usize, length: usize): void {
  if (reserve(length)) {
    memory.copy(buffer + used, from, length)
    used += length
  }
}

export function putSpan(span: Span): void {
  putBytes(span.at, span.length)
}

/** Puts a text of ASCII characters. */
export function putText(text: string): void {
  const length = text.length
  if (!reserve(length)) return
  const from = changetype<usize>(text)
  const to = buffer + used
  for (let index = 0; index < length; index++) store<u8>(to + index, load<u8>(from + (index << 1)))
  used += length
}

/** Puts a small number. */
export function putCount(value: u32): void {
  if (value >= 10) putCount(value / 10)
  putByte((0x30 + (value % 10)) as u8)
}

/** A copy, for good, of what was put since the document began. */
export function keepWritten(): Span {
  const length = used - HEADER
  const at = heap.alloc(length)
  memory.copy(at, buffer + HEADER, length)
  return new Span(at, length)
}

/** Makes room for `length` bytes and says where; 0 where the answer would be too large. `advance` then takes them. */
export function roomFor(length: usize): usize {
  return reserve(length) ? buffer + used : 0
}

export function advance(length: usize): void {
  used += length
}

function begin(type: i32): void {
  full = false
  used = 0
  reserve(HEADER)
  store<u8>(buffer, type as u8)
  used = HEADER
}

function finish(): usize {
  store<u32>(buffer, (used - HEADER) as u32, 1)
  return buffer
}

function reserve(length: usize): bool {
  const needed = used + length
  if (needed <= capacity) return !full
  if (full || needed > MOST) {
    full = true
    return false
  }
  capacity = max(LEAST, min(needed << 1, MOST))
  buffer = buffer === 0 ? heap.alloc(capacity) : heap.realloc(buffer, capacity)
  return true
}
