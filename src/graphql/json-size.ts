/**
 * How many bytes values take in JSON, counted while an answer is made. All our text is ASCII.
 */
import type { Json } from './commit-view.ts'

/** Bytes of a value. */
export function jsonBytes(value: Json): number {
  if (typeof value === 'string') return value.length + 2
  if (value === null || value === true) return 4
  if (value === false) return 5
  if (typeof value === 'number') return numberBytes(value)
  let bytes = 2
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) bytes += jsonBytes(item) + 1
    return bytes
  }
  for (const [key, item] of Object.entries(value)) bytes += keyBytes(key) + jsonBytes(item)
  return bytes
}

function numberBytes(value: number): number {
  if (!Number.isInteger(value) || value < 0) return String(value).length
  let digits = 1
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++
  return digits
}

/** Bytes of a name with its quotes, colon and comma. */
export function keyBytes(key: string): number {
  return key.length + 4
}
