/** Walks over JSON (RFC 8259) byte by byte. Each function answers where a thing ends, or 0 where it is malformed. */

/** How deep arrays and objects may be nested. */
const MOST_NESTED: i32 = 64

export const ONES: u64 = 0x0101010101010101
export const HIGHS: u64 = 0x8080808080808080

export const QUOTE: u8 = 0x22
export const COMMA: u8 = 0x2c
export const COLON: u8 = 0x3a
export const OPEN_ARRAY: u8 = 0x5b
export const BACKSLASH: u8 = 0x5c
export const CLOSE_ARRAY: u8 = 0x5d
export const OPEN_OBJECT: u8 = 0x7b
export const CLOSE_OBJECT: u8 = 0x7d

/** The first byte that is no white space; `end` where there is none. */
export function skipSpace(from: usize, end: usize): usize {
  let at = from
  while (at < end && isSpace(load<u8>(at))) at++
  return at
}

/** The byte at an address, and 0 behind the end. */
export function byteAt(at: usize, end: usize): u8 {
  return at < end ? load<u8>(at) : 0
}

/** Where the value ends that begins exactly at `at`. */
export function skipValue(at: usize, end: usize, depth: i32 = 0): usize {
  const first = byteAt(at, end)
  if (first === QUOTE) return skipString(at, end)
  if (first === OPEN_OBJECT) return depth < MOST_NESTED ? skipObject(at + 1, end, depth + 1) : 0
  if (first === OPEN_ARRAY) return depth < MOST_NESTED ? skipArray(at + 1, end, depth + 1) : 0
  if (first === 0x74) return skipWord(at, end, 'true')
  if (first === 0x66) return skipWord(at, end, 'false')
  if (first === 0x6e) return skipWord(at, end, 'null')
  return skipNumber(at, end)
}

/** Where the string ends that begins at `at`, behind its quote. */
export function skipString(at: usize, end: usize): usize {
  if (byteAt(at, end) !== QUOTE) return 0
  let place = at + 1
  while (place < end) {
    place = skipPlain(place, end)
    const byte = byteAt(place, end)
    if (byte === QUOTE) return place + 1
    if (byte !== BACKSLASH) return 0
    place = skipEscape(place + 1, end)
    if (place === 0) return 0
  }
  return 0
}

/** The first byte of a string that is a quote, a backslash or a control character; eight are looked at at once. */
function skipPlain(from: usize, end: usize): usize {
  let at = from
  while (at + 8 <= end) {
    const bytes = load<u64>(at)
    const quotes = bytes ^ (ONES * 0x22)
    const escapes = bytes ^ (ONES * 0x5c)
    const hits =
      ((quotes - ONES) & ~quotes) | ((escapes - ONES) & ~escapes) | ((bytes - ONES * 0x20) & ~bytes)
    // Above the lowest hit there may be others that are none.
    if ((hits & HIGHS) !== 0) return at + ((ctz<u64>(hits & HIGHS) as usize) >> 3)
    at += 8
  }
  while (at < end) {
    const byte = load<u8>(at)
    if (byte === QUOTE || byte === BACKSLASH || byte < 0x20) return at
    at++
  }
  return at
}

function skipEscape(at: usize, end: usize): usize {
  const byte = byteAt(at, end)
  if (byte === 0x75) {
    for (let digit: usize = 1; digit <= 4; digit++)
      if (hexDigit(byteAt(at + digit, end)) < 0) return 0
    return at + 5
  }
  const isKnown =
    byte === QUOTE ||
    byte === BACKSLASH ||
    byte === 0x2f ||
    byte === 0x62 ||
    byte === 0x66 ||
    byte === 0x6e ||
    byte === 0x72 ||
    byte === 0x74
  return isKnown ? at + 1 : 0
}

function skipObject(from: usize, end: usize, depth: i32): usize {
  let at = skipSpace(from, end)
  if (byteAt(at, end) === CLOSE_OBJECT) return at + 1
  while (true) {
    const keyEnd = skipString(at, end)
    if (keyEnd === 0) return 0
    at = skipSpace(keyEnd, end)
    if (byteAt(at, end) !== COLON) return 0
    const valueEnd = skipValue(skipSpace(at + 1, end), end, depth)
    if (valueEnd === 0) return 0
    at = skipSpace(valueEnd, end)
    const byte = byteAt(at, end)
    if (byte === CLOSE_OBJECT) return at + 1
    if (byte !== COMMA) return 0
    at = skipSpace(at + 1, end)
  }
}

function skipArray(from: usize, end: usize, depth: i32): usize {
  let at = skipSpace(from, end)
  if (byteAt(at, end) === CLOSE_ARRAY) return at + 1
  while (true) {
    const valueEnd = skipValue(at, end, depth)
    if (valueEnd === 0) return 0
    at = skipSpace(valueEnd, end)
    const byte = byteAt(at, end)
    if (byte === CLOSE_ARRAY) return at + 1
    if (byte !== COMMA) return 0
    at = skipSpace(at + 1, end)
  }
}

function skipWord(at: usize, end: usize, word: string): usize {
  const length = word.length
  if (at + length > end) return 0
  for (let index = 0; index < length; index++)
    if (load<u8>(at + index) !== (word.charCodeAt(index) as u8)) return 0
  return at + length
}

function skipNumber(from: usize, end: usize): usize {
  let at = byteAt(from, end) === 0x2d ? from + 1 : from
  if (byteAt(at, end) === 0x30) at++
  else at = skipDigits(at, end)
  if (at !== 0 && byteAt(at, end) === 0x2e) at = skipDigits(at + 1, end)
  if (at === 0 || (byteAt(at, end) | 0x20) !== 0x65) return at
  const sign = byteAt(at + 1, end)
  return skipDigits(sign === 0x2b || sign === 0x2d ? at + 2 : at + 1, end)
}

/** At least one digit. */
function skipDigits(from: usize, end: usize): usize {
  let at = from
  while (isDigit(byteAt(at, end))) at++
  return at === from ? 0 : at
}

function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39
}

function isSpace(byte: u8): bool {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** What a hexadecimal digit stands for, or -1. */
export function hexDigit(byte: u8): i32 {
  if (isDigit(byte)) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
