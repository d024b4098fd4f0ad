/** Which chunks of a View's rows may hold a value: by the table of a span of blocks, or by those of single blocks. */
import {
  clipHeights,
  eachSpan,
  type HeightRanges,
  hasHeight,
  intersectHeights,
  subtractHeights,
} from '../../primitives/height-ranges.ts'
import { spanBlocks } from '../disk/layout.ts'
import type { TablePlace } from '../disk/view-layout.ts'
import {
  chunkAtPosition,
  findInPages,
  heightInSpan,
  type ReadPage,
  type SpanPosition,
} from '../index/index-table.ts'
import type { CandidateRows } from '../store.ts'

/** The index of a slot. */
interface RowIndex {
  /** Heights that are asked for, of those that are done. */
  readonly heights: HeightRanges
  /** As in `ViewSlot`. */
  readonly merged: HeightRanges
  /** The fingerprint of the value. */
  readonly wanted: number
  readonly descending: boolean
  readonly pagesOf: (place: TablePlace) => ReadPage
  /** Heights from one to another that may have a table of their own. */
  readonly kept: (from: number, to: number, descending: boolean) => Iterable<number>
}

/** Candidates span by span, so that a caller with enough of them stops the rest. */
export function* findRowCandidates(index: RowIndex): Generator<CandidateRows> {
  const { heights, merged, descending } = index
  for (const span of eachSpan(heights, spanBlocks, descending)) {
    const first = span * spanBlocks
    const last = first + spanBlocks - 1
    const asked = clipHeights(heights, first, last)
    const inTable = intersectHeights(asked, clipHeights(merged, first, last))
    const single = subtractHeights(asked, inTable)
    if (inTable.length === 0) yield* findInBlocks(index, first, single)
    else
      for (const position of inOrder(findInSpan(index, span, inTable, single), descending))
        yield candidateAt(first, position)
  }
}

function* findInBlocks(
  { wanted, descending, pagesOf, kept }: RowIndex,
  first: number,
  heights: HeightRanges,
): Generator<CandidateRows> {
  for (const [from, to] of descending ? heights.toReversed() : heights) {
    for (const height of kept(from, to, descending)) {
      const positions = findInPages(pagesOf({ height }), wanted)
      // A generator of its own for each block would take as long as finding what is in it.
      for (const position of inOrder(positions, descending)) yield candidateAt(first, position)
    }
  }
}

/** A table may have entries of heights that are not in it any more. */
function findInSpan(
  { wanted, pagesOf, kept }: RowIndex,
  span: number,
  inTable: HeightRanges,
  single: HeightRanges,
): SpanPosition[] {
  const first = span * spanBlocks
  const positions = findInPages(pagesOf({ span }), wanted).filter((position) =>
    hasHeight(inTable, first + heightInSpan(position)),
  )
  for (const [from, to] of single) {
    for (const height of kept(from, to, false)) {
      positions.push(...findInPages(pagesOf({ height }), wanted))
    }
  }
  return single.length === 0 ? positions : positions.sort((a, b) => a - b)
}

function inOrder(positions: readonly SpanPosition[], descending: boolean): readonly SpanPosition[] {
  return descending && positions.length > 1 ? positions.toReversed() : positions
}

function candidateAt(first: number, position: SpanPosition): CandidateRows {
  return { height: first + heightInSpan(position), chunk: chunkAtPosition(position).chunk }
}
