/** Hexadecimal: the bytes that a text stands for, and the text of bytes, in lower case. */
import { HIGHS, hexDigit, ONES, QUOTE } from './json-syntax'
import { advance, roomFor } from './output'

/** Bytes that a new buffer has beyond those it needs, at most. */
const MOST_SPARE: usize = 65536

/** For each byte its two digits, as they stand in memory. */
const digits = memory.data(512)
/** For each character what it stands for as a digit, or 255. */
const meanings = memory.data(256)

for (let byte: usize = 0; byte < 256; byte++) {
  store<u8>(digits + (byte << 1), digitOf(byte >> 4))
  store<u8>(digits + (byte << 1), digitOf(byte & 15), 1)
  store<u8>(meanings + byte, hexDigit(byte as u8) as u8)
}

function digitOf(value: usize): u8 {
  return (value < 10 ? 0x30 + value : 0x57 + value) as u8
}

/** Bytes of the last text that was read; the next one replaces them. */
export class HexBytes {
  at: usize = 0
  length: usize = 0
  private capacity: usize = 0

  /** Reads a JSON string of hexadecimal digits, with 0x or without. False where it is none. */
  read(from: usize, end: usize): bool {
    if (load<u8>(from) !== QUOTE) return false
    let at = from + 1
    const last = end - 1
    if (at + 2 <= last && load<u8>(at) === 0x30 && (load<u8>(at, 1) | 0x20) === 0x78) at += 2
    if (((last - at) & 1) !== 0) return false
    this.length = (last - at) >> 1
    if (this.length > this.capacity) this.grow()
    return bytesOf(at, last, this.at)
  }

  private grow(): void {
    if (this.at !== 0) heap.free(this.at)
    this.capacity = this.length + min<usize>((this.length >> 2) + 256, MOST_SPARE)
    this.at = heap.alloc(this.capacity)
  }
}

/** Writes the bytes of an even number of digits; false where one is no digit. */
export function bytesOf(from: usize, end: usize, target: usize): bool {
  let at = from
  let to = target
  for (; at + 8 <= end; at += 8) {
    const text = load<u64>(at)
    if (!areDigits(text)) return false
    store<u32>(to, bytesOfEight(text))
    to += 4
  }
  return bytesOfFew(at, end, to)
}

/** Whether eight characters are all digits: each is below 0x80, so that no sum reaches the next one. */
function areDigits(text: u64): bool {
  const letters = text | (ONES * 0x20)
  const decimal = (text + ONES * (0x80 - 0x30)) & ~(text + ONES * (0x7f - 0x39))
  const letter = (letters + ONES * (0x80 - 0x61)) & ~(letters + ONES * (0x7f - 0x66))
  return (text & HIGHS) === 0 && ((decimal | letter) & HIGHS) === HIGHS
}

/** The four bytes of eight digits, the first one lowest. */
function bytesOfEight(text: u64): u32 {
  const values = (text & (ONES * 0x0f)) + ((text >> 6) & ONES) * 9
  const bytes = ((values << 4) | (values >> 8)) & 0x00ff00ff00ff00ff
  const pairs = (bytes | (bytes >> 8)) & 0x0000ffff0000ffff
  return (pairs | (pairs >> 16)) as u32
}

function bytesOfFew(from: usize, end: usize, target: usize): bool {
  let to = target
  let wrong: u32 = 0
  for (let at = from; at < end; at += 2) {
    const high = load<u8>(meanings + (load<u8>(at) as usize)) as u32
    const low = load<u8>(meanings + (load<u8>(at, 1) as usize)) as u32
    wrong |= high | low
    store<u8>(to++, ((high << 4) | low) as u8)
  }
  return wrong < 16
}

/** Puts bytes as a JSON string of 0x and digits. */
export function putHex(from: usize, length: usize): void {
  const room = roomFor((length << 1) + 4)
  if (room === 0) return
  store<u8>(room, QUOTE)
  store<u16>(room, 0x7830, 1)
  let to = room + 3
  for (let at = from; at < from + length; at++) {
    store<u16>(to, load<u16>(digits + ((load<u8>(at) as usize) << 1)))
    to += 2
  }
  store<u8>(to, QUOTE)
  advance((length << 1) + 4)
}
