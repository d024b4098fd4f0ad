/**
 * Where the rows of Views lie. Each View has a slot, a number that is never given to another one, so that what a
 * deletion has not reached yet is in nobody's way.
 *
 *   name        key                                  value
 *   viewSlots   slot (4)                             what is done (JSON, `ViewSlot`)
 *   viewBlocks  slot, height (6)                     of a block with rows or a failure, `encodeViewBlock`
 *   viewRows    slot, height, piece (2)              its rows as they were packed, or its failure, in pieces
 *   viewIndex   slot, height, page (2)               sorted index entries of its rows, `index-table.ts`
 *               slot, first height, page, 1          those of a span of 64 blocks, where they are merged
 *
 * A block that is done and has no row costs no key.
 */
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import { hashBytes, spanBlocks } from './layout.ts'

/** What a View has done of the stored blocks. */
export interface ViewSlot {
  /** Heights with all their rows, if any. */
  readonly done: HeightRanges
  /** Heights with a failure in the place of rows. */
  readonly failed: HeightRanges
  /** Those that are done and have their index entries, if any, in the table of their span. */
  readonly merged: HeightRanges
  /** Rows of all blocks. */
  readonly rows: number
  /** What they take, packed. */
  readonly bytes: number
  /** What their index takes. */
  readonly indexBytes: number
  /** Set where rows of low blocks went because all took more than `maxBytes`: none below `from` are kept. */
  readonly limited: { readonly from: number; readonly maxBytes: number } | null
  /** True while everything of the slot is being removed; nothing of it is visible. */
  readonly isClearing: boolean
}

export const emptySlot: ViewSlot = {
  done: [],
  failed: [],
  merged: [],
  rows: 0,
  bytes: 0,
  indexBytes: 0,
  limited: null,
  isClearing: false,
}

export function encodeSlot(slot: ViewSlot): Buffer {
  return Buffer.from(JSON.stringify(slot))
}

/** What `encodeSlot` wrote, in this version or in one that knew less of a slot. */
export function decodeSlot(bytes: Buffer): ViewSlot {
  return { ...emptySlot, ...JSON.parse(bytes.toString()) }
}

/** Lowest height of which a slot keeps rows; a reorganisation that leaves none of them begins again. */
export function lowestKept({ limited, done }: ViewSlot): number {
  return limited === null || done.length === 0 ? 0 : limited.from
}

export function slotKey(slot: number): Buffer {
  const key = Buffer.allocUnsafe(4)
  key.writeUInt32BE(slot, 0)
  return key
}

/** The slot in any key of these databases. */
export function slotOfKey(key: Buffer): number {
  return key.readUInt32BE(0)
}

/** A key of its own, or written into one that is used again. */
export function viewBlockKey(
  slot: number,
  height: number,
  key: Buffer = Buffer.allocUnsafe(10),
): Buffer {
  key.writeUInt32BE(slot, 0)
  key.writeUIntBE(height, 4, 6)
  return key
}

/** The height in any key of these databases but that of the slot. */
export function heightOfViewKey(key: Buffer): number {
  return key.readUIntBE(4, 6)
}

/** The key of a piece of rows. */
export function viewPieceKey(slot: number, height: number, piece: number): Buffer {
  const key = Buffer.allocUnsafe(12)
  key.writeUInt32BE(slot, 0)
  key.writeUIntBE(height, 4, 6)
  key.writeUInt16BE(piece, 10)
  return key
}

/** Whose rows an index table is about: those of one block, or of the blocks of a span. */
export type TablePlace = { readonly height: number } | { readonly span: number }

/** The key of a page of an index table. */
export function viewTableKey(slot: number, place: TablePlace, page: number): Buffer {
  if ('height' in place) return viewPieceKey(slot, place.height, page)
  return Buffer.concat([viewPieceKey(slot, place.span * spanBlocks, page), Buffer.from([1])])
}

/** What is known of a View's block without reading its rows. */
export interface ViewBlock {
  readonly serial: number
  /** 0x-prefixed lower-case hex. */
  readonly blockHash: string
  /** Number of rows; 0 for a failure. */
  readonly count: number
  /** Bytes of the packed rows, or of the failure. */
  readonly bytes: number
  /** Root over the rows: hex without 0x; null for a failure, and where an older program stored the rows. */
  readonly root: string | null
}

const rootAt = 14 + 32

/** serial (6), count (4), bytes (4), block hash (32), root (32, or nothing), which older programs leave alone. */
export function encodeViewBlock({ serial, count, bytes, blockHash, root }: ViewBlock): Buffer {
  const out = Buffer.allocUnsafe(rootAt + (root === null ? 0 : 32))
  let at = out.writeUIntBE(serial, 0, 6)
  at = out.writeUInt32BE(count, at)
  at = out.writeUInt32BE(bytes, at)
  hashBytes(blockHash).copy(out, at)
  if (root !== null) out.write(root, rootAt, 'hex')
  return out
}

/** The serial number in what `encodeViewBlock` wrote: other bytes have another one. */
export function serialOf(bytes: Buffer): number {
  return bytes.readUIntBE(0, 6)
}

/** What `encodeViewBlock` wrote. */
export function decodeViewBlock(bytes: Buffer): ViewBlock {
  return {
    serial: serialOf(bytes),
    count: bytes.readUInt32BE(6),
    bytes: bytes.readUInt32BE(10),
    blockHash: `0x${bytes.toString('hex', 14, rootAt)}`,
    root: bytes.length > rootAt ? bytes.toString('hex', rootAt) : null,
  }
}
