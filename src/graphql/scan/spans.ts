/**
 * Positions within one block: sets of them as ascending spans (the end excluded; `whole` stands for
 * all of a section without counting it), which span of one section belongs to a span of another,
 * and the spans that the entries of an index name. An index entry may name more documents than
 * match, never fewer.
 */
import { fieldIndex, type Section } from '../../primitives/collections.ts'
import type { TermKind } from '../../primitives/index-terms.ts'
import { readField, valueCount } from '../../primitives/values.ts'
import type { StoredBlock } from '../../store/store.ts'
import { type BlockView, openChunk, storedBlock, storedValues } from '../rows/block-view.ts'
import { knowsFields, positionsWhere, positionsWith } from '../rows/chunk-search.ts'
import { type ViewRows, viewChunkSpan, viewPositions } from '../rows/view-rows.ts'

/** First and end position. */
export type Span = readonly [start: number, end: number]

/** Ascending spans that do not overlap, or all positions. */
export type SpanSet = readonly Span[] | 'whole'

/** What is in both. */
export function intersectSpans(a: SpanSet, b: SpanSet): SpanSet {
  if (a === 'whole') return b
  if (b === 'whole') return a
  const result: Span[] = []
  let [i, j] = [0, 0]
  for (;;) {
    const [left, right] = [a[i], b[j]]
    if (left === undefined || right === undefined) return result
    const start = Math.max(left[0], right[0])
    const end = Math.min(left[1], right[1])
    if (start < end) result.push([start, end])
    if (left[1] < right[1]) i++
    else j++
  }
}

/** What is in either. */
export function uniteSpans(a: SpanSet, b: SpanSet): SpanSet {
  if (a === 'whole' || b === 'whole') return 'whole'
  return mergeSpans([...a, ...b])
}

/** Spans in any order, empty ones too, made a set. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const [first] = spans
  if (first !== undefined && spans.length === 1 && first[0] < first[1]) return spans
  const sorted = spans.filter(([start, end]) => start < end).sort((a, b) => a[0] - b[0])
  const result: [number, number][] = []
  for (const [start, end] of sorted) {
    const last = result.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end)
    else result.push([start, end])
  }
  return result
}

/** The rows of section `to` that belong to a span of section `from`; `whole` where that is not narrower. */
export function spanIn(block: BlockView, from: Section, span: Span, to: Section): Span | 'whole' {
  if (from === to) return span
  if (from === 'Block' || to === 'Block') return 'whole'
  const stored = storedBlock(block)
  const transactions = transactionsOf(stored, from, span)
  return to === 'Transaction' ? transactions : childrenOf(stored, transactions, to)
}

const empty: Span = [0, 0]
function transactionsOf(
  stored: StoredBlock,
  from: 'Transaction' | 'Log' | 'AccessListEntry',
  [start, end]: Span,
): Span {
  if (start >= end) return empty
  if (from === 'Transaction') return [start, end]
  const owner = from === 'Log' ? stored.transactionOfLog : stored.transactionOfEntry
  return [owner(start), owner(end - 1) + 1]
}

function childrenOf(stored: StoredBlock, [start, end]: Span, to: 'Log' | 'AccessListEntry'): Span {
  if (start >= end) return empty
  const children = to === 'Log' ? stored.logsOf : stored.entriesOf
  return [children(start)[0], children(end - 1)[1]]
}

/** Where matching documents can be. */
export type MatchLocation =
  | { readonly type: 'block'; readonly height: number }
  | {
      readonly type: 'chunk'
      readonly height: number
      readonly section: Section
      readonly chunk: number
      /** The value that the chunk holds. */
      readonly kind: TermKind
      readonly value: Uint8Array
    }
  | { readonly type: 'log'; readonly height: number; readonly logIndex: number }
  /** Rows of a View, which belong to no section. */
  | {
      readonly type: 'rows'
      readonly height: number
      readonly rows: ViewRows
      readonly chunk: number
      /** The value that the chunk holds, by the position of its field in the SDL. */
      readonly field: number
      readonly value: Uint8Array
    }

/** Locations of one block that are resolved one by one; with more, all documents are checked. */
const maxLocations = 1024
/** Values that are searched for in the chunks of a block; for more whole chunks are checked. */
const maxSearches = 64

/** The positions in a section, or among the rows of a View, that locations in one block name. */
export function spansOfLocations(
  block: BlockView,
  locations: readonly MatchLocation[],
  section: Section | null,
): SpanSet {
  if (locations.length > maxLocations) return 'whole'
  const isSearched = locations.length <= maxSearches
  const found: Span[] = []
  for (const location of locations) {
    const spans = spansOfLocation(block, location, section, isSearched)
    if (spans === 'whole') return 'whole'
    for (const span of spans) found.push(span)
  }
  return mergeSpans(found)
}

function spansOfLocation(
  block: BlockView,
  location: MatchLocation,
  section: Section | null,
  isSearched: boolean,
): SpanSet {
  if (location.type === 'block') return 'whole'
  if (location.type === 'rows') return rowSpans(block, location, isSearched)
  if (section === null) return 'whole'
  const spans: Span[] = []
  const from = location.type === 'log' ? 'Log' : location.section
  const named =
    location.type === 'log'
      ? [logSpan(block, location.logIndex)]
      : chunkSpans(block, location, isSearched)
  for (const one of named) {
    const span = spanIn(block, from, one, section)
    if (span === 'whole') return 'whole'
    spans.push(span)
  }
  return spans
}

/** The field that holds a term's value; other terms are found by their bytes, wherever they are. */
const termFields: Readonly<Partial<Record<TermKind, number>>> = {
  transactionHash: fieldIndex('Transaction', 'hash'),
  from: fieldIndex('Transaction', 'from'),
  to: fieldIndex('Transaction', 'to'),
  logAddress: fieldIndex('Log', 'address'),
}

function chunkSpans(
  block: BlockView,
  { section, chunk: number, kind, value }: Extract<MatchLocation, { type: 'chunk' }>,
  isSearched: boolean,
): readonly Span[] {
  const chunk = openChunk(block, section, number)
  if (kind === 'cid' || !isSearched) return [[chunk.first, chunk.first + chunk.length]]
  const field = termFields[kind]
  const count = valueCount(section)
  const positions =
    field === undefined || !knowsFields(chunk, count)
      ? positionsWith(chunk, value)
      : positionsWhere(chunk, count, field, value)
  return positions.map(spanOfOne)
}

function rowSpans(
  block: BlockView,
  location: Extract<MatchLocation, { type: 'rows' }>,
  isSearched: boolean,
): readonly Span[] {
  const { rows, chunk } = location
  if (!isSearched) return [viewChunkSpan(block, rows, chunk)]
  return viewPositions(block, rows, location).map(spanOfOne)
}

const spanOfOne = (position: number): Span => [position, position + 1]

const logIndexField = fieldIndex('Log', 'logIndex')
/** Log indexes rise with positions but may skip numbers: a log stands at its index or before it. */
function logSpan(block: BlockView, logIndex: number): Span {
  const last = Math.min(logIndex, block.header.sections.Log - 1)
  if (last < 0) return [0, 0]
  const found = readField('Log', storedValues(block, 'Log', last), logIndexField)
  return found === logIndex ? [last, last + 1] : [0, last + 1]
}
