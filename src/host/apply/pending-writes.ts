/** Blocks that were handed to the store and are not on the disk yet, as if they were. */
import type { WaitingBlock } from './waiting-blocks.ts'

/** Heights that a write removes, both ends included. */
export interface Removal {
  readonly from: number
  readonly to: number
}

export interface PendingWrites {
  at(height: number): WaitingBlock | undefined
  /** True when what the store shows at this height is about to be removed. */
  isRemoved(height: number): boolean
  /** Highest pending height, -1 without any. */
  head(): number
  /** Lowest height that changes, infinity without any. */
  floor(): number
  /**
   * Adds blocks, after those of `removal` are gone unless it is null. Returns the function to call when
   * they are written.
   */
  add(blocks: readonly WaitingBlock[], removal: Removal | null): () => void
}

/** Nothing pending. */
export function createPendingWrites(): PendingWrites {
  const blocks = new Map<number, WaitingBlock>()
  const removals = new Set<Removal>()

  const remove = ({ from, to }: Removal): void => {
    for (const height of [...blocks.keys()])
      if (height >= from && height <= to) blocks.delete(height)
  }

  return {
    at: (height) => blocks.get(height),
    isRemoved: (height) => [...removals].some(({ from, to }) => height >= from && height <= to),
    head: () => Math.max(-1, ...blocks.keys()),
    floor: () => Math.min(...blocks.keys(), ...[...removals].map(({ from }) => from)),
    add: (added, removal) => {
      if (removal !== null) {
        remove(removal)
        removals.add(removal)
      }
      for (const block of added) blocks.set(block.number, block)
      return () => {
        for (const block of added)
          if (blocks.get(block.number) === block) blocks.delete(block.number)
        if (removal !== null) removals.delete(removal)
      }
    },
  }
}
