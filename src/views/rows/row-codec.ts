/**
 * Rows as bytes: canonical DAG-CBOR of `[source, [values]]`, the same on every Host. Numbers that are whole and safe are
 * integers, all others have 64 bits; the keys of objects are sorted by length, then by their bytes.
 */
import { ServiceError } from '../../errors.ts'
import {
  type ByteReader,
  type ByteWriter,
  createByteReader,
  headAt,
  major,
  readHead,
  readText,
  reserve,
  simple,
  skipString,
  writeHead,
  writeSimple,
  writeText,
} from '../../primitives/cbor.ts'
import { type JsonValue, maxJsonDepth } from './row-values.ts'

/** A row that was read. */
export interface StoredRow {
  /** Position of the last document that the first lens was given before; null where it was given none. */
  readonly source: number | null
  /** In the order of the SDL's fields. */
  readonly values: readonly JsonValue[]
}

/** Major types that documents of blocks do not have. */
export const negative = 0x20
export const map = 0xa0
export const double = 0xfb
/** The list of values, a list in it, and what a value of JSON nests. */
const maxDepth = maxJsonDepth + 2

/** Writes a row. */
export function writeRow(
  out: ByteWriter,
  values: readonly JsonValue[],
  source: number | null,
): void {
  writeHead(out, major.array, 2)
  writeValue(out, source)
  writeValue(out, values)
}

