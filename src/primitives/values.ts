/**
 * The codec of one document's values: the canonical DAG-CBOR array that is stored, sent and hashed.
 * Hex is held as byte strings, a quantity as its shortest big-endian bytes (zero is the empty
 * string), Int as integer, text as text, a list as array, absent as null.
 */
import { invariant, ServiceError } from '../errors.ts'
import { isInt } from './bounds.ts'
import {
  asBuffer,
  type ByteReader,
  type ByteWriter,
  createByteReader,
  createByteWriter,
  headAt,
  major,
  putHead,
  readHead,
  reserve,
  simple,
  skipBoolean,
  skipNull,
  skipString,
  skipText,
  writeHead,
  writeHex,
  writeSimple,
  writeText,
} from './cbor.ts'
import {
  type CollectionName,
  collections,
  type Field,
  type FieldKind,
  storedFields,
  type Value,
} from './collections.ts'

/** EVM words are 256 bits wide; no quantity is wider. */
const maxQuantityBytes = 32

/** Characters of a wrong value that an error shows. */
const maxShown = 80

const hashBytes = 32
const addressBytes = 20

interface Plan {
  readonly collection: CollectionName
  readonly fields: readonly Field[]
}

const plans: Readonly<Record<CollectionName, Plan>> = buildPlans()

function buildPlans(): Record<CollectionName, Plan> {
  const names = Object.keys(collections) as CollectionName[]
  const entries = names.map((name) => [name, { collection: name, fields: storedFields(name) }])
  return Object.fromEntries(entries) as Record<CollectionName, Plan>
}

/** How many values a stored document of this collection has. */
export function valueCount(collection: CollectionName): number {
  return plans[collection].fields.length
}

/**
 * The canonical bytes of a document's values, in table order, without unsigned fields.
 * @throws ServiceError `PRIMITIVES_BLOCK_MALFORMED` naming the field whose hex is not hex.
 */
export function encodeValues(collection: CollectionName, values: readonly Value[]): Uint8Array {
  const out = createByteWriter()
  writeValues(out, collection, values)
  return Buffer.from(out.bytes.subarray(0, out.at))
}

/** Writes what `encodeValues` returns. */
export function writeValues(
  out: ByteWriter,
  collection: CollectionName,
  values: readonly Value[],
): void {
  const { fields } = plans[collection]
  invariant(values.length === fields.length, `a ${collection} has ${fields.length} values`)
  writeHead(out, major.array, fields.length)
  for (const [index, field] of fields.entries()) {
    const value = values[index] ?? null
    if (!writeField(out, field, value)) throw unwritable(collection, field, value)
  }
}

function writeField(out: ByteWriter, field: Field, value: Value): boolean {
  if (value === null) {
    if (field.required === true || field.list === true) return false
    writeSimple(out, simple.null)
    return true
  }
  if (typeof value !== 'object') return writeScalar(out, field.kind, value)
  if (field.list !== true) return false
  writeHead(out, major.array, value.length)
  for (const item of value) {
    if (!writeScalar(out, field.kind, item)) return false
  }
  return true
}

function writeScalar(out: ByteWriter, kind: FieldKind, value: string | number | boolean): boolean {
  switch (typeof value) {
    case 'string':
      return writeString(out, kind, value)
    case 'number':
      if (kind !== 'int' || !isInt(value)) return false
      reserve(out, 9)
      out.at = putHead(out.bytes, out.at, major.int, value)
      return true
    default:
      writeSimple(out, value ? simple.true : simple.false)
      return kind === 'boolean'
  }
}

function writeString(out: ByteWriter, kind: FieldKind, text: string): boolean {
  switch (kind) {
    case 'text':
      writeText(out, text)
      return true
    case 'quantity':
      return writeQuantity(out, text)
    case 'hash':
      return text.length === 2 + 2 * hashBytes && writePrefixed(out, text)
    case 'address':
      return text.length === 2 + 2 * addressBytes && writePrefixed(out, text)
    case 'data':
      return text.length % 2 === 0 && writePrefixed(out, text)
    default:
      return false
  }
}

