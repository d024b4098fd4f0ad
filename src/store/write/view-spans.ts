/**
 * Index tables of a View's rows, merged for spans of 64 blocks as those of documents are: a value is then looked up
 * once for each span. A height that goes out of a merged table is forgotten there, and its entries go when the table
 * is merged again or no height is left in it.
 */
import {
  clipHeights,
  eachHeight,
  eachSpan,
  type HeightRanges,
  hasHeight,
  removeHeights,
  subtractHeights,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import { type StoreState, spanBlocks } from '../disk/layout.ts'
import { lowestKept, type TablePlace, type ViewSlot, viewTableKey } from '../disk/view-layout.ts'
import { mergeEntries, splitEntries, toPages } from '../index/index-table.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { Write } from './block-writes.ts'
import { mergeDepth } from './span-writes.ts'
import type { SlotChange } from './view-slots.ts'

/** The highest span that no usual reorganisation reaches any more; -1 or less without one. */
export function deepestSpan({ blocks, pruned }: StoreState): number {
  const head = Math.max(blocks.at(-1)?.[1] ?? 0, pruned.at(-1)?.[1] ?? 0)
  return Math.floor((head + 1 - mergeDepth) / spanBlocks) - 1
}

/** The lowest span that is deep enough, of which the View has done all blocks, and some since it was merged. */
export function dueViewSpan(state: StoreState, has: ViewSlot): number | undefined {
  const { done, failed, merged } = has
  const end = (deepestSpan(state) + 1) * spanBlocks - 1
  const waiting = subtractHeights(clipHeights(done, state.rowTail, end), merged)
  if (waiting.length === 0) return undefined
  const settled = uniteHeights([[0, lowestKept(has) - 1], ...done, ...failed])
  for (const span of eachSpan(waiting, spanBlocks)) {
    const first = span * spanBlocks
    const last = first + spanBlocks - 1
    const blocks = clipHeights(state.blocks, Math.max(first, state.tail), last)
    const others = clipHeights(state.pruned, Math.max(first, state.rowTail), last)
    const known = uniteHeights([...blocks, ...others])
    if (subtractHeights(known, clipHeights(settled, first, last)).length === 0) return span
  }
  return undefined
}

/** Merges the tables of a span's blocks, and that of the span where there is one. */
export function mergeViewSpan(
  snapshot: HeldSnapshot,
  { slot, has, writes }: SlotChange,
  span: number,
): SlotChange {
  const first = span * spanBlocks
  const last = first + spanBlocks - 1
  const before = [...splitEntries(snapshot.viewTable(slot, { span }) ?? Buffer.alloc(0))]
  const tables = before.flatMap(([offset, entries]) =>
    hasHeight(has.merged, first + offset) ? [entries] : [],
  )
  const removed = [removeViewTable(snapshot, slot, { span })]
  const here = clipHeights(has.done, first, last)
  for (const height of eachHeight(subtractHeights(here, has.merged))) {
    const table = snapshot.viewTable(slot, { height })
    if (table === undefined) continue
    tables.push(table)
    removed.push(removeViewTable(snapshot, slot, { height }))
  }
  const put = viewTableWrites(slot, { span }, mergeEntries(tables))
  const freed = removed.reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    slot,
    has: {
      ...has,
      merged: uniteHeights([...has.merged, ...here]),
      indexBytes: Math.max(0, has.indexBytes - freed) + bytesOf(put),
    },
    writes: [...writes, ...removed.flatMap((each) => each.writes), ...put],
  }
}

/** Takes heights out of what is merged, and removes the tables of the spans in which none is left. */
export function forgetMerged(
  snapshot: HeldSnapshot,
  slot: number,
  merged: HeightRanges,
  [from, to]: readonly [from: number, to: number],
): { readonly merged: HeightRanges; readonly writes: Write[]; readonly bytes: number } {
  const gone = clipHeights(merged, from, to)
  const left = removeHeights(merged, from, to)
  const removed = [...eachSpan(gone, spanBlocks)].flatMap((span) => {
    const first = span * spanBlocks
    const isLeft = clipHeights(left, first, first + spanBlocks - 1).length > 0
    return isLeft ? [] : [removeViewTable(snapshot, slot, { span })]
  })
  return {
    merged: left,
    writes: removed.flatMap(({ writes }) => writes),
    bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Puts an index table; none where there are no entries. */
export function viewTableWrites(slot: number, place: TablePlace, entries: Buffer): Write[] {
  if (entries.length === 0) return []
  return toPages(entries).map((value, page) => ({
    database: 'viewIndex',
    key: viewTableKey(slot, place, page),
    value,
  }))
}

/** Removes an index table, if there is one; `bytes` is what it took. */
export function removeViewTable(
  snapshot: HeldSnapshot,
  slot: number,
  place: TablePlace,
): { readonly writes: Write[]; readonly bytes: number } {
  const { pages, bytes } = snapshot.viewTableSize(slot, place)
  const writes = Array.from({ length: pages }, (_, page): Write => {
    return { database: 'viewIndex', key: viewTableKey(slot, place, page), value: null }
  })
  return { writes, bytes }
}

const bytesOf = (writes: readonly Write[]): number =>
  writes.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
