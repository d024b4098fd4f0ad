/**
 * Rows written straight from what a lens returns, where that is plain JSON and of the SDL's types: the bytes are those of
 * `toRow` and `writeRow`, which take everything else.
 */
import {
  asBuffer,
  type ByteWriter,
  major,
  reserve,
  simple,
  writeHead,
  writeSimple,
} from '../../../primitives/cbor.ts'
import { map, writeValue } from '../row-codec.ts'
import { rowLimits } from '../row-limits.ts'
import type { RowScalar, RowType } from '../row-type.ts'
import { type JsonValue, maxBigIntCharacters } from '../row-values.ts'
import {
  createPlainJson,
  isDigit,
  isNumber,
  maxPlainDepth,
  nextOf,
  numberBetween,
  openList,
  openObject,
  type PlainJson,
  placesEach,
  quote,
  readPlainObject,
  startOf,
  valueEndOf,
  valueStartOf,
  zero,
} from './plain-json.ts'

interface PlainRowWriter {
  /** Writes the row of an object as JSON; false, with nothing written, where it takes `toRow` to say what it is. */
  write(out: ByteWriter, json: Uint8Array, source: number | null): boolean
  /** The value of a field of the row that was written last, as in `Row`; not of `JSON` fields. */
  value(field: number): JsonValue
}

/** Entries of an object of a `JSON` field, up to which they are sorted here. */
const maxSorted = 64
/** Bytes up to which copying them one by one is faster than asking for it. */
const shortText = 64

const trueStart = 't'.charCodeAt(0)
const falseStart = 'f'.charCodeAt(0)
const nullStart = 'n'.charCodeAt(0)

interface FieldName {
  readonly field: number
  readonly bytes: Uint8Array
}

interface State {
  readonly fields: RowType['fields']
  /** Names of fields by their length. */
  readonly names: ReadonlyMap<number, readonly FieldName[]>
  readonly json: PlainJson
  /** The place of each field; -1 for what is missing. */
  readonly found: Int32Array
  /** Places of the entries of objects that are being written, each object's in the order of their keys. */
  readonly order: Int32Array
  ordered: number
  /** Items and properties of the row so far. */
  items: number
}

/** A writer of rows of this type. */
export function createPlainRowWriter({ fields }: Pick<RowType, 'fields'>): PlainRowWriter {
  const names = fields.map(({ name }, field) => ({ field, bytes: Buffer.from(name) }))
  const state: State = {
    fields,
    names: Map.groupBy(names, ({ bytes }) => bytes.length),
    json: createPlainJson(),
    found: new Int32Array(fields.length),
    order: new Int32Array(maxPlainDepth * maxSorted),
    ordered: 0,
    items: 0,
  }
  return {
    write: (out, json, source) => {
      const start = out.at
      const isWritten = findFields(state, json) && writeFields(state, out, source)
      if (!isWritten) out.at = start
      return isWritten
    },
    value: (field) => valueAt(state, field),
  }
}

/** Finds the fields; false where the text is not plain, or has a field twice. */
function findFields(state: State, bytes: Uint8Array): boolean {
  const { json, found } = state
  found.fill(-1)
  if (!readPlainObject(json, bytes)) return false
  for (let at = 0; at < json.top; at = nextOf(json, at)) {
    const field = fieldAt(state, startOf(json, at) + 1, valueStartOf(json, at) - 2)
    if (field < 0) continue
    if (found[field] !== -1) return false
    found[field] = at
  }
  return true
}

/** The field whose name stands between two places; -1 for none. */
function fieldAt({ names, json }: State, start: number, end: number): number {
  const candidates = names.get(end - start)
  if (candidates === undefined) return -1
  for (const { field, bytes } of candidates) if (isAt(json.bytes, start, bytes)) return field
  return -1
}

function isAt(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index++)
    if (bytes[start + index] !== name[index]) return false
  return true
}

