/**
 * Cursors over the heights that may hold matching rows, in one direction, lazily: a lookup of a rare
 * value reads the few blocks that have it, and one with a limit stops when it has enough. Where
 * locations within a block are known they narrow the positions as well. Cursors may name too much,
 * never too little: every row is checked against the whole filter.
 */
import type { Section } from '../../primitives/collections.ts'
import { type HeightRanges, nearestHeight } from '../../primitives/height-ranges.ts'
import type { TermKind } from '../../primitives/index-terms.ts'
import type { Snapshot } from '../../store/store.ts'
import type { BlockView } from '../rows/block-view.ts'
import type { ViewRows } from '../rows/view-rows.ts'
import {
  intersectSpans,
  type MatchLocation,
  mergeSpans,
  type Span,
  type SpanSet,
  spanIn,
  spansOfLocations,
  uniteSpans,
} from './spans.ts'

/** Heights in one direction. */
export interface HeightCursor {
  /** How many cursors it is made of, each of which is read at every step. */
  readonly width: number
  /**
   * The nearest height at or beyond `height` that may match; null at the end. Later calls must not
   * go back; the same height again returns the same.
   */
  seek(height: number): number | null
  /** Where rows of a section (null for those of a View) may match in the block at the height that `seek` returned. */
  spans(block: BlockView, section: Section | null): SpanSet
}

/** A cursor that ends at once. */
export const emptyCursor: HeightCursor = { width: 1, seek: () => null, spans: () => [] }

/** Every height of a set, stored or not. */
export function rangesCursor(ranges: HeightRanges, descending: boolean): HeightCursor {
  return {
    width: 1,
    seek: (height) => nearestHeight(ranges, height, descending),
    spans: () => 'whole',
  }
}

/** The heights of locations that are all known. */
export function locationsCursor(
  locations: readonly MatchLocation[],
  descending: boolean,
): HeightCursor {
  const sorted = [...locations].sort((a, b) =>
    descending ? b.height - a.height : a.height - b.height,
  )
  return streamCursor(descending, () => sorted)
}

/** A value that the store has an index of: of documents, or of a View's rows. */
export type IndexedValue =
  | { readonly type: 'term' | 'unique'; readonly kind: TermKind; readonly value: Uint8Array }
  | {
      readonly type: 'rows'
      readonly rows: ViewRows
      readonly field: number
      readonly value: Uint8Array
    }

/** The heights whose chunks may hold a value, from the store's index, as far as they are asked for. */
export function termCursor(
  snapshot: Snapshot,
  value: IndexedValue,
  bounds: readonly [from: number, to: number],
  descending: boolean,
): HeightCursor {
  const open = (from: number, to: number) =>
    candidateLocations(snapshot, value, [from, to], descending)
  return seekingCursor(bounds, descending, open)
}

/** The heights of which a View has rows. */
export function viewCursor(
  snapshot: Snapshot,
  { slot }: ViewRows,
  bounds: readonly [from: number, to: number],
  descending: boolean,
): HeightCursor {
  return seekingCursor(bounds, descending, function* (from, to) {
    for (const height of snapshot.viewHeights(slot, from, to, descending)) {
      yield { type: 'block', height }
    }
  })
}

function seekingCursor(
  [low, high]: readonly [from: number, to: number],
  descending: boolean,
  open: (from: number, to: number) => Iterable<MatchLocation>,
): HeightCursor {
  const locations = (height: number): Iterable<MatchLocation> =>
    descending ? open(low, Math.min(high, height)) : open(Math.max(low, height), high)
  return streamCursor(descending, locations, patience)
}

/** The chunks that may hold a value as locations. */
export function* candidateLocations(
  snapshot: Snapshot,
  indexed: IndexedValue,
  [from, to]: readonly [from: number, to: number],
  descending: boolean,
): Generator<MatchLocation> {
  if (indexed.type === 'rows') {
    const { rows, field, value } = indexed
    const found = snapshot.viewCandidates(rows.slot, field, value, from, to, descending)
    for (const { height, chunk } of found) yield { type: 'rows', height, rows, chunk, field, value }
    return
  }
  const { kind, value } = indexed
  for (const { height, section, chunk } of snapshot.candidates(kind, value, from, to, descending)) {
    yield { type: 'chunk', height, section, chunk, kind, value }
  }
}

