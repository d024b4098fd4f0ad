/** What a program says about a message of a peer. */

/** What a program makes of a message; only accepted ones are forwarded. */
export type PeerVerdict =
  | {
      readonly action: 'accept'
      /** The block's height, which the sender thereby is known to have. */
      readonly height?: number
    }
  /** Not forwarded, and not the sender's fault. */
  | { readonly action: 'ignore'; readonly reason: string }
  /**
   * Not forwarded, and a fault of the sender: only for what every node must refuse, for an honest
   * sender has forwarded what it accepted itself.
   */
  | { readonly action: 'reject'; readonly reason: string }

/** Where a message came from. */
export interface BlockOrigin {
  readonly peer: string
  readonly via: 'gossip' | 'pull'
}

/** Checks one message; the bytes are a copy in a buffer of their own, free to be transferred. */
export type OnMessage = (bytes: Uint8Array, from: BlockOrigin) => Promise<PeerVerdict>
