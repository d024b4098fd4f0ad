/**
 * Whether a Generator's key runs twice. Another program that has it signs heads above ours, again and
 * again. Our own old heads, which anybody may show us in any order, are above ours only where the store
 * was lost or the clock set back, and were signed when the node was no higher than at our start: they
 * never count. Where the node was set back too, they count only until a peer shows the newest of them,
 * and every peer is asked before three have counted.
 */
import type { HeadTiming } from './timing.ts'

/** What is known so far. */
export interface Overtakings {
  /** Height that the node had at the start; null before it told. */
  readonly startHeight: number | null
  /** When ours was overtaken by a head that was signed later, in ascending order. */
  readonly timesMs: readonly number[]
}

/** Nothing is known. */
export const noOvertakings: Overtakings = { startHeight: null, timesMs: [] }

/** The node told its height; only the first time matters. */
export function startAt(before: Overtakings, nodeHeight: number): Overtakings {
  return before.startHeight === null ? { ...before, startHeight: nodeHeight } : before
}

/** A head of ours was found above the one we signed last; its signer's node was at `nodeHeight`. */
export function countOvertaking(
  before: Overtakings,
  nodeHeight: number,
  timing: HeadTiming,
  nowMs: number,
): Overtakings {
  const { startHeight, timesMs } = before
  if (startHeight === null || nodeHeight <= startHeight) return before
  if (nowMs - (timesMs.at(-1) ?? Number.NEGATIVE_INFINITY) < timing.overtakingsApartMs)
    return before
  const recent = timesMs.filter((timeMs) => nowMs - timeMs < timing.overtakingsWithinMs)
  return { startHeight, timesMs: [...recent, nowMs] }
}

/** Whether ours was overtaken often enough. */
export function keyRunsTwice({ timesMs }: Overtakings, timing: HeadTiming): boolean {
  return timesMs.length >= timing.overtakings
}
