/** What one stream of the protocol `views/1` may ask for and carry. */

interface FollowLimits {
  /** Views of one stream. */
  readonly views: number
  /** Blocks that a cursor names. */
  readonly cursorBlocks: number
  /** Longest frame, in bytes, without its length in front. */
  readonly frameBytes: number
  /** Longest frame of the application. */
  readonly requestBytes: number
  /** Bytes that may be under way before more credit arrives. */
  readonly windowBytes: number
  /** Statements of one `votes` frame. */
  readonly votes: number
  /** Seals of one `seals` frame, as many as a block may have in gossip. */
  readonly seals: number
  /** Rows of a block in one `rows` frame. */
  readonly partBytes: number
}

/** Both sides keep them. */
export const followLimits: FollowLimits = {
  views: 64,
  cursorBlocks: 64,
  frameBytes: 1024 * 1024,
  requestBytes: 256 * 1024,
  windowBytes: 16 * 1024 * 1024,
  votes: 64,
  seals: 64,
  partBytes: 1024 * 1024 - 1024,
}
