/**
 * Aggregates over what belongs to one row: its linked rows, its lists, its version.
 */
import type { FieldNode } from 'graphql'
import { invariant } from '../../errors.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import { refusal } from '../budget/limits.ts'
import { type AttributeKind, type Entity, findAttribute } from '../catalog/entity.ts'
import { foldOf } from '../catalog/spelling.ts'
import { noAliases } from '../filter/filter.ts'
import { type Arguments, toListRequest, wholeNumber } from '../filter/list-request.ts'
import { elementFilterTest } from '../filter/operand.ts'
import type { AggregateField, AggregateTarget } from '../plan/plan.ts'
import type { Row } from '../rows/row.ts'
import { createChildSelector } from '../scan/child-rows.ts'
import { type Accumulator, addCount, addValue, createAccumulator, resultOf } from './accumulator.ts'
import { coerceArguments, oncePerRun, type Run } from './run.ts'

/** Reads what an aggregate adds up for one row. */
export interface ValueReader {
  readonly kind: AttributeKind
  read(row: Row): JsonValue
}

/** An aggregate over what belongs to one row. */
type RowAggregate = (row: Row) => number | null

/** The aggregate made ready for this request. */
export const rowAggregate: (run: Run, field: AggregateField) => RowAggregate = oncePerRun(
  (run, field) => {
    const args = coerceArguments(run, field.source)
    const adders = field.targets.map((target) => adderOf(run, field, target, args))
    return (row) => {
      const accumulator = createAccumulator(field.fold)
      for (const add of adders) add(row, accumulator)
      return resultOf(accumulator)
    }
  },
)

type Adder = (row: Row, accumulator: Accumulator) => void

function adderOf(run: Run, field: AggregateField, target: AggregateTarget, args: Arguments): Adder {
  const selector = selectorOf(args, target)
  switch (target.type) {
    case 'link':
      return linkAdder(run, field, target, selector)
    case 'list':
      return listAdder(target, selector)
    case 'version':
      return windowAdder(selector, () => 1)
    default:
      invariant(false, `a row has no aggregate over a ${target.type}`)
  }
}

/** The selector under an aggregate's argument; none means everything. */
export function selectorOf(args: Arguments, target: AggregateTarget): Arguments {
  const selector = args[target.argument]
  return typeof selector === 'object' && selector !== null ? (selector as Arguments) : {}
}

function linkAdder(
  run: Run,
  field: AggregateField,
  { link, target, inner }: Extract<AggregateTarget, { type: 'link' }>,
  selector: Arguments,
): Adder {
  const request = toListRequest(run.catalog, target, selector, noAliases, field.source.node)
  const isWhole = request.condition.op === 'all'
  if (field.fold === 'COUNT' && isWhole) {
    return windowAdder(selector, (row) => {
      const [start, end] = link.span(row)
      return end - start
    })
  }
  const select = createChildSelector(target, request)
  const reader = valueReader(run, field, target, selector, inner)
  return (row, accumulator) => {
    const rows = select(row.block, link.span(row))
    if (reader === null) addCount(accumulator, rows.length)
    else for (const one of rows) addValue(accumulator, reader.kind, reader.read(one))
  }
}

/** Reads the field an aggregate names; null for COUNT, which reads nothing. */
export function valueReader(
  run: Run,
  { fold, source }: AggregateField,
  entity: Entity,
  selector: Arguments,
  inner: readonly AggregateField[],
): ValueReader | null {
  if (fold === 'COUNT') return null
  const name = String(selector['field'])
  const innerFold = foldOf(name)
  if (innerFold === undefined) {
    const attribute = findAttribute(entity, name)
    invariant(attribute !== undefined, `${entity.name} has a field ${name}`)
    return attribute
  }
  const found = inner.find((one) => one.fold === innerFold)
  if (found === undefined) throw missingInner(name, source.node)
  return { kind: 'int', read: rowAggregate(run, found) }
}

/** A count of which only what lies between offset and limit is taken. */
function windowAdder(selector: Arguments, count: (row: Row) => number): Adder {
  const offset = wholeNumber('offset', selector['offset'])
  const limit = wholeNumber('limit', selector['limit']) || Infinity
  return (row, accumulator) => {
    addCount(accumulator, Math.min(limit, Math.max(0, count(row) - offset)))
  }
}

function listAdder(
  { attribute }: Extract<AggregateTarget, { type: 'list' }>,
  selector: Arguments,
): Adder {
  const test = elementFilterTest(attribute, selector['filter'])
  return windowAdder(selector, (row) => {
    const list = attribute.read(row)
    return Array.isArray(list) ? list.filter(test).length : 0
  })
}

/** An aggregate over aggregates that nothing selects. */
export function missingInner(name: string, node: FieldNode): Error {
  return refusal(
    'GRAPHQL_CONDITION_INVALID',
    `The aggregate ${name} is not selected inside what is aggregated.`,
    `Select ${name} there as well.`,
    node,
  )
}
