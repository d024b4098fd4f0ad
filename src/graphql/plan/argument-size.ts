/**
 * How much there is in arguments and variables, by which they are bounded: names and objects, which
 * become conditions, and values.
 */
import { isObject } from '../../json-object.ts'
import { charactersPerValue } from '../budget/limits.ts'

/** What arguments or variables hold. */
export interface ArgumentSize {
  /** Names in objects, and objects in lists. */
  readonly conditions: number
  /** Values, nulls and lists; a text counts for every `charactersPerValue`. */
  readonly values: number
}

/** Counts what is in each of some values. They nest no deeper than a query's brackets or variables may. */
export function argumentSizeOf(values: readonly unknown[]): ArgumentSize {
  const size = { conditions: 0, values: 0 }
  for (const value of values) count(value, size)
  return size
}

function count(value: unknown, size: { conditions: number; values: number }): void {
  if (Array.isArray(value)) {
    size.values++
    for (const item of value) {
      if (isObject(item)) size.conditions++
      count(item, size)
    }
  } else if (typeof value === 'object' && value !== null) {
    const parts = Object.values(value)
    size.conditions += parts.length
    for (const part of parts) count(part, size)
  } else {
    size.values += typeof value === 'string' ? 1 + Math.floor(value.length / charactersPerValue) : 1
  }
}
