/** Bytes that are meant as UTF-8, as a JSON string; what is no UTF-8 becomes U+FFFD as the encoding standard says. */
import { BACKSLASH, QUOTE } from './json-syntax'
import { putByte, putBytes, putText } from './output'

/** Puts the text with its quotes. */
export function putTextValue(from: usize, length: usize): void {
  const end = from + length
  putByte(QUOTE)
  let at = from
  while (at < end) {
    const run = at
    while (at < end && isPlain(load<u8>(at))) at++
    putBytes(run, at - run)
    if (at < end) at = putSpecial(at, end)
  }
  putByte(QUOTE)
}

function isPlain(byte: u8): bool {
  return byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== BACKSLASH
}

function putSpecial(at: usize, end: usize): usize {
  const byte = load<u8>(at)
  if (byte < 0x80) {
    putEscaped(byte)
    return at + 1
  }
  const more = bytesAfter(byte)
  const seen = matching(at, end, byte, more)
  if (more > 0 && seen === more) putBytes(at, more + 1)
  else putText('\\ufffd')
  return at + 1 + seen
}

function putEscaped(byte: u8): void {
  if (byte === QUOTE || byte === BACKSLASH) {
    putByte(BACKSLASH)
    putByte(byte)
    return
  }
  putText('\\u00')
  putByte((0x30 + (byte >> 4)) as u8)
  const low = byte & 15
  putByte((low < 10 ? 0x30 + low : 0x57 + low) as u8)
}

/** How many bytes follow this first one; 0 where it begins nothing. */
function bytesAfter(first: u8): usize {
  if (first >= 0xc2 && first < 0xe0) return 1
  if (first >= 0xe0 && first < 0xf0) return 2
  return first >= 0xf0 && first < 0xf5 ? 3 : 0
}

/** How many of them are there and may stand there. */
function matching(at: usize, end: usize, first: u8, more: usize): usize {
  let seen: usize = 0
  while (seen < more && at + seen + 1 < end) {
    const byte = load<u8>(at + seen, 1)
    const least: u8 = seen > 0 ? 0x80 : leastSecond(first)
    const most: u8 = seen > 0 ? 0xbf : mostSecond(first)
    if (byte < least || byte > most) break
    seen++
  }
  return seen
}

/** Neither overlong, nor a surrogate, nor beyond U+10FFFF. */
function leastSecond(first: u8): u8 {
  if (first === 0xe0) return 0xa0
  return first === 0xf0 ? 0x90 : 0x80
}

function mostSecond(first: u8): u8 {
  if (first === 0xed) return 0x9f
  return first === 0xf4 ? 0x8f : 0xbf
}
