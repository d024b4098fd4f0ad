/** All intervals of signed heads, in one table. */

export interface HeadTiming {
  /** Shortest interval between two heads. Default 500. */
  readonly apartMs: number
  /** Interval between two heads while no block arrives. Default 15,000. */
  readonly everyMs: number
  /** How long a response of the node confirms a block. Default 15,000. */
  readonly confirmedForMs: number
  /** Poll interval for whether the node still has the block. Default 5,000. */
  readonly askNodeMs: number
  /** Poll interval to each peer for the newest head of ours that it has. Default 60,000. */
  readonly askPeersMs: number
  /** How many foreign heads, as `foreign-heads.ts` counts them, prove that the key runs twice. Default 3. */
  readonly foreignHeads: number
  /** The window in which they have to be found. Default 600,000. */
  readonly foreignHeadsWithinMs: number
  /**
   * Shortest interval between two that count; twice as long before one that is not above ours. Twice this is
   * more than `askPeersMs`, so that every peer was asked before the third. Default 45,000.
   */
  readonly foreignHeadsApartMs: number
}

/** The defaults. Hosts rely on `everyMs`: they count a signer for 45 seconds after its last head. */
export const defaultHeadTiming: HeadTiming = {
  apartMs: 500,
  everyMs: 15_000,
  confirmedForMs: 15_000,
  askNodeMs: 5_000,
  askPeersMs: 60_000,
  foreignHeads: 3,
  foreignHeadsWithinMs: 600_000,
  foreignHeadsApartMs: 45_000,
}
