/** Every time that has to do with signed heads, in one table. */

export interface HeadTiming {
  /** Between two heads at least. Default 500. */
  readonly apartMs: number
  /** Between two heads while no block comes. Default 15,000. */
  readonly everyMs: number
  /** For how long the node's answer confirms a block. Default 15,000. */
  readonly confirmedForMs: number
  /** Between two questions whether the node still has a block. Default 5,000. */
  readonly askNodeMs: number
  /** Between two questions to a peer for the newest head of ours that it has. Default 60,000. */
  readonly askPeersMs: number
  /** So many heads of another program, counted as `overtaking.ts` does, show that the key runs twice. Default 3. */
  readonly overtakings: number
  /** Within which they have to come. Default 600,000. */
  readonly overtakingsWithinMs: number
  /**
   * Between two that count, at least; twice as long before one that is not above ours. Twice that is more than
   * `askPeersMs`, so that every peer was asked before the third. Default 45,000.
   */
  readonly overtakingsApartMs: number
}

/** The times that hold where a program says nothing. Hosts rely on `everyMs`: they hear a signer out for 45 seconds. */
export const defaultHeadTiming: HeadTiming = {
  apartMs: 500,
  everyMs: 15_000,
  confirmedForMs: 15_000,
  askNodeMs: 5_000,
  askPeersMs: 60_000,
  overtakings: 3,
  overtakingsWithinMs: 600_000,
  overtakingsApartMs: 45_000,
}
