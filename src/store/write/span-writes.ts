/**
 * Compaction of spans. When 64 blocks are deep enough that a reorganisation no longer reaches them,
 * their index tables are merged into one; where such a block is removed nevertheless, the table is split
 * again. Below the tail blocks are removed in groups of neighbours, so that pruning costs little.
 */
import {
  addHeights,
  clipHeights,
  countHeights,
  eachHeight,
  eachSpan,
  type HeightRanges,
  hasHeight,
  intersectHeights,
  removeHeights,
  subtractHeights,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import {
  hashBytes,
  heightKey,
  indexLevel,
  type StoreState,
  spanBlocks,
  spanOf,
  splitSealEntryKey,
} from '../disk/layout.ts'
import { mergeEntries, readEntries, splitEntries } from '../index/index-table.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import {
  removeBlockWrites,
  removeDocumentWrites,
  removeTableWrites,
  type StoreChange,
  tableWrites,
  type Write,
} from './block-writes.ts'

/** A span is merged when its last block is this far below the head. */
export const mergeDepth = 64
/** A span with holes is merged as well once this many of its blocks wait. */
const mergeWaiting = 16

/** Blocks that are removed together: how far the file may lag behind the tail. Divides a span. */
const pruneBlocks = 16

/** The lowest span whose tables are due to be merged. */
export function dueSpan(state: StoreState): number | undefined {
  const head = state.blocks.at(-1)?.[1] ?? 0
  for (const span of eachSpan(clipHeights(state.unmerged, state.tail, head), spanBlocks)) {
    const first = span * spanBlocks
    const last = first + spanBlocks - 1
    if (last + mergeDepth > head) return undefined
    if (first >= state.tail && isWorthMerging(state, first, last)) return span
  }
  return undefined
}

function isWorthMerging(state: StoreState, first: number, last: number): boolean {
  if (countHeights(clipHeights(state.blocks, first, last)) === spanBlocks) return true
  return countHeights(clipHeights(state.unmerged, first, last)) >= mergeWaiting
}

/** Merges the tables of a span's blocks, and that of the span where there is one. */
export function mergeSpanChange(snapshot: HeldSnapshot, span: number): StoreChange {
  const { state } = snapshot
  const first = span * spanBlocks
  const last = first + spanBlocks - 1
  const tables = [readSpan(snapshot, first) ?? Buffer.alloc(0)]
  const writes = removeTableWrites(snapshot, indexLevel.span, first)
  for (const height of eachHeight(clipHeights(state.unmerged, first, last))) {
    const table = readEntries((page) => snapshot.readIndexPage(indexLevel.block, height, page))
    if (table !== undefined) tables.push(table)
    writes.push(...removeTableWrites(snapshot, indexLevel.block, height))
  }
  writes.push(...tableWrites(indexLevel.span, first, mergeEntries(tables)))
  return { writes, state: { ...state, unmerged: removeHeights(state.unmerged, first, last) } }
}

/** Removes blocks wherever they are, and what is kept of pruned ones; their seals stay. */
export function removeBlocksChange(snapshot: HeldSnapshot, heights: HeightRanges): StoreChange {
  let { unmerged, blocks, pruned } = snapshot.state
  const writes: Write[] = []
  const indexed = intersectHeights(heights, blocks)
  for (const span of eachSpan(indexed, spanBlocks)) {
    const first = span * spanBlocks
    const removed = clipHeights(indexed, first, first + spanBlocks - 1)
    if ([...eachHeight(removed)].every((each) => hasHeight(snapshot.state.unmerged, each))) continue
    const opened = openSpanWrites(snapshot, first, removed)
    writes.push(...opened.writes)
    for (const kept of opened.kept) unmerged = addHeights(unmerged, kept)
  }
  for (const height of eachHeight(heights)) writes.push(...removeBlockWrites(snapshot, height))
  for (const [from, to] of heights) {
    unmerged = removeHeights(unmerged, from, to)
    blocks = removeHeights(blocks, from, to)
    pruned = removeHeights(pruned, from, to)
  }
  const epoch = snapshot.state.epoch + 1
  return { writes, state: { ...snapshot.state, unmerged, blocks, pruned, epoch } }
}

