/**
 * Selects the rows of a list: which match, in which order, from offset to limit. Lists of the root walk
 * the chain; lists under a row are a span of its block.
 */
import type { QueryBudget } from '../budget/query-budget.ts'
import { mapYielding, visitYielding } from '../budget/yielding-loop.ts'
import type { Entity } from '../catalog/entity.ts'
import type { FilterCondition } from '../filter/condition.ts'
import type { ListRequest } from '../filter/list-request.ts'
import {
  bytesOfRanked,
  type OrderKey,
  planOrder,
  type Ranked,
  rank,
  rankedOrder,
} from '../filter/order.ts'
import { type Matcher, toMatcher } from '../filter/predicate.ts'
import type { BlockView } from '../rows/block-view.ts'
import { forget, moveTo, type Row, rowAt } from '../rows/row.ts'
import { matchesOfSpan, rowsOfSpan } from './child-rows.ts'
import type { Piece, Scan } from './piece.ts'
import { sortInSlices } from './sort.ts'
import type { Span } from './spans.ts'
import { createTopK } from './top-k.ts'
import { chainOrder, type Direction, walk } from './walk.ts'

/** Rows yielded at a time, so that their bytes are released before the next are read. */
const batchRows = 256

// --- Lists of the root ----------------------------------------------------------------------

/** The rows of a root list, in batches. */
export async function* selectRows(scan: Scan, request: ListRequest): AsyncGenerator<Row[]> {
  const plan = planOrder(request.order)
  if (plan.type === 'chain') yield* chainRows(scan, request, plan)
  else yield* sortedRows(scan, request)
}

async function* chainRows(
  scan: Scan,
  request: ListRequest,
  direction: Direction,
): AsyncGenerator<Row[]> {
  let batch: Row[] = []
  let skip = request.offset
  let left = request.limit
  const { budget } = scan.session
  for (const step of await walk(scan, request.condition, direction)) {
    const piece = step instanceof Promise ? await step : step
    const finding = rowsOfPiece(piece, direction.within, request.order, skip, left)
    const found = finding instanceof Promise ? await finding : finding
    skip -= found.skipped
    left -= found.rows.length
    for (const row of found.rows) batch.push(row)
    budget.checkHeld(batch.length)
    if (budget.shouldYield()) await budget.yieldThread()
    if (batch.length >= batchRows) {
      yield* inBatches(batch)
      batch = []
    }
    if (left <= 0) break
  }
  yield* inBatches(batch)
}

function* inBatches(rows: readonly Row[]): Generator<Row[]> {
  for (let at = 0; at < rows.length; at += batchRows) yield rows.slice(at, at + batchRows)
}

async function* sortedRows(scan: Scan, request: ListRequest): AsyncGenerator<Row[]> {
  const { order, offset, limit } = request
  const { budget } = scan.session
  const reservation = budget.openReservation()
  const kept = createTopK<Ranked>(offset + neededRows(limit, budget), rankedOrder(order))
  const visit = (row: Row): void => {
    const ranked = rank({ ...row }, order)
    forget(ranked.row)
    const dropped = kept.add(ranked)
    reservation.add(bytesOfRanked(ranked) - (dropped === undefined ? 0 : bytesOfRanked(dropped)))
    budget.checkSorted(kept.size)
  }
  await visitRows(scan, request.condition, visit, order.length)
  const sorted = await kept.sorted(budget)
  yield* inBatches(sorted.slice(offset).map(({ row }) => row))
  reservation.release()
}

/** How many rows to keep: one more than an answer may have is enough to refuse it. */
export function neededRows(limit: number, budget: QueryBudget): number {
  return Math.min(limit, budget.maxRows + 1)
}

/**
 * Calls back with every matching row, in chain order. The row moves on afterwards: copy it to keep it.
 * `keys` are the values that the callback compares.
 */
export async function visitRows(
  scan: Scan,
  condition: FilterCondition,
  visit: (row: Row) => void,
  keys: number,
): Promise<void> {
  const { budget } = scan.session
  for (const step of await walk(scan, condition, chainOrder)) {
    const { block, span, matcher } = step instanceof Promise ? await step : step
    const row = rowAt(block, 0)
    const comparisons = keys + (matcher?.comparisons ?? 0)
    for (let position = span[0]; position < span[1]; position++) {
      budget.countDocuments(1, comparisons)
      moveTo(row, position)
      if (matcher === null || matcher.matches(row)) visit(row)
      if (budget.shouldYield()) await budget.yieldThread()
    }
    if (budget.shouldYield()) await budget.yieldThread()
  }
}

