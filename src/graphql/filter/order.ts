/**
 * The order of rows: keys from the order argument, then chain position. Ties of a descending order
 * descend. An order that follows the chain needs no sort: rows come out of the scan in it.
 */
import type { ASTNode } from 'graphql'
import { invariant } from '../../errors.ts'
import { isObject } from '../../json-object.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import { maxOrderKeys, refusal } from '../budget/limits.ts'
import {
  type AttributeKind,
  type Catalog,
  type Course,
  type Entity,
  findAttribute,
} from '../catalog/entity.ts'
import { compareRows, type Row, rowAt } from '../rows/row.ts'
import { type AliasScope, noAliases, unknownAlias } from './filter.ts'
import { compareValues } from './value-test.ts'

/** One thing to order by. */
export interface OrderKey {
  /** What it reads, from the ordered rows on: `transaction.hash`. */
  readonly path: string
  readonly kind: AttributeKind
  readonly descending: boolean
  readonly course?: Course
  /** The same for all rows of a block. */
  readonly ofBlock: boolean
  read(row: Row): JsonValue
}

/** How the rows of an order come about. */
type OrderPlan =
  /** All rows are read before the first one is known. */
  | { readonly type: 'sort' }
  /** Blocks in one direction; within a block by position, or sorted where that differs. */
  | {
      readonly type: 'chain'
      readonly blocksDescending: boolean
      readonly within: 'ascending' | 'descending' | 'sort'
    }

/**
 * The keys of a coerced order argument, each once. Throws GraphQLError for one that names two fields
 * at once, and for too many.
 */
export function toOrder(
  catalog: Catalog,
  entity: Entity,
  value: unknown,
  scope: AliasScope,
  node?: ASTNode,
): readonly OrderKey[] {
  const keys = withoutRepeats(writtenKeys(catalog, entity, value, scope, node))
  if (keys.length > maxOrderKeys) throw tooManyKeys(node)
  return keys
}

/** A repeated key decides nothing, but the last key decides the direction of ties. */
function withoutRepeats(keys: readonly OrderKey[]): readonly OrderKey[] {
  const seen = new Set<string>()
  return keys.filter(({ path }, index) => {
    const isFirst = !seen.has(path)
    seen.add(path)
    return isFirst || index === keys.length - 1
  })
}

function writtenKeys(
  catalog: Catalog,
  entity: Entity,
  value: unknown,
  scope: AliasScope,
  node?: ASTNode,
): readonly OrderKey[] {
  const list = Array.isArray(value) ? value : [value]
  return list.flatMap((one: unknown) => {
    const entries = isObject(one) ? Object.entries(one) : []
    const [first] = entries
    if (first === undefined) return []
    if (entries.length > 1) throw severalFields(node)
    return keyOf(catalog, entity, first, scope)
  })
}

function keyOf(
  catalog: Catalog,
  entity: Entity,
  [name, part]: readonly [string, unknown],
  scope: AliasScope,
): readonly OrderKey[] {
  if (part === null) return []
  if (name === '_alias') return aliasKeys(part, scope)
  const link = entity.links.get(name)
  if (link === undefined) return attributeKeys(entity, name, part === 'DESC')
  const target = catalog.get(link.target)
  invariant(target !== undefined, `the catalog has ${link.target}`)
  return writtenKeys(catalog, target, part, noAliases).map((key) => ({
    ...key,
    path: `${name}.${key.path}`,
    ...(key.course === 'exact-place' ? { course: 'place' as const } : {}),
    ofBlock: key.ofBlock || link.target === 'Block',
    read: (row) => key.read(rowAt(row.block, link.span(row)[0])),
  }))
}

function attributeKeys(entity: Entity, name: string, descending: boolean): readonly OrderKey[] {
  const attribute = findAttribute(entity, name)
  invariant(attribute !== undefined, `${entity.name} has a field ${name}`)
  const { kind, course, read } = attribute
  const ofBlock = attribute.ofBlock === true
  const path = attribute.name
  return [{ path, kind, descending, ofBlock, read, ...(course === undefined ? {} : { course }) }]
}

