/**
 * Detects that a Generator's key is used by two programs: another program that has it keeps signing heads
 * that this one did not. Our own old heads, which anybody may replay in any order, are above ours only
 * where the store was lost or the clock set back, and were signed when the node was no higher than at our
 * start: they never count. Where the node was set back too, they count only until a peer shows the newest
 * of them, and every peer is asked before three have counted. A head that is not above ours, as where all
 * peers receive only the other program's, counts only where its node is higher than ours was when the last
 * one counted, so that nobody can replay recorded ones; and at longer intervals, so that of two programs
 * the one below stops.
 */
import type { HeadTiming } from './timing.ts'

/** The foreign heads counted so far. */
export interface ForeignHeads {
  /** Height of the node at the start; null before it is known. */
  readonly startHeight: number | null
  /** Height of the node when the last one counted; null before the first. */
  readonly countedHeight: number | null
  /** When each counted, in ascending order. */
  readonly timesMs: readonly number[]
}

/** A head with our signature that this program did not sign. */
interface ForeignHead {
  /** Height of its signer's node. */
  readonly nodeHeight: number
  /** Whether its sequence is above those of all heads this program signed. */
  readonly isAbove: boolean
}

/** None counted yet. */
export const noForeignHeads: ForeignHeads = { startHeight: null, countedHeight: null, timesMs: [] }

/** Records the node's height at the start; later calls change nothing. */
export function startAt(before: ForeignHeads, nodeHeight: number): ForeignHeads {
  return before.startHeight === null ? { ...before, startHeight: nodeHeight } : before
}

/** Counts a foreign head that was found while our node was at `ownHeight`, where it may count. */
export function countForeignHead(
  before: ForeignHeads,
  { nodeHeight, isAbove }: ForeignHead,
  ownHeight: number,
  timing: HeadTiming,
  nowMs: number,
): ForeignHeads {
  const { startHeight, countedHeight, timesMs } = before
  if (startHeight === null) return before
  const isOld = nodeHeight <= (isAbove ? startHeight : (countedHeight ?? startHeight))
  const apartMs = timing.foreignHeadsApartMs * (isAbove ? 1 : 2)
  if (isOld || nowMs - (timesMs.at(-1) ?? Number.NEGATIVE_INFINITY) < apartMs) return before
  const recent = timesMs.filter((timeMs) => nowMs - timeMs < timing.foreignHeadsWithinMs)
  return { startHeight, countedHeight: ownHeight, timesMs: [...recent, nowMs] }
}

/** Whether enough have counted to prove that the key runs twice. */
export function keyRunsTwice({ timesMs }: ForeignHeads, timing: HeadTiming): boolean {
  return timesMs.length >= timing.foreignHeads
}
