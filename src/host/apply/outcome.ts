/** What the writer makes of a sealed block, as the main thread hears of it. */
import type { HeightRange } from '../height-ranges.ts'
import type { Breach } from './verify.ts'

/** Documents taken in with one message. */
export interface TakenIn {
  readonly blocks: number
  readonly transactions: number
  readonly logs: number
  readonly accessListEntries: number
  readonly seals: number
}

/** What became of a message. */
export type Outcome =
  /** Stored, with blocks that had waited for it; `removed` stored ones had to go. */
  | {
      readonly kind: 'stored'
      readonly height: number
      /** The lowest and the highest block that were stored with it. */
      readonly bottom: number
      readonly top: number
      readonly removed: number
      readonly taken: TakenIn
    }
  /** A known block has new valid seals. */
  | { readonly kind: 'votes'; readonly height: number; readonly seals: number }
  /** Valid seals of an unknown block without its documents: it has to be pulled. */
  | { readonly kind: 'announced'; readonly height: number }
  /** Kept aside: what is stored is as long or longer. */
  | { readonly kind: 'held'; readonly height: number }
  /** Kept aside until the blocks of this range are known. */
  | { readonly kind: 'incomplete'; readonly height: number; readonly missing: HeightRange }
  /** Nothing is stored beside it yet; kept aside unless it is far above. */
  | { readonly kind: 'detached'; readonly height: number }
  /** Its branch leaves what is stored more than 64 blocks below the end. */
  | { readonly kind: 'too-deep'; readonly height: number }
  | ({ readonly kind: 'breach' } & Breach)

/** Milliseconds spent on one message. */
export interface Work {
  /** Decoding, checking and finding the place, on the thread. */
  readonly verifyMs: number
  /** Until the disk had it, waiting included. */
  readonly applyMs: number
}

export interface Applier {
  /**
   * Resolves when what it says is on the disk. `mayFloat` stores a block though nothing beside it
   * is stored. Rejects when the store failed.
   */
  receive(bytes: Uint8Array, mayFloat: boolean): Promise<Received>
}

/** What became of a message, and what it cost. */
export interface Received {
  readonly outcome: Outcome
  readonly work: Work
}
