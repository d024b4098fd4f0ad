/** JSON with sorted names, so that equal values have equal texts, and hashes of it. */
import { createHash } from 'node:crypto'
import { isPlainObject } from './unchecked-json.ts'

/** The text; fields that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, found: unknown) =>
    isPlainObject(found)
      ? Object.fromEntries(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : found,
  )
}

/** The first 128 bits of SHA-256 over the text, in hex. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
