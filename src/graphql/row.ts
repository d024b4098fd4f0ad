/**
 * A row: one document of a stored block, named by its place. Its values stay in the store's bytes
 * until somebody asks for one.
 */
import type { BlockView } from './block-view.ts'

/** A document by its place. Scans move one row along instead of making one for each document. */
export interface Row {
  readonly block: BlockView
  /** Place among its collection's documents of this block, in chain order. */
  position: number
  /** The stored values, once read; null again when they need not be kept. */
  bytes: Uint8Array | null
}

/** The row at a position of a block. */
export function rowAt(block: BlockView, position: number): Row {
  return { block, position, bytes: null }
}

/** Moves a scratch row to another position of its block. */
export function moveTo(row: Row, position: number): Row {
  row.position = position
  row.bytes = null
  return row
}

/** Chain order: by height, then by position. */
export function compareRows(a: Row, b: Row): number {
  return a.block.height - b.block.height || a.position - b.position
}
