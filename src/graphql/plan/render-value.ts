/**
 * How a value is written when its field is given a format.
 */
import type { ASTNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import { checksumAddress } from '../../primitives/checksum-address.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import { refusal } from '../budget/limits.ts'
import type { Attribute } from '../catalog/entity.ts'
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

function decimal(value: JsonValue): JsonValue {
  return value === null ? null : BigInt(String(value)).toString()
}

const checksums = new LRUCache<string, string>({ max: 4_096 })

function checksum(value: JsonValue): JsonValue {
  if (value === null) return null
  const address = String(value)
  const known = checksums.get(address)
  if (known !== undefined) return known
  const result = checksumAddress(address)
  checksums.set(address, result)
  return result
}
