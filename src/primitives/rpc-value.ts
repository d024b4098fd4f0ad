/**
 * Reads single values of a node's answer: hex in lower case, quantities in their shortest form,
 * what is absent as null. Hex digits themselves are checked where they are turned into bytes.
 */
import { ServiceError } from '../errors.ts'
import { onOneLine } from '../one-line.ts'
import { maxInt } from './bounds.ts'

/** Where in the answer a value stands, for the message when it cannot be read. */
export interface RpcLocation {
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
export function rpcHash(value: unknown, location: RpcLocation, field: string): string | null {
  return fixedHex(value, hashLength, location, field)
}

/** 20 bytes as hex, or null where there is none. */
export function rpcAddress(value: unknown, location: RpcLocation, field: string): string | null {
  return fixedHex(value, addressLength, location, field)
}

function fixedHex(
  value: unknown,
  length: number,
  location: RpcLocation,
  field: string,
): string | null {
  if (value === null || value === undefined) return null
  if (!isPrefixed(value) || value.length !== length) throw malformedRpcValue(location, field, value)
  return value.toLowerCase()
}

/** Whole bytes of any length as hex, or null where there are none. */
export function rpcData(value: unknown, location: RpcLocation, field: string): string | null {
  if (value === null || value === undefined) return null
  if (!isPrefixed(value) || value.length % 2 === 1) throw malformedRpcValue(location, field, value)
  return value.toLowerCase()
}

/** A number as minimal hex, or null where there is none; padded forms are made minimal. */
export function rpcQuantity(value: unknown, location: RpcLocation, field: string): string | null {
  if (value === null || value === undefined) return null
  if (!isPrefixed(value)) throw malformedRpcValue(location, field, value)
  let first = 2
  while (value.charCodeAt(first) === zero) first++
  const digits = value.length - first
  if (digits > maxQuantityDigits) throw malformedRpcValue(location, field, value)
  if (digits === 0) return '0x0'
  return (first === 2 ? value : `0x${value.slice(first)}`).toLowerCase()
}

/** A quantity as a number of at most `most`. */
export function rpcInteger(
  value: unknown,
  location: RpcLocation,
  field: string,
  most: number = maxInt,
): number {
  if (!isPrefixed(value) || value.length === 2) throw malformedRpcValue(location, field, value)
  let number = 0
  for (let index = 2; index < value.length; index++) {
    number = number * 16 + hexDigit(value.charCodeAt(index))
    if (!(number <= most)) throw malformedRpcValue(location, field, value)
  }
  return number
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}

/** A list of 32-byte values; empty where there is none. */
export function rpcHashes(value: unknown, location: RpcLocation, field: string): readonly string[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw malformedRpcValue(location, field, value)
  return value.map((item) => required(rpcHash(item, location, field), location, field))
}

/** A list of objects; empty where there is none. */
export function rpcList<T>(value: unknown, location: RpcLocation, field: string): readonly T[] {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) throw malformedRpcValue(location, field, value)
  for (const item of value) {
    if (typeof item !== 'object' || item === null) throw malformedRpcValue(location, field, item)
  }
  return value
}

/** The value, which must be there. */
export function required<T>(value: T | null, location: RpcLocation, field: string): T {
  if (value === null) throw malformedRpcValue(location, field, value)
  return value
}

function isPrefixed(value: unknown): value is string {
  return (
    typeof value === 'string' && value.charCodeAt(0) === zero && value.charCodeAt(1) === letterX
  )
}

/** The error for a value that cannot be read. */
export function malformedRpcValue(
  location: RpcLocation,
  field: string,
  found: unknown,
): ServiceError {
  const path =
    location.index < 0
      ? `${location.part}.${field}`
      : `${location.part}[${location.index}].${field}`
  const shown = found === undefined ? 'nothing' : onOneLine(JSON.stringify(found), 80)
  return new ServiceError('PRIMITIVES_BLOCK_MALFORMED', `The node answered ${path} = ${shown}`, {
    facts: { field: path, found: shown },
    remedy: 'Check the execution node: its answer does not follow the JSON-RPC specification.',
  })
}
