/**
 * Values from ABI-encoded bytes, as JSON. Whoever emits a log chooses its bytes: each offset and length is checked, and
 * what is no encoding of the type, or reads the same bytes many times over, is no value at all.
 */
import { putSigned, putUnsigned } from '../sdk/decimal'
import { putHex } from '../sdk/hex'
import { putByte, putCount, putSpan, putText } from '../sdk/output'
import { putTextValue } from '../sdk/text-value'
import {
  AbiParameter,
  AbiType,
  ADDRESS,
  ANY,
  ARRAY,
  BOOL,
  BYTES,
  FIXED_BYTES,
  INT,
  STRING,
  TUPLE,
  UINT,
} from './abi-type'

const WORD: u32 = 32
const COMMA: u8 = 0x2c
const QUOTE: u8 = 0x22
/** How often the data may be read as a whole; encoders read all of it once. */
const MOST_READ: u64 = 4

let bytes: usize = 0
let length: u32 = 0
let read: u64 = 0

/** Begins with other bytes. */
export function openData(at: usize, size: usize): void {
  bytes = at
  length = size as u32
  read = 0
}

/** Puts the value of a type that begins at `head`, whose offsets count from `frame`; false where there is none. */
export function putValue(type: AbiType, head: u32, frame: u32): bool {
  if (!type.isDynamic) return putAt(type, head)
  const offset = numberAt(head)
  return offset >= 0 && (offset as u64) + (frame as u64) <= (length as u64)
    ? putAt(type, frame + (offset as u32))
    : false
}

/** Puts the value of a type that a topic holds. */
export function putTopic(type: AbiType, word: usize): bool {
  return putWord(type, word)
}

function putAt(type: AbiType, at: u32): bool {
  const kind = type.kind
  if (kind === BYTES || kind === STRING) return putBlob(kind, at)
  if (kind === ARRAY) return putArray(type, at)
  if (kind === TUPLE) return putTuple(type, at)
  return take(at, WORD) && putWord(type, bytes + at)
}

/** Counts these bytes as read; false where they are not all there, or too much was read. */
function take(at: u32, size: u32): bool {
  read += size as u64
  return (at as u64) + (size as u64) <= (length as u64) && read <= MOST_READ * (length as u64)
}

/** A number below 2^31 of 32 bytes; -1 where it is none. */
function numberAt(at: u32): i32 {
  if (!take(at, WORD)) return -1
  const word = bytes + at
  const high =
    load<u64>(word) | load<u64>(word, 8) | load<u64>(word, 16) | (load<u32>(word, 24) as u64)
  const low = bswap<u32>(load<u32>(word, 28))
  return high === 0 && low < 0x80000000 ? (low as i32) : -1
}

function putBlob(kind: i32, at: u32): bool {
  const size = numberAt(at)
  if (size < 0 || !take(at + WORD, size as u32)) return false
  const from = bytes + at + WORD
  if (kind === STRING) putTextValue(from, size as usize)
  else putHex(from, size as usize)
  return true
}

function putArray(type: AbiType, at: u32): bool {
  const element = type.element
  if (element === null) return false
  const isCounted = type.size === ANY
  const count = isCounted ? numberAt(at) : type.size
  const frame = isCounted ? at + WORD : at
  const step = element.headBytes
  if (count < 0 || (count as u64) * (step as u64) + (frame as u64) > (length as u64)) return false
  putByte(0x5b)
  for (let index: u32 = 0; index < (count as u32); index++) {
    if (index > 0) putByte(COMMA)
    if (!putValue(element, frame + index * step, frame)) return false
  }
  putByte(0x5d)
  return true
}

/** An object by the names of the components; one without a name has its place. */
function putTuple(type: AbiType, at: u32): bool {
  const components = type.components
  let head = at
  putByte(0x7b)
  for (let index = 0; index < components.length; index++) {
    const component = components[index]
    if (index > 0) putByte(COMMA)
    putName(component, index)
    if (!putValue(component.type, head, at)) return false
    head += component.type.headBytes
  }
  putByte(0x7d)
  return true
}

function putName(component: AbiParameter, index: i32): void {
  putByte(QUOTE)
  if (component.name.length > 0) putSpan(component.name)
  else putCount(index)
  putByte(QUOTE)
  putByte(0x3a)
}

function putWord(type: AbiType, word: usize): bool {
  const kind = type.kind
  const size = type.size
  const unused = (WORD as usize) - (size as usize)
  if (kind === FIXED_BYTES) {
    if (!isFilled(word + size, unused, 0)) return false
    putHex(word, size)
    return true
  }
  const isNegative = kind === INT && load<i8>(word + unused) < 0
  if (!isFilled(word, unused, isNegative ? 0xff : 0)) return false
  if (kind === ADDRESS) putHex(word + unused, size)
  else if (kind === BOOL) return putBool(load<u8>(word, 31))
  else putNumber(kind, word)
  return true
}

function putNumber(kind: i32, word: usize): void {
  putByte(QUOTE)
  if (kind === UINT) putUnsigned(word)
  else putSigned(word)
  putByte(QUOTE)
}

function putBool(byte: u8): bool {
  if (byte > 1) return false
  putText(byte === 1 ? '"true"' : '"false"')
  return true
}

function isFilled(from: usize, size: usize, byte: u8): bool {
  for (let index: usize = 0; index < size; index++)
    if (load<u8>(from + index) !== byte) return false
  return true
}