/** How many rows match; where all of a block's rows do, its header says how many. */
export async function countRows(scan: Scan, condition: FilterCondition): Promise<number> {
  let count = 0
  const { budget } = scan.session
  for (const step of await walk(scan, condition, chainOrder)) {
    const { block, span, matcher } = step instanceof Promise ? await step : step
    count += matcher === null ? lengthOf(span) : await countMatches(block, span, matcher)
    if (budget.shouldYield()) await budget.yieldThread()
  }
  return count
}

async function countMatches(block: BlockView, span: Span, matcher: Matcher): Promise<number> {
  const { budget } = block.session
  const row = rowAt(block, 0)
  let count = 0
  for (let position = span[0]; position < span[1]; position++) {
    budget.countDocuments(1, matcher.comparisons)
    if (matcher.matches(moveTo(row, position))) count++
    if (budget.shouldYield()) await budget.yieldThread()
  }
  return count
}

const lengthOf = ([start, end]: Span): number => end - start

// --- Rows of one block ----------------------------------------------------------------------

interface Found {
  readonly rows: readonly Row[]
  /** Matching rows left out at the start. */
  readonly skipped: number
}

/** Comparisons that are few enough to be done without yielding, also of long values. */
const fewComparisons = 32

/** Most pieces are short, so that there is nothing to wait for. */
function rowsOfPiece(
  piece: Piece,
  within: Direction['within'],
  order: readonly OrderKey[],
  skip: number,
  limit: number,
): Found | Promise<Found> {
  const { block, span, matcher } = piece
  const descending = within === 'descending'
  if (within === 'sort') return sortedPiece(piece, order, skip, limit)
  if (matcher === null) {
    const rows = rowsOfSpan(block, span, descending, skip, limit)
    return { rows, skipped: Math.min(skip, lengthOf(span)) }
  }
  if (lengthOf(span) * matcher.comparisons > fewComparisons) {
    return matchesOfPiece(piece, matcher, descending, skip, limit)
  }
  const rows = matchesOfSpan(block, span, matcher, descending, skip + limit)
  return { rows: rows.slice(skip), skipped: Math.min(skip, rows.length) }
}

async function matchesOfPiece(
  { block, span: [start, end] }: Piece,
  { matches, comparisons }: Matcher,
  descending: boolean,
  skip: number,
  limit: number,
): Promise<Found> {
  const { budget } = block.session
  const rows: Row[] = []
  let skipped = 0
  let row = rowAt(block, start)
  for (let step = 0; step < end - start && rows.length < limit; step++) {
    budget.countDocuments(1, comparisons)
    if (matches(moveTo(row, descending ? end - 1 - step : start + step))) {
      if (skipped < skip) skipped++
      else {
        rows.push(row)
        forget(row)
        row = rowAt(block, start)
      }
    }
    if (budget.shouldYield()) await budget.yieldThread()
  }
  return { rows, skipped }
}

async function sortedPiece(
  piece: Piece,
  order: readonly OrderKey[],
  skip: number,
  limit: number,
): Promise<Found> {
  const { rows } = await rowsOfPiece(piece, 'ascending', order, 0, Infinity)
  const sorted = await sortRows(piece.block.session.budget, rows, order)
  return { rows: sorted.slice(skip, skip + limit), skipped: Math.min(skip, sorted.length) }
}

async function sortRows(
  budget: QueryBudget,
  rows: readonly Row[],
  order: readonly OrderKey[],
): Promise<readonly Row[]> {
  const ranked = await mapYielding(budget, rows, (row) => {
    budget.countComparisons(order.length)
    const found = rank(row, order)
    forget(row)
    return found
  })
  return (await sortInSlices(budget, ranked, rankedOrder(order))).map(({ row }) => row)
}

/** Selects among rows in memory, in chain order, such as the members of a group. */
export async function selectAmong(
  budget: QueryBudget,
  entity: Entity,
  rows: readonly Row[],
  request: ListRequest,
): Promise<readonly Row[]> {
  const { condition, order, offset, limit } = request
  const matching = condition.op === 'all' ? rows : await filterRows(budget, entity, rows, condition)
  const sorted = order.length === 0 ? matching : await sortRows(budget, matching, order)
  return sorted.slice(offset, offset + limit)
}

async function filterRows(
  budget: QueryBudget,
  entity: Entity,
  rows: readonly Row[],
  condition: FilterCondition,
): Promise<readonly Row[]> {
  const { matches, comparisons } = toMatcher(entity, condition)
  const matching: Row[] = []
  await visitYielding(budget, rows, (row) => {
    budget.countDocuments(1, comparisons)
    if (matches(row)) matching.push(row)
    forget(row)
  })
  return matching
}
