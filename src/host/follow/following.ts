/** What a follower has, and a step by which it gets more. */
import type { HostFrame } from '../../follow/host-frames.ts'
import type { Position } from './position.ts'
import type { VoteBook } from './vote-book.ts'

/** What a follower has. */
export interface Following {
  readonly positions: readonly Position[]
  readonly book: VoteBook
  /** Of the last snapshot. */
  epoch: number
}

/** A step of a follower. */
export interface Due {
  /** Makes the frame; null where none is sent. */
  readonly frame: (() => HostFrame) | null
  /** To be called once the frame is made. */
  readonly done: () => void
}