function aliasKeys(block: unknown, scope: AliasScope): readonly OrderKey[] {
  const entries = isObject(block) ? Object.entries(block) : []
  if (entries.length > 1) throw severalFields()
  return entries.flatMap(([alias, direction]) => {
    const target = scope(alias)
    if (target === undefined || 'link' in target) throw unknownAlias(alias)
    const descending = aliasDirection(direction)
    if ('computed' in target) {
      const { kind, read } = target.computed
      return [{ path: `_alias.${alias}`, kind, descending, ofBlock: false, read }]
    }
    const { name: path, kind, read, course, list } = target.attribute
    if (list) throw unknownAlias(alias)
    const rest = course === undefined ? {} : { course }
    return [{ path, kind, descending, ofBlock: false, read, ...rest }]
  })
}

function aliasDirection(direction: unknown): boolean {
  if (direction === 'ASC' || direction === 'DESC') return direction === 'DESC'
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    'invalid order direction.',
    'Write ASC or DESC, as in {_alias: {total: DESC}}.',
  )
}

function severalFields(node?: ASTNode): Error {
  return refusal(
    'GRAPHQL_CONDITION_INVALID',
    'each order argument can only define one field.',
    'Write a list, as in order: [{blockNumber: DESC}, {logIndex: ASC}].',
    node,
  )
}

const tooManyKeys = (node: ASTNode | undefined): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `The query orders a list by more than ${maxOrderKeys} keys.`,
    'Leave out those that never decide.',
    node,
  )

/** True when rows equal in all keys come in falling chain position. */
function tiesDescend(keys: readonly OrderKey[]): boolean {
  return keys.at(-1)?.descending ?? false
}

/** Finds out whether an order follows the chain. */
export function planOrder(keys: readonly OrderKey[]): OrderPlan {
  const [first] = keys
  if (first !== undefined && first.course !== 'height') return { type: 'sort' }
  return { type: 'chain', blocksDescending: first?.descending ?? false, within: planWithin(keys) }
}

/** The order among rows of one block, where everything that is the same for all of them is void. */
export function planWithin(keys: readonly OrderKey[]): 'ascending' | 'descending' | 'sort' {
  const varying = keys.filter((key) => !key.ofBlock && key.course !== 'height')
  const direction = (descending: boolean) => (descending ? 'descending' : 'ascending')
  for (const [index, key] of varying.entries()) {
    if (key.course === 'exact-place') return direction(key.descending)
    const next = varying[index + 1]?.descending ?? tiesDescend(keys)
    if (key.course !== 'place' || next !== key.descending) return 'sort'
  }
  return direction(tiesDescend(keys))
}

/** A row with its keys read once. */
export interface Ranked {
  readonly row: Row
  readonly keys: readonly JsonValue[]
}

/** Reads a row's keys. */
export function rank(row: Row, keys: readonly OrderKey[]): Ranked {
  return { row, keys: keys.map((key) => key.read(row)) }
}

/** Memory of a kept row, with what it may be the only one to keep of its block. */
const rankedBytes = 512

/** Memory that a ranked row takes, roughly. */
export function bytesOfRanked({ keys }: Ranked): number {
  return keys.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 16),
    rankedBytes,
  )
}

/** Orders ranked rows by their keys, then by chain position. */
export function rankedOrder(keys: readonly OrderKey[]): (a: Ranked, b: Ranked) => number {
  const ties = tiesDescend(keys) ? -1 : 1
  return (a, b) => {
    for (let index = 0; ; index++) {
      const key = keys[index]
      if (key === undefined) return ties * compareRows(a.row, b.row)
      const order = compareValues(key.kind, a.keys[index] ?? null, b.keys[index] ?? null)
      if (order !== 0) return key.descending ? -order : order
    }
  }
}
