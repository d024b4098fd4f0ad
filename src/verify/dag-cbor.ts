/**
 * The few items of canonical DAG-CBOR that documents and seals are made of, without Node
 * (https://ipld.io/specs/codecs/dag-cbor/spec). `src/primitives` writes the same bytes, faster.
 */

/** Major types, shifted to where they stand in a head byte. */
const major = { int: 0x00, bytes: 0x40, text: 0x60, array: 0x80 } as const

const utf8 = new TextEncoder()

/** The item for null. */
export const nullItem: Uint8Array = Uint8Array.of(0xf6)

/** The item for true or false. */
export function booleanItem(value: boolean): Uint8Array {
  return Uint8Array.of(value ? 0xf5 : 0xf4)
}

/** The item for an integer from 0 to 2^32 - 1. */
export function intItem(value: number): Uint8Array {
  return head(major.int, value)
}

/** A byte string. */
export function bytesItem(bytes: Uint8Array): Uint8Array {
  return concat([head(major.bytes, bytes.length), bytes])
}

/** Text as UTF-8. */
export function textItem(text: string): Uint8Array {
  const bytes = utf8.encode(text)
  return concat([head(major.text, bytes.length), bytes])
}

/** A list of items. */
export function arrayItem(items: readonly Uint8Array[]): Uint8Array {
  return concat([head(major.array, items.length), ...items])
}

/** A head in its shortest form; `value` is an integer from 0 to 2^32 - 1. */
function head(kind: number, value: number): Uint8Array {
  if (value < 24) return Uint8Array.of(kind | value)
  if (value < 0x100) return Uint8Array.of(kind | 24, value)
  if (value < 0x10000) return Uint8Array.of(kind | 25, value >>> 8, value)
  return Uint8Array.of(kind | 26, value >>> 24, value >>> 16, value >>> 8, value)
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