/** Writes any value that JSON can say. */
export function writeValue(out: ByteWriter, value: JsonValue): void {
  if (value === null) writeSimple(out, simple.null)
  else if (typeof value === 'boolean') writeSimple(out, value ? simple.true : simple.false)
  else if (typeof value === 'string') writeText(out, value)
  else if (typeof value === 'number') writeNumber(out, value)
  else if (isList(value)) {
    writeHead(out, major.array, value.length)
    for (const item of value) writeValue(out, item)
  } else writeObject(out, value)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function writeNumber(out: ByteWriter, value: number): void {
  if (Number.isSafeInteger(value)) {
    if (value >= 0) writeHead(out, major.int, value)
    else writeHead(out, negative, -1 - value)
    return
  }
  reserve(out, 9)
  out.bytes[out.at] = double
  out.at = out.bytes.writeDoubleBE(value, out.at + 1)
}

function writeObject(out: ByteWriter, object: { readonly [key: string]: JsonValue }): void {
  const keys = sortKeys(Object.keys(object))
  writeHead(out, map, keys.length)
  for (const key of keys) {
    writeText(out, key)
    writeValue(out, object[key] ?? null)
  }
}

/** Keys as they came last, and sorted: most objects of a View have the same ones. */
let last: { readonly keys: readonly string[]; readonly sorted: readonly string[] } = {
  keys: [],
  sorted: [],
}

function sortKeys(keys: readonly string[]): readonly string[] {
  const known = last.keys
  const isSame = keys.length === known.length && keys.every((key, index) => key === known[index])
  if (!isSame) last = { keys, sorted: keys.toSorted(compareKeys) }
  return last.sorted
}

/** By length, then by their bytes: where one is ASCII the same as by characters, which takes no copies. */
function compareKeys(a: string, b: string): number {
  const [aBytes, bBytes] = [Buffer.byteLength(a), Buffer.byteLength(b)]
  if (aBytes !== bBytes) return aBytes - bBytes
  if (aBytes !== a.length) return Buffer.from(a).compare(Buffer.from(b))
  return a < b ? -1 : 1
}

/**
 * Reads a row.
 * @throws ServiceError `VIEWS_ROW_MALFORMED`.
 */
export function readRow(bytes: Uint8Array): StoredRow {
  const reader = createByteReader(bytes)
  if (readHead(reader, major.array) !== 2) throw malformed('it is not a pair', reader)
  const source = readNextValue(reader, 0)
  if (source !== null && typeof source !== 'number')
    throw malformed('its source is not a number', reader)
  const values = readNextValue(reader, maxDepth)
  if (!isList(values)) throw malformed('its values are not a list', reader)
  if (reader.at !== reader.end) throw malformed('bytes follow it', reader)
  return { source, values }
}

// --- Single values ----------------------------------------------------------------------------

/**
 * A row between two places of a chunk. Where its values begin is found as far as it is asked for: most queries want a few of
 * the first.
 */
export interface RowPlaces {
  /** Stands at the last place that was found. */
  readonly reader: ByteReader
  /** The source, and then each value in the order of the fields. */
  readonly found: number[]
  /** How many values there are. */
  readonly values: number
}

/**
 * Nothing of the row is looked at but where its values begin.
 * @throws ServiceError `VIEWS_ROW_MALFORMED`, as does `valuePlace`.
 */
export function openRowPlaces(bytes: Buffer, from: number, end: number): RowPlaces {
  const reader = createByteReader(bytes, from, end)
  if (readHead(reader, major.array) !== 2) throw malformed('it is not a pair', reader)
  const source = reader.at
  skipValue(reader)
  const values = readHead(reader, major.array)
  if (values < 0) throw malformed('its values are not a list', reader)
  return { reader, found: values === 0 ? [source] : [source, reader.at], values }
}

/** Where the source begins. */
export function sourcePlace({ found, reader }: RowPlaces): number {
  return found[0] ?? reader.end
}

/** Where the value of a field begins, by the position of the field in the SDL; undefined where the row has fewer. */
export function valuePlace(
  { reader, found, values }: RowPlaces,
  field: number,
): number | undefined {
  while (found.length <= field + 1 && found.length <= values) {
    skipValue(reader)
    found.push(reader.at)
  }
  return found[field + 1]
}

/** Skips a value with everything in it, of which each item has at least one byte. */
function skipValue(reader: ByteReader): void {
  for (let items = 1; items > 0; items--) {
    const before = reader.at
    items += skipItem(reader)
    if (reader.at <= before || reader.at > reader.end) throw malformed('it is cut off', reader)
  }
}

/** Skips an item, or the head of a list or an object; returns how many items are in it. */
function skipItem(reader: ByteReader): number {
  const head = headAt(reader)
  switch (head >>> 5) {
    case 0:
      readHead(reader, major.int)
      return 0
    case 1:
      readHead(reader, negative)
      return 0
    case 3:
      if (skipString(reader, major.text) < 0) throw malformed('a text is cut off', reader)
      return 0
    case 4:
      return Math.max(0, readHead(reader, major.array))
    case 5:
      return 2 * Math.max(0, readHead(reader, map))
    default:
      reader.at += head === double ? 9 : 1
      return 0
  }
}

/** Reads the value that begins at one of the places of a row, which ends at `end`. */
export function readRowValue(bytes: Buffer, at: number, end: number): JsonValue {
  return readNextValue(createByteReader(bytes, at, end), maxDepth)
}

/** Reads the value at the place of a reader, which stands behind it then; `depth` is how many lists and objects may nest. */
export function readNextValue(reader: ByteReader, depth: number): JsonValue {
  const head = headAt(reader)
  switch (head >>> 5) {
    case 0:
      return readCount(reader, major.int)
    case 1:
      return -1 - readCount(reader, negative)
    case 3:
      return readString(reader)
    case 4:
      return readList(reader, depth)
    case 5:
      return readObject(reader, depth)
    default:
      return readSimple(reader, head)
  }
}

function readCount(reader: ByteReader, kind: number): number {
  const count = readHead(reader, kind)
  if (count < 0) throw malformed('a number is not in its shortest form', reader)
  return count
}

function readString(reader: ByteReader): string {
  const text = readText(reader)
  if (text === undefined) throw malformed('a text is cut off, or no UTF-8', reader)
  return text
}

function readList(reader: ByteReader, depth: number): JsonValue[] {
  const count = readItems(reader, major.array, depth, 1)
  const items: JsonValue[] = []
  for (let index = 0; index < count; index++) items.push(readNextValue(reader, depth - 1))
  return items
}

function readObject(reader: ByteReader, depth: number): { readonly [key: string]: JsonValue } {
  const count = readItems(reader, map, depth, 2)
  const entries: [string, JsonValue][] = []
  for (let index = 0; index < count; index++) {
    entries.push([readString(reader), readNextValue(reader, depth - 1)])
  }
  return Object.fromEntries(entries)
}

/** How many items follow; each has at least one byte. */
function readItems(reader: ByteReader, kind: number, depth: number, bytesEach: number): number {
  const count = readCount(reader, kind)
  if (depth <= 0) throw malformed('it nests too deep', reader)
  if (count > (reader.end - reader.at) / bytesEach) throw malformed('a list is cut off', reader)
  return count
}

function readSimple(reader: ByteReader, head: number): JsonValue {
  reader.at += 1
  if (head === simple.null) return null
  if (head === simple.false || head === simple.true) return head === simple.true
  if (head !== double || reader.at + 8 > reader.end) throw malformed('a value is unknown', reader)
  reader.at += 8
  return reader.bytes.readDoubleBE(reader.at - 8)
}

function malformed(found: string, { at }: ByteReader): ServiceError {
  return new ServiceError('VIEWS_ROW_MALFORMED', `A row cannot be read at byte ${at}: ${found}.`, {
    facts: { at, found },
    remedy: 'The store is damaged: empty its directory, and the blocks are fetched again.',
  })
}
