/** What the writer makes of what peers send, as it is reported to the main thread. */
import type { SealPlace } from '../../primitives/vote-exchange.ts'
import type { FailureReport } from '../../service/contract.ts'
import type { ViewsDone } from '../../store/store.ts'
import type { Want } from '../fork-choice/wants.ts'
import type { Breach } from './verify.ts'

/** Documents taken in. */
export interface TakenIn {
  readonly blocks: number
  readonly transactions: number
  readonly logs: number
  readonly accessListEntries: number
  readonly seals: number
}

/** What became of a sealed block. */
export type Outcome =
  /** Documents that were not here: stored, or waiting until most signers stand on them. */
  | {
      readonly kind: 'block'
      readonly height: number
      readonly isStored: boolean
      /** Seals that came with them and were new. */
      readonly seals: number
    }
  /** Seals that were not here. */
  | { readonly kind: 'seals'; readonly height: number; readonly seals: number }
  | ({ readonly kind: 'breach' } & Breach)

/** Milliseconds spent on one message. */
export interface Timings {
  /** Decoding and checking, on the thread. */
  readonly verifyMs: number
  /** Until what followed from it was on the disk, waiting included. */
  readonly applyMs: number
}

/** What became of a message, and what it cost. */
export interface Received {
  readonly outcome: Outcome
  readonly timings: Timings
}

/** What became of a page of seals. */
export interface SealsTaken {
  /** How many were new. */
  readonly seals: number
  /** Whether further pages follow. */
  readonly isMore: boolean
  /** Where the page ended; null for an empty one. */
  readonly last: SealPlace | null
}

/** What became of a page of statements about rows. */
export interface StatementsTaken {
  /** How many were new and are kept. */
  readonly statements: number
  /** Height at which the next page begins; null where none follows. */
  readonly next: number | null
}

/** Blocks that were stored together. */
export interface Stored {
  /** The lowest and the highest of them. */
  readonly bottom: number
  readonly top: number
  /** Stored blocks that gave way to them. */
  readonly removed: number
  readonly taken: TakenIn
  readonly viewsDone: readonly ViewsDone[]
}

/** An accepted signer as fork choice sees it. */
export interface SignerState {
  readonly identity: string
  readonly head: {
    readonly number: number
    readonly hash: string
    readonly nodeHeight: number
  } | null
  /** When a newer head came last, in milliseconds since 1970; null before the first since the start. */
  readonly heardAt: number | null
  readonly isCounted: boolean
}

/** Where the Host stands among its signers. */
export interface FollowState {
  /** Hash of block 0; null before it is known. */
  readonly genesis: string | null
  readonly signers: readonly SignerState[]
  /** The height that most counted heads have reached; null where no signer counts. */
  readonly reached: number | null
  readonly wants: readonly Want[]
  /** What an operator should check, the worst first. */
  readonly failures: readonly FailureReport[]
  /** How long heads of signers have gone on while nothing was stored, in milliseconds; 0 where both go on or stand. */
  readonly standsStillMs: number
  /** The lowest height that is kept. */
  readonly floor: number
  /** Verified blocks that are not stored. */
  readonly waiting: { readonly blocks: number; readonly bytes: number }
}
