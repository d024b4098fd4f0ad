/**
 * From a condition to a predicate over rows. What needs no stored bytes is evaluated first, linked rows
 * and computed values last.
 */
import { documentCid } from '../../primitives/cid.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import { rowDocID } from '../catalog/catalog.ts'
import type { Attribute, Entity, RowLink } from '../catalog/entity.ts'
import type { BlockView } from '../rows/block-view.ts'
import { hexLowered } from '../rows/hex-text.ts'
import { moveTo, type Row, rowAt } from '../rows/row.ts'
import { bytesOf } from '../rows/stored-value.ts'
import { comparisonsOf, type FilterCondition } from './condition.ts'
import { elementTest } from './operand.ts'
import { type ValueTest, valueTest } from './value-test.ts'

/** Decides whether a row matches. */
type Predicate = (row: Row) => boolean

/** A compiled condition. */
export interface Matcher {
  readonly matches: Predicate
  /** How many comparisons it takes, without those of rows that are linked to the row. */
  readonly comparisons: number
}

/** Compiles a condition on rows of an entity. What several parts of it compare is read once from each row. */
export function toMatcher(entity: Entity, condition: FilterCondition): Matcher {
  const matches = compile(entity, condition, sharedReads(condition))
  return { matches, comparisons: comparisonsOf(condition) }
}

/** How an attribute is read, where several parts of a condition do. */
type Reads = ReadonlyMap<Attribute, Attribute['read']>

function compile(entity: Entity, condition: FilterCondition, reads: Reads): Predicate {
  switch (condition.op) {
    case 'all':
      return () => true
    case 'none':
      return () => false
    case 'and':
      return every(compileParts(entity, condition.parts, reads))
    case 'or':
      return some(compileParts(entity, condition.parts, reads))
    case 'not': {
      const part = compile(entity, condition.part, reads)
      return (row) => !part(row)
    }
    default:
      return simplePredicate(entity, condition, reads)
  }
}

type Simple = Exclude<FilterCondition, { op: 'all' | 'none' | 'and' | 'or' | 'not' }>

function simplePredicate(entity: Entity, condition: Simple, reads: Reads): Predicate {
  switch (condition.op) {
    case 'value': {
      const { attribute, operator, operand } = condition
      if (operator === '_eq' && typeof operand === 'string' && attribute.equals !== undefined)
        return equalsPredicate(attribute.equals(operand), operand)
      const test = valueTest(attribute.kind, operator, operand)
      const read = reads.get(attribute) ?? attribute.read
      return mayBeLong(attribute) ? longPredicate(read, test) : (row) => test(read(row))
    }
    case 'elements': {
      const { attribute, quantifier, part } = condition
      const read = reads.get(attribute) ?? attribute.read
      return elementsPredicate(read, quantifier, elementTest(attribute, part), part.length)
    }
    case 'list': {
      const { attribute, isEqual, items } = condition
      const read = reads.get(attribute) ?? attribute.read
      return (row) => isSameList(read(row), items) === isEqual
    }
    case 'link': {
      const { link, target, part } = condition
      const comparisons = comparisonsOf(part)
      return link.many
        ? manyPredicate(link, compile(target, part, reads), comparisons)
        : onePredicate(link, compile(target, part, reads), comparisons)
    }
    case 'unlinked':
      return (row) => {
        const [start, end] = condition.link.span(row)
        return start >= end
      }
    case 'cid':
      return cidPredicate(entity, condition.cid)
    case 'computed': {
      const { computed, operator, operand } = condition
      const test = valueTest(computed.kind, operator, operand)
      return (row) => test(computed.read(row))
    }
  }
}

function compileParts(
  entity: Entity,
  parts: readonly FilterCondition[],
  reads: Reads,
): readonly Predicate[] {
  const ordered = [...parts].sort((a, b) => effort(a) - effort(b))
  return ordered.map((part) => compile(entity, part, reads))
}

/** A rough order of how much it takes to decide. */
function effort(condition: FilterCondition): number {
  switch (condition.op) {
    case 'value':
      return condition.attribute.ofBlock === true ? 0 : 1
    case 'and':
    case 'or':
      return condition.parts.reduce((most, part) => Math.max(most, effort(part)), 0)
    case 'not':
      return effort(condition.part)
    case 'elements':
    case 'list':
      return 2
    case 'link':
      return condition.link.many ? 4 : 3
    case 'cid':
    case 'computed':
      return 5
    default:
      return 0
  }
}

