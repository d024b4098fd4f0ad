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
} from '../../primitives/cbor.ts'
import { map, writeValue } from '../row-codec.ts'
import { rowLimits } from '../row-limits.ts'
import type { RowScalar, RowType } from '../row-type.ts'
import { type JsonValue, maxBigIntCharacters } from '../row-values.ts'
import {
  createPlainJson,
  isDigit,
  isNumber,
  maxPlainDepth,
  numberBetween,
  openList,
  openNested,
  openObject,
  type PlainJson,
  placesEach,
  quote,
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

interface State {
  readonly fields: RowType['fields']
  readonly names: readonly Uint8Array[]
  /** Fields by the length of their names. */
  readonly byLength: ReadonlyMap<number, readonly number[]>
  readonly json: PlainJson
  /** Where the values of fields begin and end; 0 for what is missing. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Items and properties of the row so far. */
  items: number
}

/** A writer of rows of this type. */
export function createPlainRowWriter({ fields }: Pick<RowType, 'fields'>): PlainRowWriter {
  const names = fields.map(({ name }) => Buffer.from(name))
  const state: State = {
    fields,
    names,
    byLength: Map.groupBy(names.keys(), (index) => names[index]?.length ?? 0),
    json: createPlainJson(),
    starts: new Int32Array(fields.length),
    ends: new Int32Array(fields.length),
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

/** Finds the values of the fields; false where the text is not plain, or has a field twice. */
function findFields(state: State, bytes: Uint8Array): boolean {
  const { json, starts, ends } = state
  json.bytes = bytes
  json.top = 0
  starts.fill(0)
  if (bytes[0] !== openObject || openNested(json, 0, maxPlainDepth) !== bytes.length) return false
  const { places, top } = json
  for (let at = 0; at < top; at += placesEach) {
    const [start, value, end] = [places[at] ?? 0, places[at + 1] ?? 0, places[at + 2] ?? 0]
    const field = fieldAt(state, start + 1, value - 2)
    if (field < 0) continue
    if (starts[field] !== 0) return false
    starts[field] = value
    ends[field] = end
  }
  return true
}

/** The field whose name stands between two places; -1 for none. */
function fieldAt({ byLength, names, json }: State, start: number, end: number): number {
  const candidates = byLength.get(end - start)
  if (candidates === undefined) return -1
  for (const field of candidates) if (isAt(json.bytes, start, names[field])) return field
  return -1
}

function isAt(bytes: Uint8Array, start: number, name: Uint8Array | undefined): boolean {
  if (name === undefined) return false
  for (let index = 0; index < name.length; index++)
    if (bytes[start + index] !== name[index]) return false
  return true
}

function writeFields(state: State, out: ByteWriter, source: number | null): boolean {
  const { fields, starts, ends } = state
  state.items = 0
  writeHead(out, major.array, 2)
  writeValue(out, source)
  writeHead(out, major.array, fields.length)
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]
    const [start, end] = [starts[index] ?? 0, ends[index] ?? 0]
    if (field === undefined) return false
    if (start === 0) writeSimple(out, simple.null)
    else if (!(field.list ? writeList : writeScalar)(state, out, field.scalar, start, end))
      return false
  }
  return true
}

type Write = (
  state: State,
  out: ByteWriter,
  scalar: RowScalar,
  start: number,
  end: number,
) => boolean

/** Writes a list, or null. */
const writeList: Write = (state, out, scalar, start, end) => {
  const { json } = state
  if (json.bytes[start] === nullStart) return writeScalar(state, out, scalar, start, end)
  if (json.bytes[start] !== openList) return false
  const base = openCounted(state, start)
  if (base < 0) return false
  const { places, top } = json
  writeHead(out, major.array, (top - base) / placesEach)
  for (let at = base; at < top; at += placesEach)
    if (!writeScalar(state, out, scalar, places[at + 1] ?? 0, places[at + 2] ?? 0)) return false
  json.top = base
  return true
}

/** Opens what was found to be plain, and counts it; returns its first place, -1 where the row has too much. */
function openCounted(state: State, start: number): number {
  const { json } = state
  const base = json.top
  if (openNested(json, start, maxPlainDepth) < 0) return -1
  state.items += (json.top - base) / placesEach
  return state.items > rowLimits.rowItems ? -1 : base
}

/** False where the value is of another type, or does not stand as it is to be written. */
const writeScalar: Write = (state, out, scalar, start, end) => {
  const { bytes } = state.json
  const head = bytes[start]
  if (head === nullStart) writeSimple(out, simple.null)
  else if (scalar === 'JSON') return writeJson(state, out, start, end)
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
  const isOfType = scalar === 'String' || scalar === 'ID' || isBigInt(bytes, scalar, start, end)
  if (isOfType) writeText(out, bytes, start + 1, end - 1)
  return isOfType
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
  for (let at = start + 1; at < end - 1; at++) if (!isDigit(bytes[at] ?? 0)) return false
  return true
}

function writeJson(state: State, out: ByteWriter, start: number, end: number): boolean {
  const { bytes } = state.json
  const head = bytes[start]
  if (head === quote) writeText(out, bytes, start + 1, end - 1)
  else if (isNumber(head)) writeValue(out, numberBetween(bytes, start, end))
  else if (head === openObject || head === openList) return writeNested(state, out, start)
  else if (head === nullStart) writeSimple(out, simple.null)
  else writeBoolean(out, head)
  return true
}

function writeNested(state: State, out: ByteWriter, start: number): boolean {
  const { json } = state
  const isObject = json.bytes[start] === openObject
  const base = openCounted(state, start)
  if (base < 0) return false
  const { places, top } = json
  if (isObject && !sortEntries(json, base)) return false
  writeHead(out, isObject ? map : major.array, (top - base) / placesEach)
  for (let at = base; at < top; at += placesEach) {
    const value = places[at + 1] ?? 0
    if (isObject) writeText(out, json.bytes, (places[at] ?? 0) + 1, value - 2)
    if (!writeJson(state, out, value, places[at + 2] ?? 0)) return false
  }
  json.top = base
  return true
}

/** Sorts the entries from a place on by their keys, as `writeValue` does; false for too many, or two of one key. */
function sortEntries({ bytes, places, top }: PlainJson, base: number): boolean {
  if (top - base > maxSorted * placesEach) return false
  for (let sorted = base + placesEach; sorted < top; sorted += placesEach) {
    for (let at = sorted; at > base; at -= placesEach) {
      const order = compareKeys(bytes, places, at - placesEach, at)
      if (order === 0) return false
      if (order < 0) break
      swap(places, at - placesEach, at)
    }
  }
  return true
}

/** By length, then by their bytes. */
function compareKeys(bytes: Uint8Array, places: Int32Array, a: number, b: number): number {
  const [aStart, bStart] = [places[a] ?? 0, places[b] ?? 0]
  const length = (places[a + 1] ?? 0) - aStart
  const longer = length - ((places[b + 1] ?? 0) - bStart)
  if (longer !== 0) return longer
  for (let index = 0; index < length; index++) {
    const order = (bytes[aStart + index] ?? 0) - (bytes[bStart + index] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

function swap(places: Int32Array, a: number, b: number): void {
  for (let index = 0; index < placesEach; index++) {
    const kept = places[a + index] ?? 0
    places[a + index] = places[b + index] ?? 0
    places[b + index] = kept
  }
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

function valueAt({ fields, json, starts, ends }: State, index: number): JsonValue {
  const [field, start] = [fields[index], starts[index] ?? 0]
  if (field === undefined || start === 0) return null
  const { scalar, list } = field
  if (!list) return scalarBetween(json.bytes, scalar, start, ends[index] ?? 0)
  if (json.bytes[start] !== openList) return null
  const base = json.top
  openNested(json, start, maxPlainDepth)
  const items: JsonValue[] = []
  for (let at = base; at < json.top; at += placesEach)
    items.push(
      scalarBetween(json.bytes, scalar, json.places[at + 1] ?? 0, json.places[at + 2] ?? 0),
    )
  json.top = base
  return items
}

function scalarBetween(
  bytes: Uint8Array,
  scalar: RowScalar,
  start: number,
  end: number,
): JsonValue {
  const head = bytes[start]
  if (head === nullStart) return null
  if (head === quote) return asBuffer(bytes).toString('latin1', start + 1, end - 1)
  if (!isNumber(head)) return head === trueStart
  if (scalar === 'ID' || scalar === 'BigInt') return asBuffer(bytes).toString('latin1', start, end)
  return numberBetween(bytes, start, end)
}
