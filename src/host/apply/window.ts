/** Which heights are of use: those that are kept, and those within reach of what signers have reached. */

/** Blocks that wait beside the chain for their ancestry to be known, at most; a chain that lies deeper begins there. */
export const maxWindow = 1_024
/** How far above what signers have reached a block is still of use. */
export const maxAhead = 64

interface WindowFacts {
  /** Newest heights that are kept; null keeps all. */
  readonly retainBlocks: number | null
  /** The highest stored height; -1 without any. */
  readonly head: number
  /** The height that most signers have reached, see `Choice`; null where none is known. */
  readonly horizon: number | null
  /** The highest head of any accepted signer; -1 without any. */
  readonly highest: number
}

export interface Window {
  /** The lowest height that is kept. */
  readonly floor: number
  /** The lowest height at which a chain is followed down to; what lies below is a gap to be filled. */
  readonly windowFloor: number
  /** The highest height that is of use. */
  readonly ceiling: number
}

export function windowOf({ retainBlocks, head, horizon, highest }: WindowFacts): Window {
  const top = Math.max(head, horizon ?? -1)
  const lowest = (blocks: number): number => Math.max(0, top - blocks + 1)
  const floor = retainBlocks === null ? 0 : lowest(retainBlocks)
  return {
    floor,
    windowFloor: Math.max(floor, lowest(maxWindow)),
    ceiling: Math.max(top, highest, 0) + maxAhead,
  }
}
