/**
 * Selects the rows of a list: which match, in which order, from where to where. Lists of the root
 * walk the chain; lists under a row are a span of its block.
 */
import type { BlockView } from './block-view.ts'
import { all, type Condition } from './condition.ts'
import type { Entity } from './entity.ts'
import { type OrderKey, planOrder, planWithin, type Ranked, rank, rankedOrder } from './order.ts'
import { type Predicate, toPredicate } from './predicate.ts'
import { forget, moveTo, type Row, rowAt } from './row.ts'
import { createSmallest } from './smallest.ts'
import type { Span } from './span-set.ts'
import { chainOrder, type Direction, type Piece, type Scan, walk } from './walk.ts'
import type { Work } from './work.ts'

/** What a list asks for. */
export interface ListRequest {
  readonly condition: Condition
  readonly order: readonly OrderKey[]
  readonly offset: number
  /** Infinity for none. */
  readonly limit: number
}

/** Everything, in chain order. */
export const everyRow: ListRequest = { condition: all, order: [], offset: 0, limit: Infinity }

/** Rows handed on at a time, so that their bytes are let go before the next are read. */
const batchRows = 256

// --- Lists of the root ----------------------------------------------------------------------

/** The rows of a root list, in batches. */
export async function* selectRows(scan: Scan, request: ListRequest): AsyncGenerator<Row[]> {
  const plan = planOrder(request.order)
  if (plan.type === 'chain') yield* chainRows(scan, request, plan)
  else yield* inBatches(await sortedRows(scan, request))
}

async function* chainRows(
  scan: Scan,
  request: ListRequest,
  direction: Direction,
): AsyncGenerator<Row[]> {
  let batch: Row[] = []
  let skip = request.offset
  let left = request.limit
  const { work } = scan.session
  for (const piece of await walk(scan, request.condition, direction)) {
    const found = rowsOfPiece(piece, direction.within, request.order, skip, left)
    skip -= found.skipped
    left -= found.rows.length
    batch.push(...found.rows)
    work.hold(batch.length)
    if (work.isDue()) await work.turn()
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

async function sortedRows(scan: Scan, request: ListRequest): Promise<Row[]> {
  const { order, offset, limit } = request
  const { work } = scan.session
  const kept = createSmallest<Ranked>(offset + neededRows(limit, work), rankedOrder(order))
  await visitRows(scan, request.condition, (row) => {
    const ranked = rank({ ...row }, order)
    forget(ranked.row)
    kept.add(ranked)
    work.holdSorted(kept.size)
  })
  await work.pause()
  const sorted = kept.sorted()
  await work.pause()
  return sorted.slice(offset).map(({ row }) => row)
}

/** How many rows to keep: one more than an answer may have is enough to refuse it. */
export function neededRows(limit: number, work: Work): number {
  return Math.min(limit, work.maxRows + 1)
}

/** Calls back with every matching row, in chain order. The row moves on afterwards: copy it to keep it. */
export async function visitRows(
  scan: Scan,
  condition: Condition,
  visit: (row: Row) => void,
): Promise<void> {
  const { work } = scan.session
  for (const { block, span, predicate } of await walk(scan, condition, chainOrder)) {
    const row = rowAt(block, 0)
    work.look(span[1] - span[0])
    for (let position = span[0]; position < span[1]; position++) {
      moveTo(row, position)
      if (predicate === null || predicate(row)) visit(row)
    }
    if (work.isDue()) await work.turn()
  }
}

/** How many rows match; where all of a block's rows do, its header says how many. */
export async function countRows(scan: Scan, condition: Condition): Promise<number> {
  let count = 0
  const { work } = scan.session
  for (const { block, span, predicate } of await walk(scan, condition, chainOrder)) {
    count += predicate === null ? span[1] - span[0] : countMatches(block, span, predicate)
    if (work.isDue()) await work.turn()
  }
  return count
}

function countMatches(block: BlockView, [start, end]: Span, predicate: Predicate): number {
  const row = rowAt(block, start)
  let count = 0
  block.session.work.look(end - start)
  for (let position = start; position < end; position++) {
    if (predicate(moveTo(row, position))) count++
  }
  return count
}

// --- Lists under a row ----------------------------------------------------------------------

/** Selects among the rows that belong to one row; made once for all parents. */
export type ChildSelector = (block: BlockView, span: Span) => Row[]

/** A selector for lists of an entity's rows under others. */
export function createChildSelector(entity: Entity, request: ListRequest): ChildSelector {
  const { condition, order, offset, limit } = request
  const within = planWithin(order)
  const predicate = condition.op === 'all' ? null : toPredicate(entity, condition)
  return (block, span) => rowsOfPiece({ block, span, predicate }, within, order, offset, limit).rows
}

/** Selects among rows that are at hand, in chain order, such as the members of a group. */
export function selectAmong(entity: Entity, rows: readonly Row[], request: ListRequest): Row[] {
  const { condition, order, offset, limit } = request
  const predicate = condition.op === 'all' ? null : toPredicate(entity, condition)
  const matching = predicate === null ? rows : rows.filter(predicate)
  if (order.length === 0) return matching.slice(offset, offset + limit)
  const ranked = matching.map((row) => rank(row, order)).sort(rankedOrder(order))
  return ranked.slice(offset, offset + limit).map(({ row }) => row)
}

// --- Rows of one block ----------------------------------------------------------------------

interface Found {
  readonly rows: Row[]
  /** Matching rows left out at the start. */
  readonly skipped: number
}

function rowsOfPiece(
  piece: Piece,
  within: Direction['within'],
  order: readonly OrderKey[],
  skip: number,
  limit: number,
): Found {
  if (limit <= 0) return { rows: [], skipped: 0 }
  if (within === 'sort') return sortedPiece(piece, order, skip, limit)
  if (piece.predicate === null) return wholePiece(piece, within === 'descending', skip, limit)
  return matchesOfPiece(piece, piece.predicate, within === 'descending', skip, limit)
}

/** Positions that all match need no look before they are rendered. */
function wholePiece(
  { block, span }: Piece,
  descending: boolean,
  skip: number,
  limit: number,
): Found {
  const [start, end] = span
  const skipped = Math.min(skip, end - start)
  const length = Math.min(limit, end - start - skipped)
  block.session.work.look(length)
  const first = descending ? end - 1 - skipped : start + skipped
  const step = descending ? -1 : 1
  const rows = Array.from({ length }, (_, index) => rowAt(block, first + step * index))
  return { rows, skipped }
}

function matchesOfPiece(
  { block, span }: Piece,
  predicate: Predicate,
  descending: boolean,
  skip: number,
  limit: number,
): Found {
  const [start, end] = span
  const rows: Row[] = []
  let skipped = 0
  let row = rowAt(block, start)
  for (let step = 0; step < end - start && rows.length < limit; step++) {
    block.session.work.look(1)
    if (!predicate(moveTo(row, descending ? end - 1 - step : start + step))) continue
    if (skipped < skip) {
      skipped++
      continue
    }
    rows.push(row)
    row = rowAt(block, start)
  }
  return { rows, skipped }
}

function sortedPiece(piece: Piece, order: readonly OrderKey[], skip: number, limit: number): Found {
  const { predicate } = piece
  const found =
    predicate === null
      ? wholePiece(piece, false, 0, Infinity)
      : matchesOfPiece(piece, predicate, false, 0, Infinity)
  const ranked = found.rows.map((row) => rank(row, order)).sort(rankedOrder(order))
  const rows = ranked.slice(skip, skip + limit).map(({ row }) => row)
  return { rows, skipped: Math.min(skip, ranked.length) }
}
