/**
 * Places that an index or an identity names: a block, a chunk that holds a value, a log by its
 * index. A place may name more documents than match, never fewer.
 */
import { fieldIndex, type Section } from '../primitives/collections.ts'
import type { TermKind } from '../primitives/index-terms.ts'
import { readField, valueCount } from '../primitives/values.ts'
import { type BlockView, chunkWindow, storedValues } from './block-view.ts'
import { knowsFields, positionsWhere, positionsWith } from './chunk-window.ts'
import { spanIn } from './section-span.ts'
import { mergeSpans, type Span, type SpanSet } from './span-set.ts'

/** Where matching documents can be. */
export type Place =
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

/** Places of one block that are looked into one by one; of more it is as well to check all documents. */
const maxPlaces = 1_024
/** Values that are searched for in the chunks of a block; for more whole chunks are checked. */
const maxSearches = 64

/** The positions in a section that places of one block name. */
export function spansOfPlaces(
  block: BlockView,
  places: readonly Place[],
  section: Section,
): SpanSet {
  if (places.length > maxPlaces) return 'whole'
  const isSearched = places.length <= maxSearches
  const found: Span[] = []
  for (const place of places) {
    if (place.type === 'block') return 'whole'
    const from = place.type === 'log' ? 'Log' : place.section
    const spans =
      place.type === 'log' ? [logSpan(block, place.logIndex)] : chunkSpans(block, place, isSearched)
    for (const one of spans) {
      const span = spanIn(block, from, one, section)
      if (span === 'whole') return 'whole'
      found.push(span)
    }
  }
  return mergeSpans(found)
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
  { section, chunk, kind, value }: Extract<Place, { type: 'chunk' }>,
  isSearched: boolean,
): readonly Span[] {
  const window = chunkWindow(block, section, chunk)
  if (kind === 'cid' || !isSearched) return [[window.first, window.end]]
  const field = termFields[kind]
  const count = valueCount(section)
  const positions =
    field === undefined || !knowsFields(window, count)
      ? positionsWith(window, value)
      : positionsWhere(window, count, field, value)
  return positions.map((position) => [position, position + 1])
}

const logIndexField = fieldIndex('Log', 'logIndex')

/** Log indexes rise with positions but may skip numbers: a log stands at its index or before it. */
function logSpan(block: BlockView, logIndex: number): Span {
  const last = Math.min(logIndex, block.header.sections.Log - 1)
  if (last < 0) return [0, 0]
  const found = readField('Log', storedValues(block, 'Log', last), logIndexField)
  return found === logIndex ? [last, last + 1] : [0, last + 1]
}