/** Steps taken one by one towards a height before it is looked up in the index again. */
const patience = 32

/** A cursor over locations in the order of the walk; `open` begins at a height or before it. */
function streamCursor(
  descending: boolean,
  open: (height: number) => Iterable<MatchLocation>,
  maxSteps = Infinity,
): HeightCursor {
  let iterator: Iterator<MatchLocation> | undefined
  let pending: MatchLocation | null = null
  let current: { readonly height: number; readonly locations: MatchLocation[] } | null = null
  const isBefore = (height: number, goal: number) => (descending ? height > goal : height < goal)

  function begin(height: number): void {
    iterator = open(height)[Symbol.iterator]()
    pull()
  }
  function pull(): void {
    const next = iterator?.next()
    pending = next === undefined || next.done === true ? null : next.value
  }
  function walkTo(goal: number): void {
    for (let steps = 0; pending !== null && isBefore(pending.height, goal); steps++) {
      if (steps >= maxSteps) begin(goal)
      else pull()
    }
  }
  /** All locations of one height. */
  function gather(): void {
    current = pending === null ? null : { height: pending.height, locations: [] }
    for (; pending !== null && pending.height === current?.height; pull()) {
      current.locations.push(pending)
    }
  }
  return {
    width: 1,
    seek(height) {
      if (iterator === undefined) begin(height)
      else if (current === null || !isBefore(current.height, height)) return current?.height ?? null
      walkTo(height)
      gather()
      return current?.height ?? null
    },
    spans: (block, section) => spansOfLocations(block, current?.locations ?? [], section),
  }
}

/** A cursor over rows that are linked to rows of another section. */
export function linkedCursor(rows: HeightCursor, from: Section): HeightCursor {
  return {
    width: rows.width,
    seek: rows.seek,
    spans(block, section) {
      const spans = rows.spans(block, from)
      if (spans === 'whole' || section === null) return 'whole'
      const linked: Span[] = []
      for (const one of spans) {
        const span = spanIn(block, from, one, section)
        if (span === 'whole') return span
        linked.push(span)
      }
      return mergeSpans(linked)
    },
  }
}

/** Disagreements after which a height is returned although not all have it, so that the caller can yield. */
const maxDisagreements = 256

/** Heights that all cursors have. */
export function bothCursor(parts: readonly HeightCursor[]): HeightCursor {
  return {
    width: widthOf(parts),
    seek(height) {
      let goal = height
      let disagreements = 0
      for (let agreed = 0; agreed < parts.length && disagreements < maxDisagreements; ) {
        agreed = 0
        for (const part of parts) {
          const next = part.seek(goal)
          if (next === null) return null
          if (next !== goal) {
            goal = next
            disagreements++
            break
          }
          agreed++
        }
      }
      return goal
    },
    spans(block, section) {
      let set: SpanSet = 'whole'
      for (const part of parts) {
        if (part.seek(block.height) !== block.height) return []
        set = intersectSpans(set, part.spans(block, section))
      }
      return set
    },
  }
}

const widthOf = (parts: readonly HeightCursor[]): number =>
  parts.reduce((sum, { width }) => sum + width, 0)

/** Heights that any cursor has. */
export function eitherCursor(parts: readonly HeightCursor[], descending: boolean): HeightCursor {
  return {
    width: widthOf(parts),
    seek(height) {
      let best: number | null = null
      for (const part of parts) {
        const next = part.seek(height)
        if (next === null) continue
        if (best === null || (descending ? next > best : next < best)) best = next
      }
      return best
    },
    spans(block, section) {
      let set: SpanSet = []
      for (const part of parts) {
        if (part.seek(block.height) !== block.height) continue
        set = uniteSpans(set, part.spans(block, section))
      }
      return set
    },
  }
}
