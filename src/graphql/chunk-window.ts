/**
 * All documents of an opened chunk at once. A chunk's documents lie one after the other behind a
 * table of their lengths; whoever looks at many of them reads that table once instead of asking the
 * store for each. The table is believed only if it adds up to where the documents really lie.
 */
import { invariant } from '../errors.ts'
import { createReader, major, readHead } from '../primitives/cbor.ts'
import type { Section } from '../primitives/collections.ts'
import { skipItem } from '../primitives/values.ts'
import type { StoredBlock } from '../store/store.ts'

/** The documents of one chunk. */
export interface ChunkWindow {
  /** Position of its first document. */
  readonly first: number
  /** The documents' values, one after the other. */
  readonly bytes: Buffer
  /** Where each document begins in `bytes`, and where the last one ends. */
  readonly starts: Uint32Array
  /** Where each field of each document begins, document by document, once that is worth knowing. */
  fields: Uint32Array | null
  /** Fields read since the window was made, until `fields` is known. */
  looks: number
}

const lengthBytes = 4

/** Windows by the memory they lie in and where, for as long as somebody keeps it; chunks may share it. */
const known = new WeakMap<ArrayBufferLike, Map<number, ChunkWindow>>()

/** The window of the chunk with positions `first` to `end`, or null where its bytes do not add up. */
export function openWindow(
  stored: StoredBlock,
  section: Section,
  first: number,
  end: number,
): ChunkWindow | null {
  const head = stored.values(section, first)
  const here = known.get(head.buffer)
  const window = here?.get(head.byteOffset)
  if (window?.first === first) return window
  const tail = end - first === 1 ? head : stored.values(section, end - 1)
  const made = windowBetween(head, tail, first, end)
  if (made === null) return null
  if (here === undefined) known.set(head.buffer, new Map([[head.byteOffset, made]]))
  else here.set(head.byteOffset, made)
  return made
}

function windowBetween(
  head: Uint8Array,
  tail: Uint8Array,
  first: number,
  end: number,
): ChunkWindow | null {
  const count = end - first
  const tableStart = head.byteOffset - lengthBytes * count
  const length = tail.byteOffset + tail.byteLength - head.byteOffset
  if (head.buffer !== tail.buffer || tableStart < 0 || length < 0) return null
  const table = new DataView(head.buffer, tableStart, lengthBytes * count)
  const starts = new Uint32Array(count + 1)
  let at = 0
  for (let index = 0; index < count; index++) {
    at += table.getUint32(index * lengthBytes, true)
    starts[index + 1] = at
  }
  if (at !== length) return null
  const bytes = Buffer.from(head.buffer, head.byteOffset, length)
  return { first, starts, bytes, fields: null, looks: 0 }
}

/** The values of one document. */
export function windowValues(window: ChunkWindow, position: number): Uint8Array {
  const index = position - window.first
  return window.bytes.subarray(window.starts[index], window.starts[index + 1])
}

/** The place of a field's first byte; the window knows its fields. */
export function fieldStart(
  { first, fields }: ChunkWindow,
  fieldCount: number,
  position: number,
  field: number,
): number {
  return fields?.[(position - first) * fieldCount + field] ?? 0
}

/** True when the window has the document at a position. */
export function holds({ first, starts }: ChunkWindow, position: number): boolean {
  return position >= first && position < first + starts.length - 1
}

/** Fields read before it pays to find all of them. */
const enoughLooks = 16

/**
 * Notes that a field of the window is read; true when its fields are known. Finding them goes once
 * through all documents, which pays when many are read, now or by later queries.
 */
export function knowsFields(window: ChunkWindow, fieldCount: number): boolean {
  if (window.fields !== null) return true
  if (window.looks++ < enoughLooks) return false
  window.fields = findFields(window, fieldCount)
  return true
}

function findFields({ bytes, starts }: ChunkWindow, fieldCount: number): Uint32Array {
  const documents = starts.length - 1
  const fields = new Uint32Array(documents * fieldCount)
  const reader = createReader(bytes)
  let at = 0
  for (let document = 0; document < documents; document++) {
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
export function positionsWith(window: ChunkWindow, needle: Uint8Array): number[] {
  const { bytes, starts, first } = window
  const positions: number[] = []
  for (let at = bytes.indexOf(needle); at >= 0; ) {
    const index = lastAtMost(starts, at)
    positions.push(first + index)
    at = bytes.indexOf(needle, starts[index + 1])
  }
  return positions
}

/** Positions of the documents one of whose fields is the byte string `needle`; the window knows its fields. */
export function positionsWhere(
  { first, bytes, fields }: ChunkWindow,
  fieldCount: number,
  field: number,
  needle: Uint8Array,
): number[] {
  const positions: number[] = []
  if (fields === null) return positions
  const headBytes = needle.length < 24 ? 1 : 2
  for (let at = field, position = first; at < fields.length; at += fieldCount, position++) {
    if (holdsAt(bytes, (fields[at] ?? 0) + headBytes, needle)) positions.push(position)
  }
  return positions
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