function every(parts: readonly Predicate[]): Predicate {
  return (row) => {
    for (const part of parts) if (!part(row)) return false
    return true
  }
}

function some(parts: readonly Predicate[]): Predicate {
  return (row) => {
    for (const part of parts) if (part(row)) return true
    return false
  }
}

function elementsPredicate(
  read: Attribute['read'],
  quantifier: '_any' | '_all' | '_none',
  test: ValueTest,
  comparisons: number,
): Predicate {
  return (row) => {
    const list = read(row)
    if (!Array.isArray(list)) return false
    row.block.session.budget.countComparisons(list.length * comparisons)
    if (quantifier === '_all') return list.every(test)
    return list.some(test) === (quantifier === '_any')
  }
}

/** Calldata and log data, of which some are as long as all other values of their block together. */
const mayBeLong = ({ kind }: Attribute): boolean =>
  kind === 'data' || kind === 'string' || kind === 'name'

/** Characters that take as long as a comparison of a short value. */
const charactersAsComparison = 64

function longPredicate(read: Attribute['read'], test: ValueTest): Predicate {
  return (row) => {
    const value = read(row)
    if (typeof value === 'string' && value.length > charactersAsComparison) {
      row.block.session.budget.countComparisons(Math.floor(value.length / charactersAsComparison))
    }
    return test(value)
  }
}

/** As many comparisons for each row as for a value of the operand's length. */
function equalsPredicate(test: Predicate, { length }: string): Predicate {
  if (length <= charactersAsComparison) return test
  return (row) => {
    row.block.session.budget.countComparisons(Math.floor(length / charactersAsComparison))
    return test(row)
  }
}

function isSameList(value: JsonValue, items: readonly JsonValue[] | null): boolean {
  if (items === null || !Array.isArray(value)) return items === value
  return (
    value.length === items.length && value.every((one, index) => hexLowered(one) === items[index])
  )
}

function manyPredicate(link: RowLink, part: Predicate, comparisons: number): Predicate {
  return (row) => {
    const [start, end] = link.span(row)
    const linked = rowAt(row.block, start)
    for (let position = start; position < end; position++) {
      row.block.session.budget.countDocuments(1, comparisons)
      if (part(moveTo(linked, position))) return true
    }
    return false
  }
}

/** Neighbours are often linked to the same row, so what was found out about it last is kept. */
function onePredicate(link: RowLink, part: Predicate, comparisons: number): Predicate {
  let last: Row | undefined
  let isMatch = false
  return (row) => {
    const [position] = link.span(row)
    if (last?.block === row.block && last.position === position) return isMatch
    row.block.session.budget.countDocuments(1, comparisons)
    last = rowAt(row.block, position)
    isMatch = part(last)
    return isMatch
  }
}

function cidPredicate(entity: Entity, wanted: Uint8Array): Predicate {
  const { section } = entity
  if (section === null) return () => false
  return (row) => {
    const { network } = row.block.session
    const cid = documentCid(network, section, rowDocID(row, section), bytesOf(row, section))
    return Buffer.compare(cid, wanted) === 0
  }
}

// --- Reading --------------------------------------------------------------------------------

/** Readers of the attributes that more than one part of a condition compares. */
function sharedReads(condition: FilterCondition): Reads {
  const seen = new Set<Attribute>()
  const shared = new Map<Attribute, Attribute['read']>()
  eachAttribute(condition, (attribute) => {
    if (!seen.has(attribute)) seen.add(attribute)
    else shared.set(attribute, readOnce(attribute))
  })
  return shared
}

/** Remembers the value of the row that was read last. */
function readOnce({ read }: Attribute): Attribute['read'] {
  let block: BlockView | undefined
  let position = 0
  let value: JsonValue = null
  return (row) => {
    if (row.block !== block || row.position !== position) {
      value = read(row)
      block = row.block
      position = row.position
    }
    return value
  }
}

function eachAttribute(condition: FilterCondition, visit: (attribute: Attribute) => void): void {
  switch (condition.op) {
    case 'and':
    case 'or':
      for (const part of condition.parts) eachAttribute(part, visit)
      break
    case 'not':
    case 'link':
      eachAttribute(condition.part, visit)
      break
    case 'value':
    case 'elements':
    case 'list':
      visit(condition.attribute)
      break
    default:
  }
}
