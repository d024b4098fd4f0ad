/**
 * Whether a Generator's key runs twice. Another program that has it signs heads that we did not, again and
 * again. Our own old heads, which anybody may show us in any order, are above ours only where the store
 * was lost or the clock set back, and were signed when the node was no higher than at our start: they
 * never count. Where the node was set back too, they count only until a peer shows the newest of them,
 * and every peer is asked before three have counted. A head that is not above ours, as where all peers hear
 * the other program alone, counts only where its node is higher than ours was when the last one counted, so that
 * nobody can show us kept ones; and at longer intervals, so that of two programs the one below stops.
 */
import type { HeadTiming } from './timing.ts'

/** What is known so far. */
export interface Overtakings {
  /** Height that the node had at the start; null before it told. */
  readonly startHeight: number | null
  /** Height that it had when the last one counted; null before one did. */
  readonly countedHeight: number | null
  /** When a head that another program signed counted, in ascending order. */
  readonly timesMs: readonly number[]
}

/** A head with our signature that this program did not sign. */
export interface ForeignHead {
  /** Height of its signer's node. */
  readonly nodeHeight: number
  /** Whether its sequence is above that of every head we signed. */
  readonly isAbove: boolean
}

/** Nothing is known. */
export const noOvertakings: Overtakings = { startHeight: null, countedHeight: null, timesMs: [] }

/** The node told its height; only the first time matters. */
export function startAt(before: Overtakings, nodeHeight: number): Overtakings {
  return before.startHeight === null ? { ...before, startHeight: nodeHeight } : before
}

/** Such a head was found while our node was at `ownHeight`. */
export function countOvertaking(
  before: Overtakings,
  { nodeHeight, isAbove }: ForeignHead,
  ownHeight: number,
  timing: HeadTiming,
  nowMs: number,
): Overtakings {
  const { startHeight, countedHeight, timesMs } = before
  if (startHeight === null) return before
  const isOld = nodeHeight <= (isAbove ? startHeight : (countedHeight ?? startHeight))
  const apartMs = timing.overtakingsApartMs * (isAbove ? 1 : 2)
  if (isOld || nowMs - (timesMs.at(-1) ?? Number.NEGATIVE_INFINITY) < apartMs) return before
  const recent = timesMs.filter((timeMs) => nowMs - timeMs < timing.overtakingsWithinMs)
  return { startHeight, countedHeight: ownHeight, timesMs: [...recent, nowMs] }
}

/** Whether they came often enough. */
export function keyRunsTwice({ timesMs }: Overtakings, timing: HeadTiming): boolean {
  return timesMs.length >= timing.overtakings
}