function writePrefixed(out: ByteWriter, text: string): boolean {
  return text.charCodeAt(0) === 0x30 && text.charCodeAt(1) === 0x78 && writeHex(out, text, 2)
}

function writeQuantity(out: ByteWriter, text: string): boolean {
  if (text === '0x0') return writeHex(out, '', 0)
  const isMinimal = text.length > 2 && text.charCodeAt(2) !== 0x30
  return isMinimal && text.length <= 2 + 2 * maxQuantityBytes && writePrefixed(out, text)
}

function unwritable(collection: CollectionName, { name, kind }: Field, value: Value): ServiceError {
  const found = JSON.stringify(value).slice(0, maxShown)
  return new ServiceError(
    'PRIMITIVES_BLOCK_MALFORMED',
    `${collection}.${name} cannot be stored as ${kind}: ${found}`,
    {
      facts: { collection, field: name, found },
      remedy: 'Check the execution node: its answer does not follow the JSON-RPC specification.',
    },
  )
}

/**
 * Reads what `encodeValues` wrote, and accepts nothing else.
 * @throws ServiceError `PRIMITIVES_NOT_CANONICAL` naming the field where the bytes differ.
 */
export function decodeValues(collection: CollectionName, bytes: Uint8Array): Value[] {
  const { fields } = plans[collection]
  const offsets = new Int32Array(fields.length + 1)
  const bad = scanValues(collection, asBuffer(bytes), 0, bytes.length, offsets)
  if (bad !== undefined) throw notCanonical(collection, bad)
  const reader = createByteReader(bytes)
  return fields.map((field, index) => {
    reader.at = offsets[index] ?? 0
    return readFieldValue(reader, field)
  })
}

/**
 * Reads one field of stored bytes without building the others. The bytes are taken as canonical, as
 * they are once `verifyBody` has seen them; damaged ones end in an error, never in a wrong place.
 * @throws ServiceError `PRIMITIVES_NOT_CANONICAL` when the bytes end or change kind before the field.
 */
export function readField(
  collection: CollectionName,
  bytes: Uint8Array,
  fieldIndex: number,
): Value {
  const { fields } = plans[collection]
  const field = fields[fieldIndex]
  invariant(field !== undefined, `a stored ${collection} has a field ${fieldIndex}`)
  const reader = createByteReader(bytes)
  let isGood = readHead(reader, major.array) === fields.length
  for (let index = 0; isGood && index < fieldIndex; index++) isGood = skipItem(reader)
  const start = reader.at
  if (!isGood || !skipField(reader, field)) throw notCanonical(collection, field.name)
  reader.at = start
  return readFieldValue(reader, field)
}

/**
 * Checks that bytes from `start` to `end` are one canonical document and notes where each value
 * starts (and, last, where they end). Returns the name of the first field that is wrong.
 */
export function scanValues(
  collection: CollectionName,
  bytes: Buffer,
  start: number,
  end: number,
  offsets: Int32Array,
): string | undefined {
  const { fields } = plans[collection]
  const reader = createByteReader(bytes, start, end)
  if (readHead(reader, major.array) !== fields.length) return 'values'
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]
    offsets[index] = reader.at
    if (field === undefined || !skipField(reader, field)) return field?.name ?? 'values'
  }
  offsets[fields.length] = reader.at
  return reader.at === end ? undefined : 'values'
}

function skipField(reader: ByteReader, field: Field): boolean {
  if (field.list === true) return skipList(reader, field.kind)
  if (skipNull(reader)) return field.required !== true
  return skipScalar(reader, field.kind)
}

function skipList(reader: ByteReader, kind: FieldKind): boolean {
  const length = readHead(reader, major.array)
  for (let index = 0; index < length; index++) if (!skipScalar(reader, kind)) return false
  return length >= 0
}

