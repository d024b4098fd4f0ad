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
  removeHeights,
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
  removeTableWrites,
  type StoreChange,
  tableWrites,
  type Write,
} from './block-writes.ts'

/** A span is merged when its last block is this far below the head. */
const mergeDepth = 64
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

/** Removes blocks wherever they are; their seals stay. */
export function removeBlocksChange(snapshot: HeldSnapshot, heights: HeightRanges): StoreChange {
  let { unmerged, blocks } = snapshot.state
  const writes: Write[] = []
  for (const span of eachSpan(heights, spanBlocks)) {
    const first = span * spanBlocks
    const removed = clipHeights(heights, first, first + spanBlocks - 1)
    if ([...eachHeight(removed)].every((each) => hasHeight(snapshot.state.unmerged, each))) continue
    const opened = openSpanWrites(snapshot, first, removed)
    writes.push(...opened.writes)
    for (const kept of opened.kept) unmerged = addHeights(unmerged, kept)
  }
  for (const height of eachHeight(heights)) writes.push(...removeBlockWrites(snapshot, height))
  for (const [from, to] of heights) {
    unmerged = removeHeights(unmerged, from, to)
    blocks = removeHeights(blocks, from, to)
  }
  const epoch = snapshot.state.epoch + 1
  return { writes, state: { ...snapshot.state, unmerged, blocks, epoch } }
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

/** The lowest group that holds a block, or a seal, and lies below the tail as a whole. */
export function pruneableGroup(
  state: StoreState,
  lowestSeal: number = Number.POSITIVE_INFINITY,
): number | undefined {
  const lowest = Math.min(state.blocks[0]?.[0] ?? Number.POSITIVE_INFINITY, lowestSeal)
  const group = Math.floor(lowest / pruneBlocks)
  return (group + 1) * pruneBlocks <= state.tail ? group : undefined
}

/** Removes the blocks and seals of a group, and the index table of a span that is left empty. */
export function removeGroupChange(snapshot: HeldSnapshot, group: number): StoreChange {
  const { state } = snapshot
  const first = group * pruneBlocks
  const last = first + pruneBlocks - 1
  const writes: Write[] = []
  for (const height of eachHeight(clipHeights(state.blocks, first, last))) {
    writes.push(...removeBlockWrites(snapshot, height))
    const stored = snapshot.storedHeader(height)
    if (stored !== undefined) writes.push(removeHash(stored.header.hash))
  }
  for (const key of snapshot.sealKeys(heightKey(first), heightKey(last + 1))) {
    writes.push({ database: 'seals', key, value: null })
    writes.push({ database: 'hashes', key: splitSealEntryKey(key).hash, value: null })
  }
  const blocks = removeHeights(state.blocks, first, last)
  const unmerged = removeHeights(state.unmerged, first, last)
  const spanFirst = spanOf(first) * spanBlocks
  if (clipHeights(blocks, spanFirst, spanFirst + spanBlocks - 1).length === 0) {
    writes.push(...removeTableWrites(snapshot, indexLevel.span, spanFirst))
  }
  return { writes, state: { ...state, blocks, unmerged } }
}

function removeHash(hash: string): Write {
  return { database: 'hashes', key: hashBytes(hash), value: null }
}
