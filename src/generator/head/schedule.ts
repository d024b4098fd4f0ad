/**
 * When a Generator signs its head: after every block it sealed, and from time to time while none comes,
 * but only while its node confirmed the block a moment ago. Without its node it is silent.
 */
import type { HeadTiming } from './timing.ts'

/** A block as a head names it. */
export interface BlockPlace {
  readonly number: number
  readonly hash: string
}

/** What the next step depends on; times are in milliseconds of a clock that never jumps. */
export interface HeadState {
  /** Hash of block 0; null before it is known. */
  readonly genesisHash: string | null
  /** The newest block that is stored and sealed here; null without one. */
  readonly tip: BlockPlace | null
  /** When the node answered that block last; null where it has not, or contradicted itself since. */
  readonly confirmedMs: number | null
  /** When the node was asked for it last; null where it was not. */
  readonly askedMs: number | null
  /** When a head was signed last; null before the first. */
  readonly signedMs: number | null
  /** Whether the next head says more than that the Generator is still there. */
  readonly isNews: boolean
}

/** What is to be done about the head. */
export type HeadStep =
  /** Nothing, until something changes. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'wait'; readonly ms: number }
  /** The node is to be asked whether it still has the block. */
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

/** What is left of a time since a moment; nothing where there was none. */
function leftOf(sinceMs: number | null, ms: number, nowMs: number): number {
  return sinceMs === null ? 0 : sinceMs + ms - nowMs
}