/** Gives the blocks of a merged span tables of their own again, but for `removed`. */
function openSpanWrites(
  snapshot: HeldSnapshot,
  first: number,
  removed: HeightRanges,
): { writes: Write[]; kept: number[] } {
  const writes = removeTableWrites(snapshot, indexLevel.span, first)
  const parts = splitEntries(readSpan(snapshot, first) ?? Buffer.alloc(0))
  const kept: number[] = []
  for (const [offset, entries] of parts) {
    const height = first + offset
    if (hasHeight(removed, height) || !hasHeight(snapshot.state.blocks, height)) continue
    kept.push(height)
    writes.push(...tableWrites(indexLevel.block, height, entries))
  }
  return { writes, kept }
}

function readSpan(snapshot: HeldSnapshot, first: number): Buffer | undefined {
  return readEntries((page) => snapshot.readIndexPage(indexLevel.span, first, page))
}

/**
 * The lowest group that holds a block and lies below the tail as a whole, or what was kept for rows, a seal or a
 * statement, and lies below the tail of rows.
 */
export function pruneableGroup(
  state: StoreState,
  lowestSigned: number = Number.POSITIVE_INFINITY,
): number | undefined {
  const lowestBlock = state.blocks[0]?.[0] ?? Number.POSITIVE_INFINITY
  const lowestKept = Math.min(state.pruned[0]?.[0] ?? Number.POSITIVE_INFINITY, lowestSigned)
  const groups = [
    groupBelow(state.tail, lowestBlock),
    groupBelow(state.rowTail, lowestKept),
  ].flatMap((group) => group ?? [])
  return groups.length === 0 ? undefined : Math.min(...groups)
}

function groupBelow(tail: number, height: number): number | undefined {
  const group = Math.floor(height / pruneBlocks)
  return (group + 1) * pruneBlocks <= tail ? group : undefined
}

/**
 * Removes the documents of a group, and the index table of a span that is left empty; below the tail of rows headers
 * and seals as well.
 */
export function removeGroupChange(snapshot: HeldSnapshot, group: number): StoreChange {
  const { state } = snapshot
  const first = group * pruneBlocks
  const last = first + pruneBlocks - 1
  const removed = clipHeights(state.blocks, first, last)
  const blocks = removeHeights(state.blocks, first, last)
  const pruned = uniteHeights([
    ...removeHeights(state.pruned, first, last),
    ...clipHeights(
      uniteHeights([...state.pruned, ...removed]),
      Math.max(first, state.rowTail),
      last,
    ),
  ])
  const writes: Write[] = []
  for (const height of eachHeight(removed)) writes.push(...removeDocumentWrites(snapshot, height))
  const known = clipHeights(uniteHeights([...state.pruned, ...removed]), first, last)
  for (const height of eachHeight(subtractHeights(known, pruned))) {
    writes.push(...removeHeaderWrites(snapshot, height))
  }
  const end = Math.min(last + 1, state.rowTail)
  writes.push(...removeSealsBelow(snapshot, first, end))
  writes.push(...removeStatementsBelow(snapshot, first, end))
  const spanFirst = spanOf(first) * spanBlocks
  if (clipHeights(blocks, spanFirst, spanFirst + spanBlocks - 1).length === 0) {
    writes.push(...removeTableWrites(snapshot, indexLevel.span, spanFirst))
  }
  const unmerged = removeHeights(state.unmerged, first, last)
  return { writes, state: { ...state, blocks, pruned, unmerged } }
}

function removeHeaderWrites(snapshot: HeldSnapshot, height: number): Write[] {
  const stored = snapshot.storedHeader(height)
  if (stored === undefined) return []
  return [
    { database: 'headers', key: heightKey(height), value: null },
    { database: 'hashes', key: hashBytes(stored.header.hash), value: null },
  ]
}

function removeSealsBelow(snapshot: HeldSnapshot, from: number, end: number): Write[] {
  return [...snapshot.sealKeys(heightKey(from), heightKey(end))].flatMap((key): Write[] => [
    { database: 'seals', key, value: null },
    { database: 'hashes', key: splitSealEntryKey(key).hash, value: null },
  ])
}

function removeStatementsBelow(snapshot: HeldSnapshot, from: number, end: number): Write[] {
  const keys = [...snapshot.rowStatementKeys(heightKey(from), heightKey(end))]
  return keys.map((key) => ({ database: 'rowStatements', key, value: null }))
}
