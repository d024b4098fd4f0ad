/**
 * Adds up values one at a time. Nulls are skipped; quantities are added exactly and rounded to a
 * 64-bit float at the end, which is what GraphQL's Float can carry.
 */
import type { Value } from '../primitives/collections.ts'
import type { AttributeKind } from './entity.ts'
import type { Fold } from './spelling.ts'

/** A running aggregate. */
export interface Accumulator {
  /** Adds a number of rows, for COUNT. */
  addCount(rows: number): void
  add(kind: AttributeKind, value: Value): void
  /** 0 for COUNT, SUM and AVG of nothing; null for MIN and MAX. */
  result(): number | null
}

/** An aggregate of nothing yet. */
export function createAccumulator(fold: Fold): Accumulator {
  let rows = 0
  let values = 0
  let sum = 0
  let exact = 0n
  let least = Infinity
  let greatest = -Infinity
  return {
    addCount(count) {
      rows += count
    },
    add(kind, value) {
      if (value === null || typeof value === 'object') return
      values++
      const isExact = kind === 'quantity' && (fold === 'SUM' || fold === 'AVG')
      if (isExact) exact += BigInt(value)
      else sum += Number(value)
      if (fold === 'MIN') least = Math.min(least, Number(value))
      if (fold === 'MAX') greatest = Math.max(greatest, Number(value))
    },
    result() {
      if (fold === 'COUNT') return rows
      if (fold === 'SUM') return Number(exact) + sum
      if (fold === 'AVG') return values === 0 ? 0 : (Number(exact) + sum) / values
      if (values === 0) return null
      return fold === 'MIN' ? least : greatest
    },
  }
}
