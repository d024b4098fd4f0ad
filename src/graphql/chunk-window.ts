/**
 * All documents of an opened chunk at once. A chunk's documents lie one after the other behind a
 * table of their lengths; whoever looks at many of them reads that table once instead of asking the
 * store for each. The table is believed only if it adds up to where the documents really lie.
 */
import type { Section } from '../primitives/collections.ts'
import type { StoredBlock } from '../store/store.ts'

/** The documents of one chunk. */
export interface ChunkWindow {
  /** Position of its first document. */
  readonly first: number
  /** The documents' values, one after the other. */
  readonly bytes: Buffer
  /** Where each document begins in `bytes`, and where the last one ends. */
  readonly starts: Uint32Array
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
  return { first, starts, bytes: Buffer.from(head.buffer, head.byteOffset, length) }
}

/** The values of one document. */
export function windowValues(window: ChunkWindow, position: number): Uint8Array {
  const index = position - window.first
  return window.bytes.subarray(window.starts[index], window.starts[index + 1])
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
