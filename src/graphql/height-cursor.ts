/**
 * Cursors over the heights that may hold matching rows, in one direction, lazily: a look-up of a
 * rare value touches the few blocks that have it, and one with a limit stops when it has enough.
 * Where a block's chunks are known they narrow the positions as well. Cursors may name too much,
 * never too little: every row is checked against the whole filter.
 */
import type { Section } from '../primitives/collections.ts'
import type { TermKind } from '../primitives/index-terms.ts'
import type { Candidate, Snapshot } from '../store/store.ts'
import { type BlockView, chunkWindow, storedBlock } from './block-view.ts'
import { positionsWith } from './chunk-window.ts'
import { type Intervals, nearest } from './intervals.ts'
import { spanIn } from './section-span.ts'
import { intersectSpans, mergeSpans, type Span, type SpanSet, uniteSpans } from './span-set.ts'

/** Heights in one direction. */
export interface HeightCursor {
  /**
   * The nearest height at or beyond `height` that may match; null at the end. Later calls must not
   * go back; asking again for the same height answers the same.
   */
  seek(height: number): number | null
  /** Where rows of a section may match in the block at the height that `seek` answered. */
  spans(block: BlockView, section: Section): SpanSet
}

/** A cursor that ends at once. */
export const emptyCursor: HeightCursor = { seek: () => null, spans: () => [] }

/** Every height of a set, stored or not. */
export function intervalCursor(set: Intervals, descending: boolean): HeightCursor {
  return { seek: (height) => nearest(set, height, descending), spans: () => 'whole' }
}

/** The heights of documents found one by one; `needle` is in their bytes, where it is known. */
export function placesCursor(
  places: readonly Candidate[],
  needle: Uint8Array | null,
  descending: boolean,
): HeightCursor {
  const sorted = [...places].sort((a, b) =>
    descending ? b.height - a.height : a.height - b.height,
  )
  return candidateCursor({ open: () => sorted, needle, bounds: null, descending })
}

/** The heights whose chunks may hold a value, from the store's index. */
export function termCursor(
  snapshot: Snapshot,
  term: { readonly kind: TermKind; readonly value: Uint8Array },
  bounds: readonly [from: number, to: number],
  descending: boolean,
): HeightCursor {
  const [low, high] = bounds
  return candidateCursor({
    descending,
    bounds,
    needle: term.value,
    open: (height) => {
      const [from, to] = descending ? [low, Math.min(high, height)] : [Math.max(low, height), high]
      return snapshot.candidates(term.kind, term.value, from, to, descending)
    },
  })
}

interface CandidateSource {
  readonly descending: boolean
  /** Bytes that every matching document has; null where only its CID is known. */
  readonly needle: Uint8Array | null
  /** Null when opening again at another height is no shorter than walking there. */
  readonly bounds: readonly [from: number, to: number] | null
  open(height: number): Iterable<Candidate>
}

/** Steps taken one by one towards a height before the index is asked for it anew. */
const patience = 32

function candidateCursor(source: CandidateSource): HeightCursor {
  const { descending } = source
  let iterator: Iterator<Candidate> | undefined
  let pending: Candidate | null = null
  let current: { readonly height: number; readonly chunks: Candidate[] } | null = null
  const isBefore = (height: number, goal: number) => (descending ? height > goal : height < goal)

  function open(height: number): void {
    iterator = source.open(height)[Symbol.iterator]()
    pull()
  }
  function pull(): void {
    const next = iterator?.next()
    pending = next === undefined || next.done === true ? null : next.value
  }
  function walkTo(goal: number): void {
    for (let steps = 0; pending !== null && isBefore(pending.height, goal); steps++) {
      if (steps >= patience && source.bounds !== null) open(goal)
      else pull()
    }
  }
  /** All candidates of one height. */
  function gather(): void {
    current = pending === null ? null : { height: pending.height, chunks: [] }
    for (; pending !== null && pending.height === current?.height; pull()) {
      current.chunks.push(pending)
    }
  }
  return {
    seek(height) {
      if (iterator === undefined) {
        open(height)
        walkTo(height)
        gather()
      } else if (current !== null && isBefore(current.height, height)) {
        walkTo(height)
        gather()
      }
      return current?.height ?? null
    },
    spans(block, section) {
      const found: Span[] = []
      for (const candidate of current?.chunks ?? []) {
        for (const place of placesIn(block, candidate, source.needle)) {
          const span = spanIn(block, candidate.section, place, section)
          if (span === 'whole') return 'whole'
          found.push(span)
        }
      }
      return mergeSpans(found)
    },
  }
}

/** Where in a candidate's chunk the matching documents can be. */
function placesIn(
  block: BlockView,
  { section, chunk }: Candidate,
  needle: Uint8Array | null,
): readonly Span[] {
  const window = needle === null ? null : chunkWindow(block, section, chunk)
  if (needle === null || window === null) return [storedBlock(block).chunkRange(section, chunk)]
  return positionsWith(window, needle).map((position) => [position, position + 1])
}

/** A cursor over rows that are linked to rows of another section. */
export function linkedCursor(rows: HeightCursor, from: Section): HeightCursor {
  return {
    seek: rows.seek,
    spans(block, section) {
      const spans = rows.spans(block, from)
      if (spans === 'whole') return spans
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

/** Heights that all cursors have. */
export function bothCursor(parts: readonly HeightCursor[]): HeightCursor {
  return {
    seek(height) {
      let goal = height
      for (let agreed = 0; agreed < parts.length; ) {
        agreed = 0
        for (const part of parts) {
          const next = part.seek(goal)
          if (next === null) return null
          if (next !== goal) {
            goal = next
            break
          }
          agreed++
        }
      }
      return goal
    },
    spans: (block, section) =>
      parts.reduce<SpanSet>(
        (set, part) => intersectSpans(set, part.spans(block, section)),
        'whole',
      ),
  }
}

/** Heights that any cursor has. */
export function eitherCursor(parts: readonly HeightCursor[], descending: boolean): HeightCursor {
  return {
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
