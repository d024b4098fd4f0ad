/**
 * Selects among the rows that belong to one row: which match, in which order, from offset to limit.
 * They are a span of its block and read without yielding, as what a row shows or is ordered by may
 * depend on them.
 */
import type { Entity } from '../catalog/entity.ts'
import type { ListRequest } from '../filter/list-request.ts'
import { planWithin, rank, rankedOrder } from '../filter/order.ts'
import { type Matcher, toMatcher } from '../filter/predicate.ts'
import type { BlockView } from '../rows/block-view.ts'
import { forget, moveTo, type Row, rowAt } from '../rows/row.ts'
import type { Span } from './spans.ts'

/** Selects among the rows that belong to one row; made once for all parents. */
export type ChildSelector = (block: BlockView, span: Span) => readonly Row[]

/** A selector for lists of an entity's rows under others. */
export function createChildSelector(entity: Entity, request: ListRequest): ChildSelector {
  const { condition, order, offset, limit } = request
  const within = planWithin(order)
  const descending = within === 'descending'
  if (within === 'sort') return createSortingSelector(entity, request)
  if (condition.op === 'all') {
    return (block, span) => rowsOfSpan(block, span, descending, offset, limit)
  }
  const matcher = toMatcher(entity, condition)
  return (block, span) =>
    matchesOfSpan(block, span, matcher, descending, offset + limit).slice(offset)
}

function createSortingSelector(
  entity: Entity,
  { condition, order, offset, limit }: ListRequest,
): ChildSelector {
  const matcher = toMatcher(entity, condition)
  return (block, span) => {
    const rows = matchesOfSpan(block, span, matcher, false, Infinity)
    block.session.budget.countComparisons(rows.length * order.length)
    const ranked = rows.map((row) => rank(row, order)).sort(rankedOrder(order))
    return ranked.slice(offset, offset + limit).map(({ row }) => row)
  }
}

/** The first `most` matching rows of a span, read without yielding. */
export function matchesOfSpan(
  block: BlockView,
  [start, end]: Span,
  { matches, comparisons }: Matcher,
  descending: boolean,
  most: number,
): Row[] {
  const rows: Row[] = []
  let row = rowAt(block, start)
  for (let step = 0; step < end - start && rows.length < most; step++) {
    block.session.budget.countDocuments(1, comparisons)
    if (!matches(moveTo(row, descending ? end - 1 - step : start + step))) continue
    rows.push(row)
    forget(row)
    row = rowAt(block, start)
  }
  return rows
}

/** Rows of a span, all of which match: they are not read before they are rendered. */
export function rowsOfSpan(
  block: BlockView,
  [start, end]: Span,
  descending: boolean,
  skip: number,
  limit: number,
): Row[] {
  const length = Math.min(limit, Math.max(0, end - start - skip))
  block.session.budget.countDocuments(length)
  const first = descending ? end - 1 - skip : start + skip
  const step = descending ? -1 : 1
  return Array.from({ length }, (_, index) => rowAt(block, first + step * index))
}
