/**
 * When a Generator signs its head: after every block it sealed, and periodically while none arrives, but
 * only while its node has confirmed the block recently. Without its node it is silent.
 */
import type { HeadTiming } from './timing.ts'

/** A block as a head names it. */
export interface BlockPlace {
  readonly number: number
  readonly hash: string
}

/** What the next step depends on; times are in milliseconds of a monotonic clock. */
export interface HeadState {
  /** Hash of block 0; null before it is known. */
  readonly genesisHash: string | null
  /** The newest block that is stored and sealed here; null without one. */
  readonly tip: BlockPlace | null
  /** When the node last returned that block; null where it has not, or contradicted itself since. */
  readonly confirmedMs: number | null
  /** When the node was last asked for it; null where it was not. */
  readonly askedMs: number | null
  /** When a head was last signed; null before the first. */
  readonly signedMs: number | null
  /** Whether the next head is more than a keep-alive. */
  readonly isNews: boolean
}

/** The next step of the head signer. */
export type HeadStep =
  /** Nothing to do until something changes. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'wait'; readonly ms: number }
  /** Ask the node whether it still has the block. */
  | { readonly kind: 'ask'; readonly tip: BlockPlace }
  | { readonly kind: 'sign'; readonly tip: BlockPlace; readonly genesisHash: string }

/** The state of a Generator that starts. */
export const startingHeadState: HeadState = {
  genesisHash: null,
  tip: null,
  confirmedMs: null,
  askedMs: null,
  signedMs: null,
  isNews: true,
}

/** The next step at this moment. */
export function nextHeadStep(state: HeadState, timing: HeadTiming, nowMs: number): HeadStep {
  const { genesisHash, tip, confirmedMs, askedMs, signedMs, isNews } = state
  if (genesisHash === null || tip === null) return { kind: 'rest' }
  const waitMs = leftOf(signedMs, isNews ? timing.apartMs : timing.everyMs, nowMs)
  if (waitMs > 0) return { kind: 'wait', ms: waitMs }
  if (confirmedMs !== null && nowMs - confirmedMs < timing.confirmedForMs)
    return { kind: 'sign', tip, genesisHash }
  const quietMs = leftOf(askedMs, timing.askNodeMs, nowMs)
  return quietMs > 0 ? { kind: 'wait', ms: quietMs } : { kind: 'ask', tip }
}

/** The rest of an interval that began at `sinceMs`; 0 where it never began. */
function leftOf(sinceMs: number | null, ms: number, nowMs: number): number {
  return sinceMs === null ? 0 : sinceMs + ms - nowMs
}
