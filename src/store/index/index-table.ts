/**
 * Index tables: where values may be found, for one block or for a span of 64 blocks. A table is a
 * sorted run of entries of seven bytes, biggest byte first:
 *
 *   fingerprint of (kind, value) (4), position: height within the span (6 bits), section (2), chunk (16)
 *
 * It is kept in pages. Page 0 begins with the number of further pages (2 bytes). Where that is 0, the
 * entries follow; otherwise the first fingerprint of every further page follows, and the entries are
 * in those pages. A value costs no database key, merging is writing pages in order, and a lookup
 * reads two pages.
 */
import { invariant } from '../../errors.ts'
import { blockSections, type Section } from '../../primitives/collections.ts'
import { pieceBytes, spanBlocks } from '../disk/layout.ts'

const entryBytes = 7
const pageEntries = Math.floor((pieceBytes - 2) / entryBytes)
const maxChunk = 0xffff
const heightShift = 18
/** Places within one block, and within a span. */
const blockPositions = 2 ** heightShift
const positions = blockPositions * spanBlocks

/** Where within a span: height, section and chunk in one number that sorts in chain order. */
export type SpanPosition = number

/** The place of a chunk of a block. */
export function spanPosition(height: number, section: Section, chunk: number): SpanPosition {
  invariant(chunk <= maxChunk, `a section has fewer than ${maxChunk} chunks`)
  return ((height % spanBlocks) << heightShift) | (blockSections.indexOf(section) << 16) | chunk
}

export function heightInSpan(position: SpanPosition): number {
  return position >>> heightShift
}

export function chunkAtPosition(position: SpanPosition): { section: Section; chunk: number } {
  const section = blockSections[(position >>> 16) & 3]
  invariant(section !== undefined, 'two bits name one of four sections')
  return { section, chunk: position & maxChunk }
}

/** Collects the entries of one block's table. */
interface EntryList {
  add(fingerprint: number, section: Section, chunk: number): void
  /** What was added, sorted and without repetition. */
  sorted(): Buffer
}

/** An empty list for the block at a height, with room for `capacity` entries. */
export function createEntryList(height: number, capacity: number): EntryList {
  // A fingerprint has 32 bits and a place within one block 18: together they fit a double.
  const keys = new Float64Array(capacity)
  let length = 0
  return {
    add: (fingerprint, section, chunk) => {
      keys[length++] = fingerprint * blockPositions + spanPosition(0, section, chunk)
    },
    sorted: () => {
      const out = Buffer.allocUnsafeSlow(length * entryBytes)
      const heightBits = spanPosition(height, 'Block', 0)
      let at = 0
      let last = -1
      for (const key of keys.subarray(0, length).sort()) {
        if (key === last) continue
        last = key
        const fingerprint = Math.floor(key / blockPositions)
        const position = heightBits | (key - fingerprint * blockPositions)
        at = writeEntry(out, at, fingerprint >>> 24, fingerprint & 0xffffff, position)
      }
      return out.subarray(0, at)
    },
  }
}

/** One table of several. */
export function mergeEntries(tables: readonly Buffer[]): Buffer {
  const out = Buffer.allocUnsafeSlow(tables.reduce((sum, table) => sum + table.length, 0))
  const cursors = new Uint32Array(tables.length)
  let bucket = new Float64Array(1024)
  let at = 0
  // Tables are sorted, so all entries with one first byte are neighbours in each of them; what is
  // left of an entry has 48 bits and sorts as a double.
  for (let first = 0; first < 256; first++) {
    let length = 0
    for (let index = 0; index < tables.length; index++) {
      const table = tables[index] ?? out
      let from = cursors[index] ?? 0
      for (; from < table.length && table[from] === first; from += entryBytes) {
        if (length === bucket.length) bucket = grown(bucket)
        bucket[length++] =
          (fingerprintAt(table, from) & 0xffffff) * positions + positionAt(table, from)
      }
      cursors[index] = from
    }
    for (const rest of bucket.subarray(0, length).sort()) {
      const low = Math.floor(rest / positions)
      at = writeEntry(out, at, first, low, rest - low * positions)
    }
  }
  return out
}

function writeEntry(
  out: Buffer,
  at: number,
  first: number,
  low: number,
  position: SpanPosition,
): number {
  out[at] = first
  out[at + 1] = low >>> 16
  out[at + 2] = low >>> 8
  out[at + 3] = low
  out[at + 4] = position >>> 16
  out[at + 5] = position >>> 8
  out[at + 6] = position
  return at + entryBytes
}

function grown(bucket: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(bucket.length * 2)
  larger.set(bucket)
  return larger
}

