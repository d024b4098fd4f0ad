/**
 * Adds up values one at a time. Nulls are skipped; quantities are added exactly and rounded to a
 * 64-bit float at the end, which is what GraphQL's Float can carry.
 */
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { AttributeKind } from '../catalog/entity.ts'
import type { Fold } from '../catalog/spelling.ts'

/** A running aggregate; a group has one for each, so it is kept small. */
export interface Accumulator {
  readonly fold: Fold
  /** Rows counted, or values that were not null. */
  count: number
  /** The sum, the least or the greatest so far. */
  number: number
  /** The sum of quantities. */
  exact: bigint
}

/** An aggregate of nothing yet. */
export function createAccumulator(fold: Fold): Accumulator {
  return { fold, count: 0, number: 0, exact: 0n }
}

/** Counts rows, for COUNT. */
export function addCount(accumulator: Accumulator, rows: number): void {
  accumulator.count += rows
}

/** Adds a value, for all others. Null, which is an object as well, adds nothing. */
export function addValue(accumulator: Accumulator, kind: AttributeKind, value: JsonValue): void {
  if (typeof value === 'object') return
  const isFirst = accumulator.count++ === 0
  if (accumulator.fold === 'MIN' || accumulator.fold === 'MAX') {
    const pick = accumulator.fold === 'MIN' ? Math.min : Math.max
    accumulator.number = isFirst ? Number(value) : pick(accumulator.number, Number(value))
  } else if (kind === 'quantity' || kind === 'bigint') accumulator.exact += BigInt(String(value))
  else accumulator.number += Number(value)
}

/** The aggregate: 0 for COUNT, SUM and AVG of nothing, null for MIN and MAX. */
export function resultOf({ fold, count, number, exact }: Accumulator): number | null {
  if (fold === 'COUNT') return count
  if (fold === 'MIN' || fold === 'MAX') return count === 0 ? null : number
  const sum = Number(exact) + number
  if (fold === 'SUM') return sum
  return count === 0 ? 0 : sum / count
}
