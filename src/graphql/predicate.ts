/**
 * From a condition to a function that decides about a row. What needs no stored bytes is asked
 * first, linked rows and computed values last.
 */

import { documentCid } from '../primitives/cid.ts'
import type { Value } from '../primitives/collections.ts'
import { rowDocID } from './catalog.ts'
import type { Condition, ElementCondition } from './condition.ts'
import type { Attribute, Entity, Link } from './entity.ts'
import { elementTest } from './operand.ts'
import { moveTo, type Row, rowAt } from './row.ts'
import { bytesOf } from './stored-value.ts'
import { valueTest } from './value-test.ts'

/** Decides whether a row matches. */
export type Predicate = (row: Row) => boolean

/** Compiles a condition on rows of an entity. */
export function toPredicate(entity: Entity, condition: Condition): Predicate {
  switch (condition.op) {
    case 'all':
      return () => true
    case 'none':
      return () => false
    case 'and':
      return every(compileParts(entity, condition.parts))
    case 'or':
      return some(compileParts(entity, condition.parts))
    case 'not': {
      const part = toPredicate(entity, condition.part)
      return (row) => !part(row)
    }
    default:
      return simplePredicate(entity, condition)
  }
}

type Simple = Exclude<Condition, { op: 'all' | 'none' | 'and' | 'or' | 'not' }>

function simplePredicate(entity: Entity, condition: Simple): Predicate {
  switch (condition.op) {
    case 'value': {
      const { attribute, operator, operand } = condition
      const test = valueTest(attribute.kind, operator, operand)
      return (row) => test(attribute.read(row))
    }
    case 'elements':
      return elementsPredicate(condition.attribute, condition.quantifier, condition.part)
    case 'list': {
      const { attribute, isEqual, items } = condition
      return (row) => isSameList(attribute.read(row), items) === isEqual
    }
    case 'link':
      return condition.link.many
        ? manyPredicate(condition.link, toPredicate(condition.target, condition.part))
        : onePredicate(condition.link, toPredicate(condition.target, condition.part))
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

function compileParts(entity: Entity, parts: readonly Condition[]): readonly Predicate[] {
  const ordered = [...parts].sort((a, b) => effort(a) - effort(b))
  return ordered.map((part) => toPredicate(entity, part))
}

/** A rough order of how much it takes to decide. */
function effort(condition: Condition): number {
  switch (condition.op) {
    case 'value':
      return condition.attribute.ofBlock === true ? 0 : 1
    case 'and':
    case 'or':
      return Math.max(...condition.parts.map(effort))
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
  attribute: Attribute,
  quantifier: '_any' | '_all' | '_none',
  part: ElementCondition,
): Predicate {
  const test = elementTest(attribute, part)
  return (row) => {
    const list = attribute.read(row)
    if (!Array.isArray(list)) return false
    if (quantifier === '_all') return list.every(test)
    return list.some(test) === (quantifier === '_any')
  }
}

function isSameList(value: Value, items: readonly Value[] | null): boolean {
  if (items === null || !Array.isArray(value)) return items === value
  return value.length === items.length && value.every((one, index) => one === items[index])
}

function manyPredicate(link: Link, part: Predicate): Predicate {
  return (row) => {
    const [start, end] = link.span(row)
    const linked = rowAt(row.block, start)
    for (let position = start; position < end; position++) {
      row.block.session.work.look(1)
      if (part(moveTo(linked, position))) return true
    }
    return false
  }
}

/** Neighbours are often linked to the same row, so what was found out about it last is kept. */
function onePredicate(link: Link, part: Predicate): Predicate {
  let last: Row | undefined
  let isMatch = false
  return (row) => {
    const [position] = link.span(row)
    if (last?.block === row.block && last.position === position) return isMatch
    row.block.session.work.look(1)
    last = rowAt(row.block, position)
    isMatch = part(last)
    return isMatch
  }
}

function cidPredicate(entity: Entity, wanted: Uint8Array): Predicate {
  const { section, name } = entity
  if (section === null || name === 'AttestationRecord') return () => false
  return (row) => {
    const { network } = row.block.session
    const cid = documentCid(network, name, rowDocID(row, section), bytesOf(row, section))
    return Buffer.compare(cid, wanted) === 0
  }
}
