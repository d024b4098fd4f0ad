/**
 * From a coerced filter argument to a condition. All fields and operators of one object must hold;
 * null under a field means "no value"; an empty object restricts nothing.
 */
import { coerceInputValue, GraphQLError } from 'graphql'
import { invariant } from '../../errors.ts'
import { isObject } from '../../json-object.ts'
import { refusal } from '../budget/limits.ts'
import {
  type Attribute,
  type Catalog,
  type Entity,
  findAttribute,
  type RowLink,
} from '../catalog/entity.ts'
import { canonicalOperator } from '../catalog/spelling.ts'
import { blockFor } from '../schema/schema-operators.ts'
import { expandValue } from '../schema/shorthand.ts'
import { all, allOf, anyOf, type Computed, type FilterCondition, none, notOf } from './condition.ts'
import { singleOperand, toOperators } from './operand.ts'
import type { Operator } from './value-test.ts'

/** What an alias of a selection stands for. */
type AliasTarget =
  | { readonly attribute: Attribute }
  | { readonly link: RowLink }
  | { readonly computed: Computed }

/** Finds what an alias of the same level stands for. */
export type AliasScope = (alias: string) => AliasTarget | undefined

/** No aliases: filters of links that are not selected. */
export const noAliases: AliasScope = () => undefined

/**
 * The condition of a filter. Throws GraphQLError where an alias is unknown or an operand is not of
 * the field's kind.
 */
export function toCondition(
  catalog: Catalog,
  entity: Entity,
  value: unknown,
  scope: AliasScope,
): FilterCondition {
  if (!isObject(value)) return all
  return allOf(
    Object.entries(value).map(([name, part]) => {
      if (name === '_and') return ofList(part, allOf)
      if (name === '_or') return ofList(part, anyOf)
      if (name === '_not')
        return part === null ? all : notOf(toCondition(catalog, entity, part, scope))
      if (name === '_alias') return aliasConditions(catalog, part, scope)
      return fieldCondition(catalog, entity, name, part)
    }),
  )

  function ofList(
    part: unknown,
    combine: (parts: readonly FilterCondition[]) => FilterCondition,
  ): FilterCondition {
    return combine([part].flat().map((one) => toCondition(catalog, entity, one, scope)))
  }
}

function fieldCondition(
  catalog: Catalog,
  entity: Entity,
  name: string,
  part: unknown,
): FilterCondition {
  const attribute = findAttribute(entity, name)
  if (attribute !== undefined) return attributeCondition(attribute, part)
  const link = entity.links.get(name)
  invariant(link !== undefined, `${entity.name} has a field ${name}`)
  return linkCondition(catalog, link, part)
}

function linkCondition(catalog: Catalog, link: RowLink, part: unknown): FilterCondition {
  if (part === null) return link.many ? { op: 'unlinked', link } : none
  const target = catalog.get(link.target)
  invariant(target !== undefined, `the catalog has ${link.target}`)
  const inner = toCondition(catalog, target, part, noAliases)
  if (inner.op === 'all' || inner.op === 'none') return inner
  return { op: 'link', link, target, part: inner }
}

// --- Operators ------------------------------------------------------------------------------

function attributeCondition(attribute: Attribute, block: unknown): FilterCondition {
  if (attribute.list) return listCondition(attribute, block)
  const operators = toOperators(attribute, block)
  return allOf(operators.map((one) => ({ op: 'value', attribute, ...one })))
}

// --- Lists ----------------------------------------------------------------------------------

function listCondition(attribute: Attribute, block: unknown): FilterCondition {
  if (block === null) return { op: 'list', attribute, isEqual: true, items: null }
  if (!isObject(block)) return all
  return allOf(
    Object.entries(block).map(([name, value]) =>
      listOperator(attribute, canonicalOperator(name), value),
    ),
  )
}

function listOperator(attribute: Attribute, name: string, value: unknown): FilterCondition {
  if (name === '_any' || name === '_all' || name === '_none') {
    const part = toOperators(attribute, value)
    if (part.length === 0) return all
    return { op: 'elements', attribute, quantifier: name, part }
  }
  const isEqual = name === '_eq'
  if (value === null) return { op: 'list', attribute, isEqual, items: null }
  const items = [value].flat().map((one) => singleOperand(attribute, one))
  return { op: 'list', attribute, isEqual, items }
}

// --- Aliases --------------------------------------------------------------------------------

function aliasConditions(catalog: Catalog, block: unknown, scope: AliasScope): FilterCondition {
  if (block === null) return all
  if (!isObject(block)) throw unexpectedType(block)
  return allOf(
    Object.entries(block).map(([alias, part]) => {
      const target = scope(alias)
      if (target === undefined) throw unknownAlias(alias)
      if ('link' in target) return linkCondition(catalog, target.link, part)
      if ('attribute' in target) return attributeAlias(target.attribute, part)
      return computedAlias(target.computed, part)
    }),
  )
}

/** What stands under an alias was not validated, as GraphQL does not know its type. */
function attributeAlias(attribute: Attribute, part: unknown): FilterCondition {
  const type = blockFor(attribute.kind, attribute.list)
  const refuse = (path: readonly (string | number)[], invalid: unknown, error: Error): never => {
    const place = ['_alias', ...path].join('.')
    throw new GraphQLError(`Invalid value ${JSON.stringify(invalid)} at ${place}; ${error.message}`)
  }
  const block: unknown = coerceInputValue(expandValue(part, type), type, refuse, true)
  return attributeCondition(attribute, block)
}

const numberOperators: ReadonlySet<string> = new Set([
  '_eq',
  '_neq',
  '_gt',
  '_geq',
  '_lt',
  '_leq',
  '_in',
  '_nin',
])

function computedAlias(computed: Computed, part: unknown): FilterCondition {
  const block = isObject(part) ? part : { _eq: part }
  return allOf(
    Object.entries(block).map(([name, value]) => {
      const operator = canonicalOperator(name) as Operator
      const isList = operator === '_in' || operator === '_nin'
      const operands = isList && Array.isArray(value) ? value : [value]
      if (!numberOperators.has(operator) || !operands.every(isNumberOrNull)) {
        throw unexpectedType(value)
      }
      return {
        op: 'computed',
        computed,
        operator,
        operand: isList ? operands : (operands[0] ?? null),
      }
    }),
  )
}

const isNumberOrNull = (value: unknown): value is number | null =>
  value === null || typeof value === 'number'

/** An alias nothing in the selection has. */
export function unknownAlias(alias: string): GraphQLError {
  return refusal(
    'GRAPHQL_CONDITION_INVALID',
    `field or alias not found. Name: ${alias}.`,
    'Give a field of the same selection this alias.',
  )
}

function unexpectedType(value: unknown): GraphQLError {
  const actual = Array.isArray(value) ? 'list' : typeof value
  return refusal(
    'GRAPHQL_CONDITION_INVALID',
    `unexpected type. Property: condition, Actual: ${actual}.`,
    'Write an object of operators, as in {_alias: {total: {_gt: 1}}}.',
  )
}