function skipScalar(reader: ByteReader, kind: FieldKind): boolean {
  switch (kind) {
    case 'hash':
      return skipString(reader, major.bytes) === hashBytes
    case 'address':
      return skipString(reader, major.bytes) === addressBytes
    case 'data':
      return skipString(reader, major.bytes) >= 0
    case 'quantity':
      return skipQuantity(reader)
    case 'int':
      return isInt(readHead(reader, major.int))
    case 'boolean':
      return skipBoolean(reader)
    case 'text':
      return skipText(reader)
  }
}

function skipQuantity(reader: ByteReader): boolean {
  const length = skipString(reader, major.bytes)
  if (length < 0 || length > maxQuantityBytes) return false
  return length === 0 || reader.bytes[reader.at - length] !== 0
}

/** Skips any value of a stored document, whatever its kind; false when it is cut off or foreign. */
export function skipItem(reader: ByteReader): boolean {
  if (skipNull(reader) || skipBoolean(reader)) return true
  const kind = headAt(reader) & 0xe0
  if (kind === major.bytes || kind === major.text) return skipString(reader, kind) >= 0
  if (kind === major.int) return readHead(reader, kind) >= 0
  return skipItems(reader)
}

/** The items of a list; false where there is none. */
function skipItems(reader: ByteReader): boolean {
  const length = readHead(reader, major.array)
  for (let index = 0; index < length; index++) {
    const kind = headAt(reader) & 0xe0
    if ((kind !== major.bytes && kind !== major.text) || skipString(reader, kind) < 0) return false
  }
  return length >= 0
}

/** Reads a value of stored bytes, which were checked before. */
export function readFieldValue(reader: ByteReader, field: Field): Value {
  if (field.list === true) {
    const length = readHead(reader, major.array)
    return Array.from({ length }, () => readString(reader, field.kind))
  }
  const head = reader.bytes[reader.at]
  if (head === simple.null) return null
  if (field.kind === 'boolean') return head === simple.true
  return field.kind === 'int' ? readHead(reader, major.int) : readString(reader, field.kind)
}

function readString(reader: ByteReader, kind: FieldKind): string {
  const length = skipString(reader, kind === 'text' ? major.text : major.bytes)
  const start = reader.at - length
  if (kind === 'text') return reader.bytes.toString('utf8', start, reader.at)
  if (kind !== 'quantity') return `0x${reader.bytes.toString('hex', start, reader.at)}`
  return quantityText(reader.bytes, start, length)
}

/** The largest quantity that fits into a JavaScript number without loss: 6 bytes. */
const smallQuantityBytes = 6

function quantityText(bytes: Buffer, start: number, length: number): string {
  if (length === 0) return '0x0'
  if (length <= smallQuantityBytes) return `0x${bytes.readUIntBE(start, length).toString(16)}`
  const digits = bytes.toString('hex', start, start + length)
  return digits.startsWith('0') ? `0x${digits.slice(1)}` : `0x${digits}`
}

function notCanonical(collection: CollectionName, field: string): ServiceError {
  return new ServiceError(
    'PRIMITIVES_NOT_CANONICAL',
    `The bytes of a ${collection} are not canonical at ${field}.`,
    {
      facts: { collection, field },
      remedy: 'Discard the document and fetch it again, from another peer where one is known.',
    },
  )
}

/** What the CID hashes: `[1, "<network>__<Type>", docID, [values]]` in canonical DAG-CBOR. */
export function canonicalBytes(
  network: string,
  collection: CollectionName,
  docID: string,
  valuesBytes: Uint8Array,
): Uint8Array {
  const out = createByteWriter()
  writeEnvelopeHead(out, network, collection)
  writeText(out, docID)
  reserve(out, valuesBytes.length)
  out.bytes.set(asBuffer(valuesBytes), out.at)
  return out.bytes.subarray(0, out.at + valuesBytes.length)
}

/** Writes the part of `canonicalBytes` that all documents of a collection share. */
export function writeEnvelopeHead(
  out: ByteWriter,
  network: string,
  collection: CollectionName,
): void {
  writeHead(out, major.array, 4)
  writeHead(out, major.int, 1)
  writeText(out, `${network}__${collection}`)
}
