/**
 * From the coerced arguments of a list to what it asks for.
 */
import { type ASTNode, GraphQLError } from 'graphql'
import { parseCid } from '../../primitives/cid-text.ts'
import { refusal } from '../budget/limits.ts'
import { type Catalog, type Entity, findAttribute } from '../catalog/entity.ts'
import { all, allOf, type FilterCondition } from './condition.ts'
import { type AliasScope, toCondition } from './filter.ts'
import { singleOperand } from './operand.ts'
import { type OrderKey, toOrder } from './order.ts'

/** Coerced arguments by name. */
export type Arguments = Readonly<Record<string, unknown>>

/** What a list asks for. Throws GraphQLError naming the argument that makes no sense. */
export function toListRequest(
  catalog: Catalog,
  entity: Entity,
  args: Arguments,
  scope: AliasScope,
  node?: ASTNode,
): ListRequest {
  const conditions = [
    docIDCondition(entity, args['docID']),
    cidCondition(args['cid'], node),
    atNode(node, () => toCondition(catalog, entity, args['filter'], scope)),
  ]
  const limit = wholeNumber('limit', args['limit'], node)
  return {
    condition: allOf(conditions),
    order: toOrder(catalog, entity, args['order'], scope, node),
    offset: wholeNumber('offset', args['offset'], node),
    limit: limit === 0 ? Infinity : limit,
  }
}

/** Gives what is refused the place of the field it was asked for. */
function atNode<T>(node: ASTNode | undefined, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof GraphQLError) || node === undefined) throw error
    throw new GraphQLError(error.message, { nodes: node, extensions: error.extensions })
  }
}

/** Null or nothing is 0: no limit, no offset. */
export function wholeNumber(name: string, value: unknown, node?: ASTNode): number {
  const number = Number(value ?? 0)
  if (number >= 0) return number
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    `The ${name} ${number} is negative.`,
    'Write 0 or more; a limit of 0 means no limit.',
    node,
  )
}

function docIDCondition(entity: Entity, value: unknown): FilterCondition {
  const attribute = findAttribute(entity, '_docID')
  if (value === undefined || value === null || attribute === undefined) return all
  const ids = [value].flat().map((id) => singleOperand(attribute, String(id)))
  return { op: 'value', attribute, operator: '_in', operand: [...new Set(ids)] }
}

function cidCondition(value: unknown, node: ASTNode | undefined): FilterCondition {
  if (value === undefined || value === null) return all
  const cid = parseCid(String(value))
  if (cid !== null) return { op: 'cid', cid }
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    'invalid cid: selected encoding not supported.',
    'Write the text form of a CIDv1 (dag-cbor, sha2-256) in base32: `bafyrei...`.',
    node,
  )
}

/** What a list asks for. */
export interface ListRequest {
  readonly condition: FilterCondition
  readonly order: readonly OrderKey[]
  readonly offset: number
  /** Infinity for none. */
  readonly limit: number
}

/** Everything, in chain order. */
export const everyRow: ListRequest = { condition: all, order: [], offset: 0, limit: Infinity }
