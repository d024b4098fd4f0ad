/** Whether a value of a row that came from a stranger is one of the SDL's type, in the one form that it has as bytes. */
import { ServiceError } from '../../errors.ts'
import {
  type ByteReader,
  headAt,
  major,
  readHead,
  skipBoolean,
  skipNull,
  skipText,
} from '../../primitives/cbor.ts'
import { double, map, negative } from './row-codec.ts'
import { rowLimits } from './row-limits.ts'
import type { RowScalar, RowType } from './row-type.ts'
import { maxBigIntCharacters, maxJsonDepth } from './row-values.ts'

/**
 * Skips the value at the place of the reader, given how many items the row has had; returns how many it has then.
 * @throws ServiceError `VIEWS_ROW_MALFORMED`.
 */
type ValueCheck = (reader: ByteReader, items: number) => number

/** What rows are refused with; `found` continues "Rows that came cannot be read: ". */
export function malformedRow(found: string, cause?: unknown): ServiceError {
  return new ServiceError('VIEWS_ROW_MALFORMED', `Rows that came cannot be read: ${found}.`, {
    facts: { found },
    remedy: 'Discard them, and take rows from another Host.',
    cause,
  })
}

/** The check for values of a field. */
export function createValueCheck({ name, scalar, list }: RowType['fields'][number]): ValueCheck {
  const skip = skipScalar[scalar]
  const check: ValueCheck = (reader, items) => {
    const after = skipNull(reader) ? items : skip(reader, items)
    if (after < 0) throw malformedRow(`a value of ${name} is no ${scalar}`)
    return after
  }
  if (!list) return check
  return (reader, items) => {
    if (skipNull(reader)) return items
    const count = readHead(reader, major.array)
    if (count < 0) throw malformedRow(`a value of ${name} is no list`)
    let after = addItems(items, count)
    for (let index = 0; index < count; index++) after = check(reader, after)
    return after
  }
}

function addItems(items: number, more: number): number {
  if (items + more <= rowLimits.rowItems) return items + more
  throw malformedRow(`a row has more than ${rowLimits.rowItems} items and properties`)
}

/** Skips a value of the type, but for null; false where there is none, and then the reader is anywhere. */
type Skip = (reader: ByteReader) => boolean

/** As `ValueCheck`, but -1 where there is no such value. */
type SkipCounted = (reader: ByteReader, items: number) => number

const uncounted =
  (skip: Skip): SkipCounted =>
  (reader, items) =>
    skip(reader) ? items : -1

/** A whole number that is safe. */
const skipWhole: Skip = (reader) => {
  if (headAt(reader) < negative) return readHead(reader, major.int) >= 0
  const value = readHead(reader, negative)
  return value >= 0 && value < Number.MAX_SAFE_INTEGER
}

/** A number of 64 bits only where it is none of those that are written as whole ones. */
const skipNumber: Skip = (reader) => {
  if (headAt(reader) !== double) return skipWhole(reader)
  if (reader.at + 9 > reader.end) return false
  const value = reader.bytes.readDoubleBE(reader.at + 1)
  reader.at += 9
  return Number.isFinite(value) && !Number.isSafeInteger(value)
}

const wholeNumber = /^(?:0|-?[1-9][0-9]*)$/
/** What is given as hex may have more digits than characters are allowed, but stays below this. */
const hexEnd = 16n ** BigInt(maxBigIntCharacters - '0x'.length)
const maxDigits = String(hexEnd).length

const skipBigInt: Skip = (reader) => {
  const start = reader.at
  if (!skipText(reader)) return false
  const headBytes = reader.at - start > longHeadFrom ? 2 : 1
  const length = reader.at - start - headBytes
  if (length > maxDigits) return false
  const text = reader.bytes.toString('latin1', start + headBytes, reader.at)
  if (!wholeNumber.test(text)) return false
  return length <= maxBigIntCharacters || (!text.startsWith('-') && BigInt(text) < hexEnd)
}

/** Bytes of the longest text whose length is a part of the first byte, with that byte. */
const longHeadFrom = 24

const skipScalar: Readonly<Record<RowScalar, SkipCounted>> = {
  String: uncounted(skipText),
  ID: uncounted(skipText),
  Int: uncounted(skipWhole),
  Float: uncounted(skipNumber),
  Boolean: uncounted(skipBoolean),
  BigInt: uncounted(skipBigInt),
  JSON: (reader, items) => skipJson(reader, items, maxJsonDepth),
}

/** Anything that JSON can say; `depth` is how many lists and objects may nest. */
function skipJson(reader: ByteReader, items: number, depth: number): number {
  switch (headAt(reader) & kindMask) {
    case major.text:
      return skipText(reader) ? items : -1
    case major.array:
      return skipJsonList(reader, items, depth)
    case map:
      return skipJsonObject(reader, items, depth)
    default:
      return skipNull(reader) || skipBoolean(reader) || skipNumber(reader) ? items : -1
  }
}

/** The bits of a first byte that say of what kind the item is. */
const kindMask = 0xe0

function skipJsonList(reader: ByteReader, items: number, depth: number): number {
  const count = readHead(reader, major.array)
  if (count < 0 || depth === 0) return -1
  let after = addItems(items, count)
  for (let index = 0; index < count && after >= 0; index++)
    after = skipJson(reader, after, depth - 1)
  return after
}

/** Keys ascend as `writeValue` sorts them, and none comes twice. */
function skipJsonObject(reader: ByteReader, items: number, depth: number): number {
  const count = readHead(reader, map)
  if (count < 0 || depth === 0) return -1
  let after = addItems(items, count)
  let [before, beforeEnd] = [reader.at, reader.at]
  for (let index = 0; index < count && after >= 0; index++) {
    const start = reader.at
    if (!skipText(reader)) return -1
    if (!isAscending(reader.bytes, before, beforeEnd, start, reader.at)) return -1
    before = start
    beforeEnd = reader.at
    after = skipJson(reader, after, depth - 1)
  }
  return after
}

/**
 * Whether one key follows another: with their lengths before them, so that the shorter precedes the longer. For short
 * keys a loop is faster than `Buffer.compare`.
 */
function isAscending(bytes: Buffer, a: number, aEnd: number, b: number, bEnd: number): boolean {
  const shorter = Math.min(aEnd - a, bEnd - b)
  for (let index = 0; index < shorter; index++) {
    const difference = (bytes[b + index] ?? 0) - (bytes[a + index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return aEnd - a < bEnd - b
}