function writeFields(state: State, out: ByteWriter, source: number | null): boolean {
  const { fields, found } = state
  state.items = 0
  state.ordered = 0
  writeHead(out, major.array, 2)
  writeValue(out, source)
  writeHead(out, major.array, fields.length)
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]
    const place = found[index] ?? -1
    if (field === undefined) return false
    if (place < 0) writeSimple(out, simple.null)
    else if (!(field.list ? writeList : writeScalar)(state, out, field.scalar, place)) return false
  }
  return true
}

type Write = (state: State, out: ByteWriter, scalar: RowScalar, place: number) => boolean

/** Writes a list, or null. */
const writeList: Write = (state, out, scalar, place) => {
  const { json } = state
  const head = json.bytes[valueStartOf(json, place)]
  if (head === nullStart) return writeScalar(state, out, scalar, place)
  if (head !== openList) return false
  const count = countItems(state, place)
  if (count < 0) return false
  writeHead(out, major.array, count)
  const end = nextOf(json, place)
  for (let at = place + placesEach; at < end; at = nextOf(json, at))
    if (!writeScalar(state, out, scalar, at)) return false
  return true
}

/** How many entries or items the value at a place has, counted for the row; -1 where that has too many. */
function countItems(state: State, place: number): number {
  const { json } = state
  const end = nextOf(json, place)
  let count = 0
  for (let at = place + placesEach; at < end; at = nextOf(json, at)) count += 1
  state.items += count
  return state.items > rowLimits.rowItems ? -1 : count
}

/** False where the value is of another type, or does not stand as it is to be written. */
const writeScalar: Write = (state, out, scalar, place) => {
  const { json } = state
  const { bytes } = json
  const [start, end] = [valueStartOf(json, place), valueEndOf(json, place)]
  const head = bytes[start]
  if (head === nullStart) writeSimple(out, simple.null)
  else if (scalar === 'JSON') return writeJson(state, out, place)
  else if (head === quote) return writeString(out, bytes, scalar, start, end)
  else if (isNumber(head)) return writeNumber(out, bytes, scalar, start, end)
  else if (scalar === 'Boolean' && isBoolean(head)) writeBoolean(out, head)
  else return false
  return true
}

type WriteBetween = (
  out: ByteWriter,
  bytes: Uint8Array,
  scalar: RowScalar,
  start: number,
  end: number,
) => boolean

const writeString: WriteBetween = (out, bytes, scalar, start, end) => {
  const isText = scalar === 'String' || scalar === 'ID'
  if (!isText && !isBigInt(bytes, scalar, start, end)) return false
  writeText(out, bytes, start + 1, end - 1)
  return true
}

const writeNumber: WriteBetween = (out, bytes, scalar, start, end) => {
  if (scalar === 'Int' || scalar === 'Float') writeValue(out, numberBetween(bytes, start, end))
  else if (scalar === 'ID' || scalar === 'BigInt') writeText(out, bytes, start, end)
  else return false
  return true
}

/** Whether the text between two places is a whole number in the form in which it is kept. */
function isBigInt(bytes: Uint8Array, scalar: RowScalar, start: number, end: number): boolean {
  const digits = end - start - 2
  if (scalar !== 'BigInt' || digits === 0 || digits > maxBigIntCharacters) return false
  if (bytes[start + 1] === zero) return digits === 1
  for (let at = start + 1; at < end - 1; at++) if (!isDigit(bytes[at])) return false
  return true
}

function writeJson(state: State, out: ByteWriter, place: number): boolean {
  const { json } = state
  const { bytes } = json
  const [start, end] = [valueStartOf(json, place), valueEndOf(json, place)]
  const head = bytes[start]
  if (head === quote) writeText(out, bytes, start + 1, end - 1)
  else if (isNumber(head)) writeValue(out, numberBetween(bytes, start, end))
  else if (head === openObject) return writeObject(state, out, place)
  else if (head === openList) return writeItems(state, out, place)
  else if (head === nullStart) writeSimple(out, simple.null)
  else writeBoolean(out, head)
  return true
}

