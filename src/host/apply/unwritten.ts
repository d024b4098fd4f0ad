/** Blocks that were handed to the store and are not on the disk yet, as if they were. */
import type { Seal } from '../../primitives/seal.ts'
import type { Link } from '../fork-choice/fork-choice.ts'

interface UnwrittenBlock extends Link {
  readonly seals: readonly Seal[]
}

export interface Unwritten {
  at(height: number): Link | undefined
  /** True when what the store shows at this height is about to be removed. */
  isRemoved(height: number): boolean
  seals(height: number): readonly Seal[]
  /** Highest unwritten height, -1 without any. */
  head(): number
  /**
   * Adds blocks, after everything above `above` is gone unless that is null. Returns the function
   * to call when they are written.
   */
  add(blocks: readonly UnwrittenBlock[], above: number | null): () => void
}

/** Nothing unwritten. */
export function createUnwritten(): Unwritten {
  const blocks = new Map<number, UnwrittenBlock>()
  const removals = new Set<{ readonly above: number }>()

  const removeAbove = (above: number): { readonly above: number } => {
    for (const height of [...blocks.keys()]) if (height > above) blocks.delete(height)
    const removal = { above }
    removals.add(removal)
    return removal
  }

  return {
    at: (height) => blocks.get(height),
    isRemoved: (height) => [...removals].some(({ above }) => height > above),
    seals: (height) => blocks.get(height)?.seals ?? [],
    head: () => Math.max(-1, ...blocks.keys()),
    add: (added, above) => {
      const removal = above === null ? null : removeAbove(above)
      for (const block of added) blocks.set(block.number, block)
      return () => {
        for (const block of added)
          if (blocks.get(block.number) === block) blocks.delete(block.number)
        if (removal !== null) removals.delete(removal)
      }
    },
  }
}
