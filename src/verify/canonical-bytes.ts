/**
 * The canonical bytes of a document from the fields of an answer, without Node. Every field has the one
 * form in which a Host returns it, or that of a `format` of it; anything else has no bytes.
 */
import { hexToBytes } from '@noble/hashes/utils.js'
import { isInt } from '../primitives/bounds.ts'
import { checksumAddress } from '../primitives/checksum-address.ts'
import {
  type CollectionName,
  type Field,
  type FieldKind,
  storedFields,
} from '../primitives/collections.ts'
import { typeName } from '../primitives/names.ts'
import { arrayItem, booleanItem, bytesItem, intItem, nullItem, textItem } from './dag-cbor.ts'

/** Items of a list, and bytes of a value: more than a block has room for. */
const maxItems = 1_000_000
const maxValueBytes = 32 * 1024 * 1024

const hashDigits = 64
const addressDigits = 40
const widest = 1n << 256n

/** What the CID of a document hashes, or the name of the first field that has no bytes. */
export function answeredBytes(
  network: string,
  collection: CollectionName,
  docID: string,
  document: Readonly<Record<string, unknown>>,
): { readonly bytes: Uint8Array } | { readonly malformed: string } {
  const values: Uint8Array[] = []
  for (const field of storedFields(collection)) {
    const item = fieldItem(field, document[field.name])
    if (item === null) return { malformed: field.name }
    values.push(item)
  }
  const name = textItem(typeName(network, collection))
  return { bytes: arrayItem([intItem(1), name, textItem(docID), arrayItem(values)]) }
}

function fieldItem({ kind, list, required }: Field, value: unknown): Uint8Array | null {
  if (list === true) return listItem(kind, value)
  if (value === null) return required === true ? null : nullItem
  return scalarItem(kind, value)
}

function listItem(kind: FieldKind, value: unknown): Uint8Array | null {
  if (!Array.isArray(value) || value.length > maxItems) return null
  const items: Uint8Array[] = []
  for (const one of value) {
    const item = scalarItem(kind, one)
    if (item === null) return null
    items.push(item)
  }
  return arrayItem(items)
}

function scalarItem(kind: FieldKind, value: unknown): Uint8Array | null {
  switch (typeof value) {
    case 'boolean':
      return kind === 'boolean' ? booleanItem(value) : null
    case 'number':
      return kind === 'int' && isInt(value) ? intItem(value) : null
    case 'string':
      return value.length <= 2 * maxValueBytes + 2 ? stringItem(kind, value) : null
    default:
      return null
  }
}

function stringItem(kind: FieldKind, text: string): Uint8Array | null {
  switch (kind) {
    case 'text':
      return text.isWellFormed() ? textItem(text) : null
    case 'quantity':
      return quantityItem(text)
    case 'hash':
      return text.length === 2 + hashDigits ? hexItem(text) : null
    case 'address':
      return text.length === 2 + addressDigits ? addressItem(text) : null
    case 'data':
      return hexItem(text)
    default:
      return null
  }
}

/** 0x and an even number of lower-case digits. */
function hexItem(text: string): Uint8Array | null {
  const digits = text.slice(2)
  if (!text.startsWith('0x') || digits.length % 2 !== 0 || /[^0-9a-f]/.test(digits)) return null
  return bytesItem(hexToBytes(digits))
}

/** In lower case, or with its checksum. */
function addressItem(text: string): Uint8Array | null {
  const plain = text.toLowerCase()
  return text === plain || text === checksumAddress(plain) ? hexItem(plain) : null
}

/** In minimal 0x hex, or decimal. */
function quantityItem(text: string): Uint8Array | null {
  if (/^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/.test(text)) return numberItem(text.slice(2))
  if (!/^(?:0|[1-9][0-9]{0,77})$/.test(text)) return null
  const value = BigInt(text)
  return value < widest ? numberItem(value.toString(16)) : null
}

/** The shortest big-endian bytes; none for zero. */
function numberItem(digits: string): Uint8Array {
  if (digits === '0') return bytesItem(new Uint8Array(0))
  return bytesItem(hexToBytes(digits.length % 2 === 0 ? digits : `0${digits}`))
}