function writeItems(state: State, out: ByteWriter, place: number): boolean {
  const { json } = state
  const count = countItems(state, place)
  if (count < 0) return false
  writeHead(out, major.array, count)
  const end = nextOf(json, place)
  for (let at = place + placesEach; at < end; at = nextOf(json, at))
    if (!writeJson(state, out, at)) return false
  return true
}

function writeObject(state: State, out: ByteWriter, place: number): boolean {
  const { json, order, ordered } = state
  const count = countItems(state, place)
  if (count < 0 || count > maxSorted || !sortEntries(state, place)) return false
  writeHead(out, map, count)
  for (let index = ordered; index < ordered + count; index++) {
    const at = order[index] ?? 0
    writeText(out, json.bytes, startOf(json, at) + 1, valueStartOf(json, at) - 2)
    if (!writeJson(state, out, at)) return false
  }
  state.ordered = ordered
  return true
}

/** Adds the places of entries to `order`, sorted by their keys as `writeValue` does; false for two of one key. */
function sortEntries(state: State, place: number): boolean {
  const { json, order, ordered } = state
  const end = nextOf(json, place)
  for (let entry = place + placesEach; entry < end; entry = nextOf(json, entry)) {
    let at = state.ordered++
    for (; at > ordered; at--) {
      const before = order[at - 1] ?? 0
      const difference = compareKeys(json, before, entry)
      if (difference === 0) return false
      if (difference < 0) break
      order[at] = before
    }
    order[at] = entry
  }
  return true
}

/** By length, then by their bytes. */
function compareKeys(json: PlainJson, a: number, b: number): number {
  const { bytes } = json
  const [aStart, bStart] = [startOf(json, a), startOf(json, b)]
  const length = valueStartOf(json, a) - aStart
  const longer = length - (valueStartOf(json, b) - bStart)
  if (longer !== 0) return longer
  for (let index = 0; index < length; index++) {
    const order = (bytes[aStart + index] ?? 0) - (bytes[bStart + index] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

const isBoolean = (head: number | undefined): boolean => head === trueStart || head === falseStart

function writeBoolean(out: ByteWriter, head: number | undefined): void {
  writeSimple(out, head === trueStart ? simple.true : simple.false)
}

function writeText(out: ByteWriter, bytes: Uint8Array, start: number, end: number): void {
  const length = end - start
  writeHead(out, major.text, length)
  reserve(out, length)
  if (length > shortText) {
    asBuffer(bytes).copy(out.bytes, out.at, start, end)
  } else {
    const to = out.bytes
    for (let index = 0; index < length; index++) to[out.at + index] = bytes[start + index] ?? 0
  }
  out.at += length
}

function valueAt({ fields, json, found }: State, index: number): JsonValue {
  const [field, place] = [fields[index], found[index] ?? -1]
  if (field === undefined || place < 0) return null
  const { scalar, list } = field
  if (!list) return scalarAt(json, scalar, place)
  if (json.bytes[valueStartOf(json, place)] !== openList) return null
  const items: JsonValue[] = []
  const end = nextOf(json, place)
  for (let at = place + placesEach; at < end; at = nextOf(json, at))
    items.push(scalarAt(json, scalar, at))
  return items
}

function scalarAt(json: PlainJson, scalar: RowScalar, place: number): JsonValue {
  const { bytes } = json
  const [start, end] = [valueStartOf(json, place), valueEndOf(json, place)]
  const head = bytes[start]
  if (head === nullStart) return null
  if (head === quote) return asBuffer(bytes).toString('latin1', start + 1, end - 1)
  if (!isNumber(head)) return head === trueStart
  if (scalar === 'ID' || scalar === 'BigInt') return asBuffer(bytes).toString('latin1', start, end)
  return numberBetween(bytes, start, end)
}