/** The entries of each height within the span, the inverse of `mergeEntries`. */
export function splitEntries(table: Buffer): Map<number, Buffer> {
  const counts = new Uint32Array(spanBlocks)
  for (let at = 0; at < table.length; at += entryBytes) {
    const height = positionAt(table, at) >>> heightShift
    counts[height] = (counts[height] ?? 0) + 1
  }
  const parts = new Map<number, Buffer>()
  for (const [height, count] of counts.entries()) {
    if (count > 0) parts.set(height, Buffer.allocUnsafeSlow(count * entryBytes))
  }
  const ends = new Uint32Array(spanBlocks)
  for (let at = 0; at < table.length; at += entryBytes) {
    const height = positionAt(table, at) >>> heightShift
    const end = ends[height] ?? 0
    parts.get(height)?.set(table.subarray(at, at + entryBytes), end)
    ends[height] = end + entryBytes
  }
  return parts
}

/** The pages of a table. */
export function toPages(entries: Buffer): Buffer[] {
  const further = entries.length <= pageEntries * entryBytes ? 0 : pageCount(entries)
  invariant(further <= 0xffff, 'a table fits 65,536 pages')
  if (further === 0) return [Buffer.concat([Buffer.from([0, 0]), entries])]
  const directory = Buffer.allocUnsafe(2 + further * 4)
  directory.writeUInt16BE(further, 0)
  const pages: Buffer[] = [directory]
  for (let page = 0; page < further; page++) {
    const from = page * pageEntries * entryBytes
    directory.writeUInt32BE(entries.readUInt32BE(from), 2 + page * 4)
    pages.push(entries.subarray(from, from + pageEntries * entryBytes))
  }
  return pages
}

const pageCount = (entries: Buffer): number =>
  Math.ceil(entries.length / (pageEntries * entryBytes))

/** Returns a page of a table, or undefined where the table does not exist. */
export type ReadPage = (page: number) => Buffer | undefined

/** Number of further pages of a table, or undefined where there is none. */
export function furtherPages(readPage: ReadPage): number | undefined {
  return readPage(0)?.readUInt16BE(0)
}

/** The length of each page of a table; none where there is no table. */
export function pageLengths(readPage: ReadPage): number[] {
  const first = readPage(0)
  if (first === undefined) return []
  const further = first.readUInt16BE(0)
  const full = new Array<number>(Math.max(0, further - 1)).fill(pageEntries * entryBytes)
  return [first.length, ...full, ...(further === 0 ? [] : [wholePage(readPage, further).length])]
}

/** Most bytes that the pages of a table of so many entries take. */
export function maxTableBytes(entries: number): number {
  return 2 + entries * entryBytes + 4 * Math.ceil(entries / pageEntries)
}

/** All entries of a table, or undefined where there is none. */
export function readEntries(readPage: ReadPage): Buffer | undefined {
  const first = readPage(0)
  if (first === undefined) return undefined
  const further = first.readUInt16BE(0)
  if (further === 0) return first.subarray(2)
  return Buffer.concat(Array.from({ length: further }, (_, page) => wholePage(readPage, page + 1)))
}

/** The places that a table has for a fingerprint, ascending. A page is not used after the next one is read. */
export function findInPages(readPage: ReadPage, fingerprint: number): SpanPosition[] {
  const first = readPage(0)
  if (first === undefined) return []
  const further = first.readUInt16BE(0)
  if (further === 0) return findInEntries(first.subarray(2), fingerprint)
  return pagesFor(first, further, fingerprint).flatMap((page) =>
    findInEntries(wholePage(readPage, page), fingerprint),
  )
}

/** The places that sorted entries have for a fingerprint, ascending. */
export function findInEntries(entries: Buffer, fingerprint: number): SpanPosition[] {
  let low = 0
  let high = entries.length / entryBytes
  while (low < high) {
    const middle = (low + high) >>> 1
    if (fingerprintAt(entries, middle * entryBytes) < fingerprint) low = middle + 1
    else high = middle
  }
  const positions: SpanPosition[] = []
  for (let at = low * entryBytes; at < entries.length; at += entryBytes) {
    if (fingerprintAt(entries, at) !== fingerprint) break
    positions.push(positionAt(entries, at))
  }
  return positions
}

/** Pages that may have a fingerprint: from the last that begins below it, as equal ones may start at its end. */
function pagesFor(directory: Buffer, further: number, fingerprint: number): number[] {
  const firstOf = (page: number): number => directory.readUInt32BE(2 + page * 4)
  let low = 0
  let high = further
  while (low < high) {
    const middle = (low + high) >>> 1
    if (firstOf(middle) < fingerprint) low = middle + 1
    else high = middle
  }
  const pages = low > 0 ? [low] : []
  for (let page = low; page < further && firstOf(page) === fingerprint; page++) pages.push(page + 1)
  return pages
}

function wholePage(readPage: ReadPage, page: number): Buffer {
  const bytes = readPage(page)
  invariant(bytes !== undefined, `an index table has its page ${page}`)
  return bytes
}

function fingerprintAt(entries: Buffer, at: number): number {
  return entries.readUInt32BE(at)
}

function positionAt(entries: Buffer, at: number): SpanPosition {
  return entries.readUIntBE(at + 4, 3)
}
