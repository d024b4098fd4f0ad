/** Whole numbers of any size as decimal text: what users write, made canonical, and compared without big integers. */
import { maxBigIntCharacters } from '../../views/rows/row-values.ts'

const shape = /^(?:-?[0-9]+|0x[0-9a-f]+)$/i

/** Canonical decimal text of decimal text, 0x hex or a whole number; undefined for anything else and for longer text. */
export function parseWholeNumber(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? String(value) : undefined
  }
  if (typeof value !== 'string' || value.length > maxBigIntCharacters) return undefined
  return shape.test(value) ? BigInt(value).toString() : undefined
}

/** Orders two canonical texts as numbers. */
export function compareWholeNumbers(a: string, b: string): number {
  if (a === b) return 0
  const isNegative = a.startsWith('-')
  if (isNegative !== b.startsWith('-')) return isNegative ? -1 : 1
  const sameLength = a < b ? -1 : 1
  const order = a.length === b.length ? sameLength : a.length - b.length
  return isNegative ? -order : order
}
