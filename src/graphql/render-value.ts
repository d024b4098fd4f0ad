/**
 * How a value is written when its field is given a format.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { ASTNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Value } from '../primitives/collections.ts'
import type { Attribute } from './entity.ts'
import { refusal } from './limits.ts'
import type { Render } from './plan.ts'

/** The renderer for a format, or null where values are shown as they are. Throws GraphQLError where a format does not fit. */
export function renderFor(attribute: Attribute, format: unknown, node: ASTNode): Render | null {
  if (format === undefined || format === null || format === 'HEX') return null
  if (format === 'DECIMAL' && attribute.kind === 'quantity') return decimal
  if (format === 'CHECKSUM' && attribute.kind === 'address') return checksum
  const fitting = attribute.kind === 'quantity' ? 'HEX or DECIMAL' : 'HEX or CHECKSUM'
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    `The format ${String(format)} does not fit ${attribute.name}, which is of kind ${attribute.kind}.`,
    `Write ${fitting}.`,
    node,
  )
}

function decimal(value: Value): Value {
  return value === null ? null : BigInt(String(value)).toString()
}

const checksums = new LRUCache<string, string>({ max: 4_096 })

function checksum(value: Value): Value {
  return value === null ? null : checksumAddress(String(value))
}

/** Mixed-case checksum of a lower-case address (https://eips.ethereum.org/EIPS/eip-55). */
export function checksumAddress(address: string): string {
  const known = checksums.get(address)
  if (known !== undefined) return known
  const digits = address.slice(2)
  const digest = Buffer.from(keccak_256(Buffer.from(digits, 'ascii'))).toString('hex')
  const mixed = [...digits].map((digit, index) =>
    Number.parseInt(digest[index] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  const result = `0x${mixed.join('')}`
  checksums.set(address, result)
  return result
}
