/** Whether two JSON values are the same: members in any order, numbers as they are written. */
import {
  byteAt,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
} from './json-syntax'
import { sameStrings } from './json-text'

/** Compares two values that are known to be JSON, from their first byte to behind their last. */
export function sameValue(from: usize, end: usize, other: usize, otherEnd: usize): bool {
  const first = load<u8>(from)
  if (first !== load<u8>(other)) return false
  if (first === QUOTE) return sameStrings(from, end, other, otherEnd)
  if (first === OPEN_OBJECT) return sameObjects(from, end, other, otherEnd)
  if (first === OPEN_ARRAY) return sameArrays(from, end, other, otherEnd)
  return end - from === otherEnd - other && memory.compare(from, other, end - from) === 0
}

function sameArrays(from: usize, end: usize, other: usize, otherEnd: usize): bool {
  let at = skipSpace(from + 1, end)
  let place = skipSpace(other + 1, otherEnd)
  while (load<u8>(at) !== CLOSE_ARRAY) {
    if (load<u8>(place) === CLOSE_ARRAY) return false
    const valueEnd = skipValue(at, end)
    const placeEnd = skipValue(place, otherEnd)
    if (!sameValue(at, valueEnd, place, placeEnd)) return false
    at = behindComma(valueEnd, end)
    place = behindComma(placeEnd, otherEnd)
  }
  return load<u8>(place) === CLOSE_ARRAY
}

function sameObjects(from: usize, end: usize, other: usize, otherEnd: usize): bool {
  let count: u32 = 0
  let at = skipSpace(from + 1, end)
  while (load<u8>(at) !== CLOSE_OBJECT) {
    const keyEnd = skipString(at, end)
    const value = skipSpace(skipSpace(keyEnd, end) + 1, end)
    const valueEnd = skipValue(value, end)
    const found = findMember(other, otherEnd, at, keyEnd)
    if (found === 0) return false
    if (!sameValue(value, valueEnd, found, skipValue(found, otherEnd))) return false
    at = behindComma(valueEnd, end)
    count++
  }
  return count === countMembers(other, otherEnd)
}

/** Where the value of this name begins; 0 without one. */
function findMember(from: usize, end: usize, key: usize, keyEnd: usize): usize {
  let at = skipSpace(from + 1, end)
  while (load<u8>(at) !== CLOSE_OBJECT) {
    const nameEnd = skipString(at, end)
    const value = skipSpace(skipSpace(nameEnd, end) + 1, end)
    if (sameStrings(at, nameEnd, key, keyEnd)) return value
    at = behindComma(skipValue(value, end), end)
  }
  return 0
}

function countMembers(from: usize, end: usize): u32 {
  let count: u32 = 0
  let at = skipSpace(from + 1, end)
  while (load<u8>(at) !== CLOSE_OBJECT) {
    const value = skipSpace(skipSpace(skipString(at, end), end) + 1, end)
    at = behindComma(skipValue(value, end), end)
    count++
  }
  return count
}

/** The next element or member, or the closing bracket. */
function behindComma(from: usize, end: usize): usize {
  const at = skipSpace(from, end)
  return byteAt(at, end) === COMMA ? skipSpace(at + 1, end) : at
}
