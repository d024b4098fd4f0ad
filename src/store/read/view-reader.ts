/** The rows of Views in one snapshot. */
import { clipHeights, type HeightRanges, hasHeight } from '../../primitives/height-ranges.ts'
import {
  borrowValue,
  type Environment,
  peekValue,
  type ReadTransaction,
  sharedValue,
} from '../disk/environment.ts'
import { type FingerprintSeed, rowFingerprint } from '../disk/fingerprint.ts'
import type { StoreState } from '../disk/layout.ts'
import {
  decodeViewBlock,
  emptySlot,
  lowestKept,
  serialOf,
  slotKey,
  type TablePlace,
  type ViewBlock,
  type ViewSlot,
  viewBlockKey,
  viewPieceKey,
  viewTableKey,
} from '../disk/view-layout.ts'
import { pageLengths, type ReadPage, readEntries } from '../index/index-table.ts'
import type { Snapshot } from '../store.ts'
import type { RowCache } from './row-cache.ts'
import { copyPieces } from './stored-pieces.ts'
import { noStoredRows, openStoredRows } from './stored-rows.ts'
import { findRowCandidates } from './view-candidates.ts'
import { createViewHeights, type ViewHeights } from './view-heights.ts'

/** What rows are read by. */
interface ViewReadParts {
  readonly state: StoreState
  readonly seed: FingerprintSeed
  readonly cache: RowCache
  /** Hash of a block that rows can belong to. */
  readonly hashAt: (height: number) => string | undefined
  readonly reading: () => ReadTransaction
}

type SnapshotReads = Pick<
  Snapshot,
  | 'viewRows'
  | 'viewHeights'
  | 'viewRanges'
  | 'viewFailures'
  | 'viewFailure'
  | 'viewCandidates'
  | 'viewSize'
  | 'viewFrom'
>

export interface ViewReads extends SnapshotReads {
  /** Also where they are not visible. */
  viewBlock(slot: number, height: number): ViewBlock | undefined
  /** The lowest heights of which a slot has rows or a failure, whatever it is said to have done. */
  keptHeights: ViewHeights['lowest']
  /** All of them, lowest first. */
  eachKept(slot: number): Iterable<number>
  /** Number of pages of an index table, and their bytes; 0 where there is none. */
  viewTableSize(slot: number, place: TablePlace): { readonly pages: number; readonly bytes: number }
  /** The entries of an index table, a copy; undefined where there is none. */
  viewTable(slot: number, place: TablePlace): Buffer | undefined
  /** Keys of index tables of a slot, at most `limit`. */
  viewTableKeys(slot: number, limit: number): Buffer[]
}

/** Reads through the transaction that `reading` returns, or throws. */
export function createViewReads(
  databases: Environment['databases'],
  { state, seed, cache, hashAt, reading }: ViewReadParts,
): ViewReads {
  /** As this snapshot has them. */
  const slots = new Map<number, ViewSlot>()
  const slotOf = (slot: number): ViewSlot => {
    reading()
    const found = slots.get(slot) ?? readSlot(slot)
    slots.set(slot, found)
    return found
  }
  const readSlot = (slot: number): ViewSlot => {
    const bytes = peekValue(databases.viewSlots, slotKey(slot), reading())
    const known = bytes === undefined ? emptySlot : cache.slot(slot, bytes)
    return known.isClearing ? emptySlot : known
  }
  const stored = createRawReads(databases, cache, reading)
  const doneBlocks = cache.doneBlocks.asOf(state)
  const block = (slot: number, height: number): ViewBlock | undefined => {
    const read = () => stored.block(slot, height)
    const isDone = height >= state.rowTail && hasHeight(slotOf(slot).done, height)
    return isDone ? doneBlocks.read(slot, height, read) : read()
  }
  const raw: RawReads = { ...stored, block }
  const heights = createViewHeights(
    databases.viewBlocks,
    reading,
    (slot, height) => block(slot, height) !== undefined,
  )

  const shown = (ranges: HeightRanges): HeightRanges =>
    clipHeights(ranges, state.rowTail, Number.MAX_SAFE_INTEGER)
  function* viewHeights(slot: number, from: number, to: number, descending: boolean) {
    const { done } = slotOf(slot)
    for (const height of heights.each(slot, Math.max(from, state.rowTail), to, descending)) {
      if (hasHeight(done, height)) yield height
    }
  }

  return {
    viewBlock: block,
    keptHeights: heights.lowest,
    eachKept: (slot) => heights.each(slot, 0, Number.MAX_SAFE_INTEGER, false),
    ...createTableReads(databases, raw, reading),
    viewHeights,
    viewRanges: (slot) => shown(slotOf(slot).done),
    viewFailures: (slot) => shown(slotOf(slot).failed),
    viewFailure: (slot, height) => {
      if (height < state.rowTail || !hasHeight(slotOf(slot).failed, height)) return undefined
      const block = raw.block(slot, height)
      return block && raw.copy(slot, height, 0, block.bytes)
    },
    viewRows: (slot, height) => {
      const hash = hashAt(height)
      if (hash === undefined || !hasHeight(slotOf(slot).done, height)) return undefined
      const block = raw.block(slot, height)
      if (block === undefined) return noStoredRows(hash)
      return openStoredRows(block, cache, (start, length) => raw.copy(slot, height, start, length))
    },
    viewSize: (slot) => {
      const { rows, bytes, indexBytes } = slotOf(slot)
      return { rows, bytes: bytes + indexBytes }
    },
    viewFrom: (slot) => lowestKept(slotOf(slot)),
    viewCandidates: (slot, field, value, from, to, descending) => {
      const { done, merged } = slotOf(slot)
      return findRowCandidates({
        heights: clipHeights(done, Math.max(from, state.rowTail), to),
        merged,
        wanted: rowFingerprint(seed, field, value),
        descending,
        pagesOf: (place) => pagesOf(raw, cache, slot, place),
        kept: (low, high, down) => heights.each(slot, low, high, down),
      })
    },
  }
}

