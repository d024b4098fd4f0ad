/**
 * A row: one document of a stored block, named by its place. Its values stay in the store's bytes
 * until one is read.
 */
import type { Chunk } from '../../primitives/body/chunk.ts'
import type { BlockView } from './block-view.ts'

/** A document by its place. Scans move one row along instead of making one for each document. */
export interface Row {
  readonly block: BlockView
  /** Place among its collection's documents of this block, in chain order. */
  position: number
  /** The chunk it was read from last; null when it need not be kept. */
  chunk: Chunk | null
}

/** The row at a position of a block. */
export function rowAt(block: BlockView, position: number): Row {
  return { block, position, chunk: null }
}

/** Moves a scratch row to another position of its block; it stays in its chunk if that has both. */
export function moveTo(row: Row, position: number): Row {
  row.position = position
  return row
}

/** Releases what was read of a row, so that it does not keep the memory of a whole chunk. */
export function forget(row: Row): void {
  row.chunk = null
}

/** Chain order: by height, then by position. */
export function compareRows(a: Row, b: Row): number {
  return a.block.height - b.block.height || a.position - b.position
}
