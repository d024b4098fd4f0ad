/** The writes for rows of Views, as data. Nothing here touches the file. */
import { eachHeight, type HeightRanges } from '../../primitives/height-ranges.ts'
import { type FingerprintSeed, rowFingerprint } from '../disk/fingerprint.ts'
import { pieceBytes, pieceCount } from '../disk/layout.ts'
import { encodeViewBlock, viewBlockKey, viewPieceKey } from '../disk/view-layout.ts'
import { createEntryList, toPages } from '../index/index-table.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { ViewBlockToStore } from '../store.ts'
import type { Write } from './block-writes.ts'
import type { ViewSlots } from './view-slots.ts'

/** Stores the rows of a block, or its failure; nothing where there is no row. */
export function putViewBlockWrites(
  slot: number,
  block: ViewBlockToStore,
  serial: number,
  seed: FingerprintSeed,
): Write[] {
  const { height, blockHash } = block
  const [count, bytes] = 'rows' in block ? [block.rows.count, block.rows.bytes] : [0, block.failure]
  if (bytes.length === 0) return []
  const value = encodeViewBlock({ serial, blockHash, count, bytes: bytes.length })
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
  if (!('rows' in block) || block.rows.terms.length === 0) return []
  const { height, rows } = block
  const entries = createEntryList(height, rows.terms.length)
  for (const { field, value, chunk } of rows.terms) {
    entries.add(rowFingerprint(seed, field, value), 'Block', chunk)
  }
  return toPages(entries.sorted()).map((page, index) => ({
    database: 'viewIndex',
    key: viewPieceKey(slot, height, index),
    value: page,
  }))
}

/** Removes what a slot has of one block. */
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
  const pages = Array.from({ length: snapshot.viewIndexPages(slot, height) }, (_, page): Write => {
    return { database: 'viewIndex', key: viewPieceKey(slot, height, page), value: null }
  })
  return [
    { database: 'viewBlocks', key: viewBlockKey(slot, height), value: null },
    ...pieces,
    ...pages,
  ]
}

/** Removes what all slots have of these heights. */
export function forgetHeightsWrites(
  snapshot: HeldSnapshot,
  slots: ViewSlots,
  heights: HeightRanges,
): Write[] {
  const { writes, had } = slots.forget(heights)
  for (const there of had) {
    for (const height of eachHeight(there.heights)) {
      writes.push(...removeViewBlockWrites(snapshot, there.slot, height))
    }
  }
  return writes
}
