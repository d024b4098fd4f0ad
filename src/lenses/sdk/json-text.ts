/** What JSON strings hold: unescaping, and comparing with bytes. */
import { BACKSLASH, hexDigit, QUOTE } from './json-syntax'

/** Bytes of our own: a text without its escapes, in UTF-8. */
export class Text {
  at: usize = 0
  length: usize = 0
  private capacity: usize = 0

  /** Holds what the JSON string at these addresses says, its quotes included in them. */
  unescape(from: usize, end: usize): void {
    this.reserve(end - from)
    this.length = unescapeTo(this.at, from + 1, end - 1)
  }

  /** Holds these bytes as they are. */
  copy(from: usize, end: usize): void {
    this.reserve(end - from)
    this.length = end - from
    memory.copy(this.at, from, this.length)
  }

  private reserve(most: usize): void {
    if (most <= this.capacity) return
    if (this.at !== 0) heap.free(this.at)
    this.capacity = most << 1
    this.at = heap.alloc(this.capacity)
  }
}

const one = new Text()
const another = new Text()

/** Whether a member's name, at these addresses with its quotes, is this ASCII text without quotes and backslashes. */
export function isKey(from: usize, end: usize, name: string): bool {
  const length = name.length
  if (end - from !== (length as usize) + 2) return false
  for (let index = 0; index < length; index++)
    if (load<u8>(from + index, 1) !== (name.charCodeAt(index) as u8)) return false
  return true
}

/** Whether a text is this one, of ASCII characters. */
export function isText(text: Text, other: string): bool {
  const length = other.length
  if (text.length !== (length as usize)) return false
  for (let index = 0; index < length; index++)
    if (load<u8>(text.at + index) !== (other.charCodeAt(index) as u8)) return false
  return true
}

/** Whether a JSON string begins here. */
export function isString(at: usize): bool {
  return load<u8>(at) === QUOTE
}

/** Whether the JSON string says exactly this. */
export function sameText(from: usize, end: usize, text: Text, scratch: Text): bool {
  if (isPlain(from, end))
    return end - from - 2 === text.length && memory.compare(from + 1, text.at, text.length) === 0
  scratch.unescape(from, end)
  return scratch.length === text.length && memory.compare(scratch.at, text.at, text.length) === 0
}

/** Whether the JSON string says this, the case of ASCII letters aside. */
export function sameTextInAnyCase(from: usize, end: usize, text: Text, scratch: Text): bool {
  if (isPlain(from, end))
    return end - from - 2 === text.length && sameInAnyCase(from + 1, text.at, text.length)
  scratch.unescape(from, end)
  return scratch.length === text.length && sameInAnyCase(scratch.at, text.at, text.length)
}

/** Whether two JSON strings say the same. */
export function sameStrings(from: usize, end: usize, other: usize, otherEnd: usize): bool {
  if (isPlain(from, end) && isPlain(other, otherEnd))
    return end - from === otherEnd - other && memory.compare(from, other, end - from) === 0
  one.unescape(from, end)
  another.unescape(other, otherEnd)
  return one.length === another.length && memory.compare(one.at, another.at, one.length) === 0
}

function sameInAnyCase(first: usize, other: usize, length: usize): bool {
  for (let index: usize = 0; index < length; index++)
    if (toLower(load<u8>(first + index)) !== toLower(load<u8>(other + index))) return false
  return true
}

function toLower(byte: u8): u8 {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
}

/** Whether a JSON string has no escapes. */
function isPlain(from: usize, end: usize): bool {
  for (let at = from; at < end; at++) if (load<u8>(at) === BACKSLASH) return false
  return true
}

function unescapeTo(target: usize, from: usize, end: usize): usize {
  let to = target
  let at = from
  while (at < end) {
    const byte = load<u8>(at++)
    if (byte !== BACKSLASH) {
      store<u8>(to++, byte)
      continue
    }
    const escape = load<u8>(at++)
    if (escape !== 0x75) {
      store<u8>(to++, escapedByte(escape))
      continue
    }
    let unit = fourDigits(at)
    at += 4
    if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(at, end)) {
      unit = 0x10000 + ((unit - 0xd800) << 10) + (fourDigits(at + 2) - 0xdc00)
      at += 6
    }
    to = storeCodePoint(to, unit)
  }
  return to - target
}

function isLowSurrogate(at: usize, end: usize): bool {
  if (at + 6 > end || load<u8>(at) !== BACKSLASH || load<u8>(at, 1) !== 0x75) return false
  const unit = fourDigits(at + 2)
  return unit >= 0xdc00 && unit < 0xe000
}

function fourDigits(at: usize): u32 {
  let value: u32 = 0
  for (let index: usize = 0; index < 4; index++)
    value = (value << 4) | (hexDigit(load<u8>(at + index)) as u32)
  return value
}

function escapedByte(escape: u8): u8 {
  if (escape === 0x62) return 0x08
  if (escape === 0x66) return 0x0c
  if (escape === 0x6e) return 0x0a
  if (escape === 0x72) return 0x0d
  if (escape === 0x74) return 0x09
  return escape
}

/** UTF-8; half of a surrogate pair as the three bytes that it would have. */
function storeCodePoint(to: usize, point: u32): usize {
  if (point < 0x80) {
    store<u8>(to, point as u8)
    return to + 1
  }
  if (point < 0x800) {
    store<u8>(to, (0xc0 | (point >> 6)) as u8)
    store<u8>(to, (0x80 | (point & 63)) as u8, 1)
    return to + 2
  }
  if (point < 0x10000) {
    store<u8>(to, (0xe0 | (point >> 12)) as u8)
    store<u8>(to, (0x80 | ((point >> 6) & 63)) as u8, 1)
    store<u8>(to, (0x80 | (point & 63)) as u8, 2)
    return to + 3
  }
  store<u8>(to, (0xf0 | (point >> 18)) as u8)
  store<u8>(to, (0x80 | ((point >> 12) & 63)) as u8, 1)
  store<u8>(to, (0x80 | ((point >> 6) & 63)) as u8, 2)
  store<u8>(to, (0x80 | (point & 63)) as u8, 3)
  return to + 4
}
