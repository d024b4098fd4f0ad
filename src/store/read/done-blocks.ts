/**
 * What readers keep of blocks that Views are done with, by slot and height. It stays true until rows are put, or a block
 * gives way to another: rows that are only removed take their heights out of what is done.
 */
import type { StoreState } from '../disk/layout.ts'
import type { ViewBlock } from '../disk/view-layout.ts'

export interface DoneBlocks {
  /** What is known of a block that a slot is done with, or what `read` returns; undefined is not kept. */
  read(slot: number, height: number, read: () => ViewBlock | undefined): ViewBlock | undefined
}

export interface DoneBlocksCache {
  /** Those of the snapshots of a state, and of all in which they are as true; older snapshots do not share theirs. */
  asOf(state: Pick<StoreState, 'epoch' | 'rowSerial'>): DoneBlocks
}

/** An empty cache of at most `maxBlocks`. */
export function createDoneBlocksCache(maxBlocks: number): DoneBlocksCache {
  let newest = { changes: 0, blocks: createDoneBlocks(maxBlocks) }
  return {
    asOf: ({ epoch, rowSerial }) => {
      const changes = epoch + rowSerial
      if (changes < newest.changes) return createDoneBlocks(maxBlocks)
      if (changes > newest.changes) newest = { changes, blocks: createDoneBlocks(maxBlocks) }
      return newest.blocks
    },
  }
}

function createDoneBlocks(maxBlocks: number): DoneBlocks {
  const slots = new Map<number, Map<number, ViewBlock>>()
  let count = 0
  return {
    read: (slot, height, read) => {
      const known = slots.get(slot)?.get(height)
      if (known !== undefined) return known
      const block = read()
      if (block === undefined) return undefined
      if (count >= maxBlocks) {
        slots.clear()
        count = 0
      }
      const blocks = slots.get(slot) ?? new Map<number, ViewBlock>()
      slots.set(slot, blocks.set(height, block))
      count++
      return block
    },
  }
}
