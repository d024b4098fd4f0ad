/** Makes long texts and lists, as requests have them that ask for very much. */

/** `count` texts with a blank between them. */
export function repeat(count: number, text: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => text(index)).join(' ')
}

/** `count` values. */
export function list<T>(count: number, value: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => value(index))
}

/** A hash that no block has. */
export const noHash = (index: number): string => `0x${index.toString(16).padStart(64, '0')}`
