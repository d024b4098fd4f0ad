/**
 * An opened chunk as requests search it: where each field of its documents begins, once that is worth
 * knowing, and which documents hold a value. Later requests reuse what earlier ones found.
 */
import { invariant } from '../../errors.ts'
import type { Chunk } from '../../primitives/body/chunk.ts'
import { createByteReader, major, readHead } from '../../primitives/cbor.ts'
import { skipItem } from '../../primitives/values.ts'

/** The place of a field's first byte; the fields of the chunk are known. */
export function fieldStart(
  { first, found }: Chunk,
  fieldCount: number,
  position: number,
  field: number,
): number {
  return found.fields?.[(position - first) * fieldCount + field] ?? 0
}

/** The place of a field's first byte, whether the fields of the chunk are known or not; notes that it is read. */
export function fieldPlace(
  chunk: Chunk,
  fieldCount: number,
  position: number,
  field: number,
): number {
  return knowsFields(chunk, fieldCount)
    ? fieldStart(chunk, fieldCount, position, field)
    : walkTo(chunk, position, field)
}

/** Skips what precedes the field in its document. */
function walkTo(chunk: Chunk, position: number, field: number): number {
  walker.bytes = chunk.bytes
  walker.at = chunk.start(position)
  walker.end = chunk.start(position + 1)
  let isGood = readHead(walker, major.array) > field
  for (let index = 0; isGood && index < field; index++) isGood = skipItem(walker)
  invariant(isGood, 'a stored document has all its fields')
  return walker.at
}

/** Walks to one field at a time. */
const walker = { bytes: Buffer.alloc(0) as Buffer, at: 0, end: 0 }

/** True when the chunk has the document at a position. */
export function holds({ first, length }: Chunk, position: number): boolean {
  return position >= first && position < first + length
}

/** Fields read before it pays to find all of them. */
const enoughReads = 16

/**
 * Notes that a field of the chunk is read; true when its fields are known. Finding them goes once
 * through all documents, which pays when many are read, now or by later queries.
 */
export function knowsFields(chunk: Chunk, fieldCount: number): boolean {
  const { found } = chunk
  if (found.fields !== null) return true
  if (found.reads++ < enoughReads) return false
  found.fields = findFields(chunk, fieldCount)
  return true
}

function findFields({ bytes, starts, length }: Chunk, fieldCount: number): Uint32Array {
  const fields = new Uint32Array(length * fieldCount)
  const reader = createByteReader(bytes)
  let at = 0
  for (let document = 0; document < length; document++) {
    reader.at = starts[document] ?? 0
    invariant(readHead(reader, major.array) === fieldCount, 'a stored document has all its fields')
    for (let field = 0; field < fieldCount; field++) {
      fields[at++] = reader.at
      skipItem(reader)
    }
  }
  return fields
}

/** Positions of the documents whose bytes contain `needle`, ascending. */
export function positionsWith({ bytes, starts, first }: Chunk, needle: Uint8Array): number[] {
  const positions: number[] = []
  for (let at = bytes.indexOf(needle, starts[0]); at >= 0; ) {
    const index = lastAtMost(starts, at)
    positions.push(first + index)
    at = bytes.indexOf(needle, starts[index + 1])
  }
  return positions
}

/**
 * Positions of the documents one of whose fields is the byte string `needle`, of four bytes at
 * least and as long as all of them; the fields of the chunk are known.
 */
export function positionsWhere(
  chunk: Chunk,
  fieldCount: number,
  field: number,
  needle: Uint8Array,
): number[] {
  const positions: number[] = []
  const { first, bytes } = chunk
  const heads = headsOf(chunk, fieldCount, field)
  const head = headAt(needle, 0)
  const headBytes = needle.length < 24 ? 1 : 2
  for (let index = 0; index < heads.length; index++) {
    if (heads[index] !== head) continue
    const at = fieldStart(chunk, fieldCount, first + index, field)
    if (holdsAt(bytes, at + headBytes, needle)) positions.push(first + index)
  }
  return positions
}

/** Searching goes through these alone, which lie together, instead of touching every document. */
function headsOf(chunk: Chunk, fieldCount: number, field: number): Uint32Array {
  const { first, length, bytes, found } = chunk
  const known = found.heads[field]
  if (known !== undefined) return known
  const heads = Uint32Array.from({ length }, (_, index) => {
    const at = fieldStart(chunk, fieldCount, first + index, field)
    return headAt(bytes, at + ((bytes[at] ?? 0) === longHead ? 2 : 1))
  })
  found.heads[field] = heads
  return heads
}

/** The head byte of a byte string whose length stands in a byte of its own. */
const longHead = major.bytes | 24

function headAt(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] ?? 0) << 24) |
      ((bytes[at + 1] ?? 0) << 16) |
      ((bytes[at + 2] ?? 0) << 8) |
      (bytes[at + 3] ?? 0)) >>>
    0
  )
}

function holdsAt(bytes: Buffer, at: number, needle: Uint8Array): boolean {
  for (let index = 0; index < needle.length; index++) {
    if (bytes[at + index] !== needle[index]) return false
  }
  return true
}

function lastAtMost(starts: Uint32Array, offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return low
}
