/**
 * A filter in the form that the rest of this room works with: a tree over attributes and links,
 * simplified so that what restricts nothing is gone.
 */
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { Attribute, AttributeKind, Entity, RowLink } from '../catalog/entity.ts'
import type { Row } from '../rows/row.ts'
import type { Operand, Operator } from './value-test.ts'

/** A value a request computes for a row, such as an aggregate that an alias stands for. */
export interface Computed {
  readonly kind: AttributeKind
  read(row: Row): JsonValue
}

/** One node of a filter. */
export type FilterCondition =
  | { readonly op: 'all' }
  | { readonly op: 'none' }
  | { readonly op: 'and' | 'or'; readonly parts: readonly FilterCondition[] }
  | { readonly op: 'not'; readonly part: FilterCondition }
  | ValueCondition
  | {
      readonly op: 'elements'
      readonly attribute: Attribute
      readonly quantifier: '_any' | '_all' | '_none'
      readonly part: ElementCondition
    }
  | {
      readonly op: 'list'
      readonly attribute: Attribute
      readonly isEqual: boolean
      readonly items: readonly Operand[] | null
    }
  | {
      /** At least one linked row matches. */
      readonly op: 'link'
      readonly link: RowLink
      readonly target: Entity
      readonly part: FilterCondition
    }
  /** No linked row exists. */
  | { readonly op: 'unlinked'; readonly link: RowLink }
  | { readonly op: 'cid'; readonly cid: Uint8Array }
  | {
      readonly op: 'computed'
      readonly computed: Computed
      readonly operator: Operator
      readonly operand: Operand | readonly Operand[]
    }

/** An operator on an attribute. */
export interface ValueCondition {
  readonly op: 'value'
  readonly attribute: Attribute
  readonly operator: Operator
  readonly operand: Operand | readonly Operand[]
}

/** Operators on one element of a list, all of which must hold. */
export type ElementCondition = readonly {
  readonly operator: Operator
  readonly operand: Operand | readonly Operand[]
}[]

/** Restricts nothing. */
export const all: FilterCondition = { op: 'all' }
/** Matches nothing. */
export const none: FilterCondition = { op: 'none' }

/** All of these hold. */
export function allOf(parts: readonly FilterCondition[]): FilterCondition {
  if (parts.some((part) => part.op === 'none')) return none
  const flat = parts.flatMap((part) => {
    if (part.op === 'all') return []
    return part.op === 'and' ? part.parts : [part]
  })
  const [first] = flat
  if (first === undefined) return all
  return flat.length === 1 ? first : { op: 'and', parts: flat }
}

/** At least one of these holds. */
export function anyOf(parts: readonly FilterCondition[]): FilterCondition {
  if (parts.some((part) => part.op === 'all')) return all
  const flat = parts.flatMap((part) => {
    if (part.op === 'none') return []
    return part.op === 'or' ? part.parts : [part]
  })
  const [first] = flat
  if (first === undefined) return none
  return flat.length === 1 ? first : { op: 'or', parts: flat }
}

/** This does not hold. */
export function notOf(part: FilterCondition): FilterCondition {
  if (part.op === 'all') return none
  return part.op === 'none' ? all : { op: 'not', part }
}

/** True when it is the same for all rows of a block. */
export function isOfBlock(condition: FilterCondition): boolean {
  switch (condition.op) {
    case 'all':
    case 'none':
      return true
    case 'and':
    case 'or':
      return condition.parts.every(isOfBlock)
    case 'not':
      return isOfBlock(condition.part)
    case 'value':
      return condition.attribute.ofBlock === true
    case 'link':
      return condition.link.target === 'Block'
    default:
      return false
  }
}

/** How many comparisons one row takes at most, without those of rows that are linked to it. */
export function comparisonsOf(condition: FilterCondition): number {
  switch (condition.op) {
    case 'and':
    case 'or':
      return condition.parts.reduce((sum, part) => sum + comparisonsOf(part), 0)
    case 'not':
      return comparisonsOf(condition.part)
    case 'elements':
      return condition.part.length
    case 'list':
      return condition.items?.length ?? 1
    case 'cid':
      return comparisonsOfHash
    default:
      return 1
  }
}

/** Comparisons that take as long as making a document's CID. */
const comparisonsOfHash = 32