function createTableReads(
  { viewIndex }: Environment['databases'],
  raw: RawReads,
  reading: () => ReadTransaction,
): Pick<ViewReads, 'viewTableSize' | 'viewTable' | 'viewTableKeys'> {
  return {
    viewTableSize: (slot, place) => {
      const lengths = pageLengths((page) => raw.indexPage(slot, place, page))
      return { pages: lengths.length, bytes: lengths.reduce((sum, each) => sum + each, 0) }
    },
    viewTable: (slot, place) =>
      readEntries((page) => {
        const borrowed = raw.indexPage(slot, place, page)
        return borrowed && Buffer.from(borrowed)
      }),
    viewTableKeys: (slot, limit) => {
      const range = { start: slotKey(slot), end: slotKey(slot + 1), limit }
      const keys = viewIndex.getKeys({ ...range, transaction: reading() })
      return Array.from(keys, (key) => Buffer.from(key))
    },
  }
}

/** The pages of an index table; the cache keeps those of single blocks. */
function pagesOf(raw: RawReads, cache: RowCache, slot: number, place: TablePlace): ReadPage {
  if ('span' in place) return (page) => raw.indexPage(slot, place, page)
  const serial = raw.block(slot, place.height)?.serial
  return (page) => {
    if (serial === undefined) return undefined
    return cache.indexPage(serial, page, () => {
      const borrowed = raw.indexPage(slot, place, page)
      return borrowed && Buffer.from(borrowed)
    })
  }
}

interface RawReads {
  block(slot: number, height: number): ViewBlock | undefined
  /** A copy of a part of the packed rows. */
  copy(slot: number, height: number, start: number, length: number): Buffer
  /** Valid until the next read. */
  indexPage(slot: number, place: TablePlace, page: number): Buffer | undefined
}

function createRawReads(
  { viewBlocks, viewRows, viewIndex }: Environment['databases'],
  cache: RowCache,
  reading: () => ReadTransaction,
): RawReads {
  const key = viewBlockKey(0, 0)
  return {
    block: (slot, height) => {
      const transaction = reading()
      const shared = sharedValue(viewBlocks, viewBlockKey(slot, height, key), transaction)
      if (shared === undefined) return undefined
      const length = viewBlocks.lastSize
      return cache.block(serialOf(shared), () => decodeViewBlock(shared.subarray(0, length)))
    },
    copy: (slot, height, start, length) => {
      const readPiece = (piece: number): Buffer =>
        borrowValue(viewRows, viewPieceKey(slot, height, piece), reading())
      return copyPieces(readPiece, start, length)
    },
    indexPage: (slot, place, page) =>
      peekValue(viewIndex, viewTableKey(slot, place, page), reading()),
  }
}
