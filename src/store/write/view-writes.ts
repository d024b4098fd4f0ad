/** The writes for rows of Views, as data. Nothing here touches the file. */
import {
  addHeights,
  eachHeight,
  type HeightRanges,
  hasHeight,
  removeHeights,
} from '../../primitives/height-ranges.ts'
import { type FingerprintSeed, rowFingerprint } from '../disk/fingerprint.ts'
import { pieceBytes, pieceCount } from '../disk/layout.ts'
import { encodeViewBlock, viewBlockKey, viewPieceKey } from '../disk/view-layout.ts'
import { createEntryList } from '../index/index-table.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { ViewBlockToStore } from '../store.ts'
import type { Write } from './block-writes.ts'
import type { SlotChange, ViewSlots } from './view-slots.ts'
import { forgetMerged, removeViewTable, viewTableWrites } from './view-spans.ts'

/** Puts the rows of a block, or its failure, in the place of what the slot had there. */
export function putViewBlock(
  snapshot: HeldSnapshot,
  before: SlotChange,
  block: ViewBlockToStore,
  { serial, seed }: { readonly serial: number; readonly seed: FingerprintSeed },
): SlotChange {
  const { slot, has, writes } = removeViewBlock(snapshot, before, block.height)
  const { height } = block
  const put = putViewBlockWrites(slot, block, serial, seed)
  if (!('rows' in block)) {
    return {
      slot,
      has: { ...has, failed: addHeights(has.failed, height) },
      writes: [...writes, ...put],
    }
  }
  const { count, bytes } = block.rows
  const done = addHeights(has.done, height)
  const size = {
    rows: has.rows + count,
    bytes: has.bytes + bytes.length,
    indexBytes: has.indexBytes + indexBytesOf(put),
  }
  return { slot, has: { ...has, ...size, done }, writes: [...writes, ...put] }
}

/** What the index takes among the writes that put a block. */
export function indexBytesOf(writes: readonly Write[]): number {
  return writes.reduce(
    (sum, { database, value }) => sum + (database === 'viewIndex' ? (value?.length ?? 0) : 0),
    0,
  )
}

function putViewBlockWrites(
  slot: number,
  block: ViewBlockToStore,
  serial: number,
  seed: FingerprintSeed,
): Write[] {
  const { height, blockHash } = block
  const { count, bytes, root } =
    'rows' in block ? block.rows : { count: 0, bytes: block.failure, root: null }
  if (bytes.length === 0) return []
  const value = encodeViewBlock({ serial, blockHash, count, bytes: bytes.length, root })
  return [
    { database: 'viewBlocks', key: viewBlockKey(slot, height), value },
    ...Array.from({ length: pieceCount(bytes.length) }, (_, piece): Write => {
      const part = bytes.subarray(piece * pieceBytes, (piece + 1) * pieceBytes)
      return { database: 'viewRows', key: viewPieceKey(slot, height, piece), value: part }
    }),
    ...indexWrites(slot, block, seed),
  ]
}

function indexWrites(slot: number, block: ViewBlockToStore, seed: FingerprintSeed): Write[] {
  if (!('rows' in block)) return []
  const { height, rows } = block
  const entries = createEntryList(height, rows.terms.length)
  for (const { field, value, chunk } of rows.terms) {
    entries.add(rowFingerprint(seed, field, value), 'Block', chunk)
  }
  return viewTableWrites(slot, { height }, entries.sorted())
}

/** Removes what a slot has of one block. */
function removeViewBlock(
  snapshot: HeldSnapshot,
  { slot, has, writes }: SlotChange,
  height: number,
): SlotChange {
  const isDone = hasHeight(has.done, height)
  if (!isDone && !hasHeight(has.failed, height)) return { slot, has, writes }
  const block = snapshot.viewBlock(slot, height)
  const { count = 0, bytes = 0 } = block ?? {}
  const index = snapshot.viewTableSize(slot, { height })
  const forgotten = forgetMerged(snapshot, slot, has.merged, [height, height])
  return {
    slot,
    has: {
      ...has,
      done: removeHeights(has.done, height),
      failed: removeHeights(has.failed, height),
      merged: forgotten.merged,
      rows: has.rows - count,
      bytes: has.bytes - (isDone ? bytes : 0),
      indexBytes: Math.max(0, has.indexBytes - index.bytes - forgotten.bytes),
    },
    writes: [...writes, ...removeViewBlockWrites(snapshot, slot, height), ...forgotten.writes],
  }
}

/** Removes the keys of a slot's block, whatever the slot is said to have done; the table of its span stays. */
export function removeViewBlockWrites(
  snapshot: HeldSnapshot,
  slot: number,
  height: number,
): Write[] {
  const block = snapshot.viewBlock(slot, height)
  if (block === undefined) return []
  const pieces = Array.from({ length: pieceCount(block.bytes) }, (_, piece): Write => {
    return { database: 'viewRows', key: viewPieceKey(slot, height, piece), value: null }
  })
  return [
    { database: 'viewBlocks', key: viewBlockKey(slot, height), value: null },
    ...pieces,
    ...removeViewTable(snapshot, slot, { height }).writes,
  ]
}

/** Removes what a slot has at these heights, and says what is left of it. */
export function forgetHeights(
  snapshot: HeldSnapshot,
  slots: ViewSlots,
  slot: number,
  heights: HeightRanges,
): Write[] {
  let change: SlotChange = { slot, has: slots.of(slot), writes: [] }
  for (const height of eachHeight(heights)) change = removeViewBlock(snapshot, change, height)
  return [...change.writes, slots.set(slot, change.has)]
}
