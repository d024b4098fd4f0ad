/**
 * Quantities as text: what users write, made minimal 0x hex, and compared without big integers.
 */

const hexShape = /^0[xX][0-9a-fA-F]{1,64}$/
const decimalShape = /^[0-9]{1,78}$/
const widest = 1n << 256n

/**
 * Minimal lower-case 0x hex of decimal text, 0x hex or a whole number; undefined for anything else
 * and beyond 256 bits.
 */
export function parseHexQuantity(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? `0x${value.toString(16)}` : undefined
  }
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (!hexShape.test(text) && !decimalShape.test(text)) return undefined
  const number = BigInt(text)
  return number < widest ? `0x${number.toString(16)}` : undefined
}

/** Orders two minimal hex quantities as numbers: the longer is larger. */
export function compareQuantities(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  if (a === b) return 0
  return a < b ? -1 : 1
}
