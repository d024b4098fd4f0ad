/** Whole numbers as decimal digits: those of the EVM, of 256 bits and big-endian, and wider sums of them. */
import { putBytes } from './output'

/** Digits from the back, and room for a sign. */
const text = memory.data(112)
const textEnd: usize = text + 112
/** The number as ten parts of 32 bits, the highest first. */
const parts = memory.data(40)
/** Where the last 64 bits begin. */
const LOW: usize = 32
const DIVISOR: u64 = 1_000_000_000

/** Puts the number at this address, without quotes. */
export function putUnsigned(word: usize): void {
  loadParts(word, 0)
  const at = writeDigits()
  putBytes(at, textEnd - at)
}

/** The same of a number in two's complement. */
export function putSigned(word: usize): void {
  const isNegative = load<i8>(word) < 0
  loadParts(word, isNegative ? -1 : 0)
  let at = writeDigits()
  if (isNegative) store<u8>(--at, 0x2d)
  putBytes(at, textEnd - at)
}

/** Puts a sum: five parts of 64 bits in two's complement, little-endian, the lowest first. */
export function putSignedSum(sum: usize): void {
  const isNegative = load<i64>(sum, 32) < 0
  const mask: u32 = isNegative ? 0xffffffff : 0
  let carry: u64 = isNegative ? 1 : 0
  for (let index: usize = 0; index < 40; index += 4) {
    const part = ((load<u32>(sum + index) ^ mask) as u64) + carry
    store<u32>(parts + 36 - index, part as u32)
    carry = part >> 32
  }
  let at = writeDigits()
  if (isNegative) store<u8>(--at, 0x2d)
  putBytes(at, textEnd - at)
}

/** Takes the parts of a word; with -1 those of its negation. */
function loadParts(word: usize, mask: i32): void {
  store<u64>(parts, 0)
  let carry: u64 = mask === 0 ? 0 : 1
  for (let index: i32 = 28; index >= 0; index -= 4) {
    const sum = ((bswap<u32>(load<u32>(word + index)) ^ (mask as u32)) as u64) + carry
    store<u32>(parts + index, sum as u32, 8)
    carry = sum >> 32
  }
}

/** Writes the digits of the parts, which are used up, and says where they begin. */
function writeDigits(): usize {
  let at = textEnd
  let first: usize = firstPart(0)
  while (first < LOW) {
    at = writeNine(at, divide(first))
    first = firstPart(first)
  }
  const rest = ((load<u32>(parts, 32) as u64) << 32) | (load<u32>(parts, 36) as u64)
  return writeRest(at, rest)
}

/** The first part, by its place in bytes, that is not 0; at most that of the last 64 bits. */
function firstPart(from: usize): usize {
  let place = from
  while (place < LOW && load<u32>(parts + place) === 0) place += 4
  return place
}

/** Divides the number by 10 to the ninth and returns the remainder. */
function divide(first: usize): u32 {
  let left: u64 = 0
  for (let place = first; place < 40; place += 4) {
    const value = (left << 32) | (load<u32>(parts + place) as u64)
    store<u32>(parts + place, (value / DIVISOR) as u32)
    left = value % DIVISOR
  }
  return left as u32
}

function writeNine(end: usize, value: u32): usize {
  let left = value
  for (let digit: usize = 1; digit <= 9; digit++) {
    store<u8>(end - digit, (0x30 + (left % 10)) as u8)
    left /= 10
  }
  return end - 9
}

function writeRest(end: usize, value: u64): usize {
  let at = end
  let left = value
  do {
    store<u8>(--at, (0x30 + (left % 10)) as u8)
    left /= 10
  } while (left !== 0)
  return at
}
