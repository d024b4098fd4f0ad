/** Types as an ABI writes them: `uint256`, `bytes32[2][]`, `tuple` with its components. */
import { Span } from '../sdk/span'
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
import { noteProblem } from './problem'

/** How deep arrays and tuples may be nested. */
export const MOST_NESTED: i32 = 24
/** Bytes of a value without dynamic parts; no log has more. */
const MOST_BYTES: u64 = 16 * 1024 * 1024

/** The type that this text is, with these components where it is a tuple; null with a problem noted. */
export function parseType(text: Span, components: AbiParameter[] | null): AbiType | null {
  const end = text.at + text.length
  let bracket = text.at
  while (bracket < end && load<u8>(bracket) !== 0x5b) bracket++
  const base = new Span(text.at, bracket - text.at)
  let type = components === null ? elementary(base) : tuple(components)
  let nested: i32 = 0
  while (type !== null && bracket < end) {
    const close = closing(bracket, end)
    if (close === 0 || ++nested > MOST_NESTED) type = null
    else {
      type = arrayOf(type, bracket + 1, close)
      bracket = close + 1
    }
  }
  if (type === null) noteProblem('unsupported type: ', text)
  return type
}

/** Whether a type is a tuple or an array of tuples. */
export function isTuple(text: Span): bool {
  return (
    text.length >= 5 &&
    startsWith(text, 'tuple') &&
    (text.length === 5 || load<u8>(text.at, 5) === 0x5b)
  )
}

function startsWith(text: Span, start: string): bool {
  const length = start.length
  if (text.length < (length as usize)) return false
  for (let index = 0; index < length; index++)
    if (load<u8>(text.at + index) !== (start.charCodeAt(index) as u8)) return false
  return true
}

function equals(text: Span, other: string): bool {
  return text.length === (other.length as usize) && startsWith(text, other)
}

function elementary(text: Span): AbiType | null {
  if (equals(text, 'address')) return new AbiType(ADDRESS, 20)
  if (equals(text, 'bool')) return new AbiType(BOOL, 1)
  if (equals(text, 'string')) return new AbiType(STRING, 0)
  if (equals(text, 'bytes')) return new AbiType(BYTES, 0)
  if (equals(text, 'function')) return new AbiType(FIXED_BYTES, 24)
  if (startsWith(text, 'uint')) return sized(UINT, bits(text, 4))
  if (startsWith(text, 'int')) return sized(INT, bits(text, 3))
  if (startsWith(text, 'bytes'))
    return sized(FIXED_BYTES, numberIn(text.at + 5, text.at + text.length))
  return null
}

function sized(kind: i32, size: i32): AbiType | null {
  return size >= 1 && size <= 32 ? new AbiType(kind, size) : null
}

/** Bytes of a number of so many bits; 256 where it says nothing. */
function bits(text: Span, start: usize): i32 {
  if (text.length === start) return 32
  const count = numberIn(text.at + start, text.at + text.length)
  return count % 8 === 0 ? count / 8 : 0
}

/** The number that these digits are, without leading zeros; -1 where they are none, or more than eight. */
function numberIn(from: usize, end: usize): i32 {
  if (from >= end || end - from > 8 || load<u8>(from) === 0x30) return -1
  let value: i32 = 0
  for (let at = from; at < end; at++) {
    const digit = (load<u8>(at) as i32) - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

function closing(bracket: usize, end: usize): usize {
  if (load<u8>(bracket) !== 0x5b) return 0
  let at = bracket + 1
  while (at < end && load<u8>(at) !== 0x5d) at++
  return at < end ? at : 0
}

function arrayOf(element: AbiType, from: usize, end: usize): AbiType | null {
  const count = from === end ? ANY : numberIn(from, end)
  if (count === -1 && from !== end) return null
  const type = new AbiType(ARRAY, count)
  type.element = element
  type.isDynamic = count === ANY || element.isDynamic
  if (type.isDynamic) return type
  const size = (count as u64) * (element.headBytes as u64)
  if (size > MOST_BYTES) return null
  type.headBytes = size as u32
  return type
}

function tuple(components: AbiParameter[]): AbiType | null {
  const type = new AbiType(TUPLE, components.length)
  type.components = components
  let size: u64 = 0
  for (let index = 0; index < components.length; index++) {
    const part = components[index].type
    size += part.headBytes as u64
    if (part.isDynamic) type.isDynamic = true
  }
  if (size === 0 || size > MOST_BYTES) return null
  type.headBytes = type.isDynamic ? 32 : (size as u32)
  return type
}
