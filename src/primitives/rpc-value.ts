/**
 * Reads single values of a node's answer: hex in lower case, quantities in their shortest form,
 * what is absent as null. Hex digits themselves are checked where they are turned into bytes.
 */
import { ServiceError } from '../errors.ts'
import { maxInt } from './bounds.ts'

/** Where in the answer a value stands, for the message when it cannot be read. */
export interface Place {
  readonly part: 'block' | 'transaction' | 'receipt'
  /** The transaction's place in the block; -1 for the block itself. */
  readonly index: number
}

const hashLength = 66
const addressLength = 42
const maxQuantityDigits = 64
const zero = 0x30
const letterX = 0x78

/** 32 bytes as hex, or null where there is none. */
export function hash(value: unknown, place: Place, field: string): string | null {
  return fixedHex(value, hashLength, place, field)
}

/** 20 bytes as hex, or null where there is none. */
export function address(value: unknown, place: Place, field: string): string | null {
  return fixedHex(value, addressLength, place, field)
}

function fixedHex(value: unknown, length: number, place: Place, field: string): string | null {
  if (value === null || value === undefined) return null
  if (!isPrefixed(value) || value.length !== length) throw malformed(place, field, value)
  return value.toLowerCase()
}

/** Whole bytes of any length as hex, or null where there are none. */
export function data(value: unknown, place: Place, field: string): string | null {
  if (value === null || value === undefined) return null
  if (!isPrefixed(value) || value.length % 2 === 1) throw malformed(place, field, value)
  return value.toLowerCase()
}

/** A number as minimal hex, or null where there is none; padded forms are made minimal. */
export function quantity(value: unknown, place: Place, field: string): string | null {
  if (value === null || value === undefined) return null
  if (!isPrefixed(value)) throw malformed(place, field, value)
  let first = 2
  while (first < value.length && value.charCodeAt(first) === zero) first++
  const digits = value.length - first
  if (digits > maxQuantityDigits) throw malformed(place, field, value)
  if (digits === 0) return '0x0'
  return (first === 2 ? value : `0x${value.slice(first)}`).toLowerCase()
}

/** A quantity as a number of at most `most`. */
export function integer(
  value: unknown,
  place: Place,
  field: string,
  most: number = maxInt,
): number {
  if (!isPrefixed(value) || value.length === 2) throw malformed(place, field, value)
  let number = 0
  for (let index = 2; index < value.length; index++) {
    number = number * 16 + hexDigit(value.charCodeAt(index))
    if (!(number <= most)) throw malformed(place, field, value)
  }
  return number
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}

/** A list of 32-byte values; empty where there is none. */
export function hashes(value: unknown, place: Place, field: string): readonly string[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw malformed(place, field, value)
  return value.map((item) => required(hash(item, place, field), place, field))
}

/** A list of objects; empty where there is none. */
export function childList<T>(value: unknown, place: Place, field: string): readonly T[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw malformed(place, field, value)
  for (const item of value) {
    if (typeof item !== 'object' || item === null) throw malformed(place, field, item)
  }
  return value
}

/** The value, which must be there. */
export function required<T>(value: T | null, place: Place, field: string): T {
  if (value === null) throw malformed(place, field, value)
  return value
}

function isPrefixed(value: unknown): value is string {
  return (
    typeof value === 'string' && value.charCodeAt(0) === zero && value.charCodeAt(1) === letterX
  )
}

/** The error for a value that cannot be read. */
export function malformed(place: Place, field: string, found: unknown): ServiceError {
  const path = place.index < 0 ? `${place.part}.${field}` : `${place.part}[${place.index}].${field}`
  const shown = JSON.stringify(found)?.slice(0, 80) ?? 'nothing'
  return new ServiceError('PRIMITIVES_BLOCK_MALFORMED', `The node answered ${path} = ${shown}`, {
    facts: { field: path, found: shown },
    remedy: 'Check the execution node: its answer does not follow the JSON-RPC specification.',
  })
}
