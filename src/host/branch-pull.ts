/**
 * Completes a branch of which only the end is known: pulls the blocks below it from the peer that
 * sent it, one, two, four, ... at a time, until the writer finds the common parent or gives up.
 */

import type { P2p } from '../p2p/p2p.ts'
import type { BlockOrigin } from '../p2p/peers/verdict.ts'
import type { HeightRange } from './height-ranges.ts'
import type { Take } from './intake.ts'
import type { Outcome } from './outcome.ts'

export interface BranchPullParts {
  readonly pull: P2p['pull']
  readonly take: Take
}

/** Follows an outcome to its end; one that is not `incomplete` is returned as it is. */
export type CompleteBranch = (
  outcome: Outcome,
  from: BlockOrigin,
  signal: AbortSignal,
) => Promise<Outcome>

/** One branch a peer at a time: further ends of the same branch wait for the first. */
export function createBranchPull(parts: BranchPullParts): CompleteBranch {
  const running = new Map<string, Promise<Outcome>>()

  return async (outcome, { peer }, signal) => {
    if (outcome.kind !== 'incomplete') return outcome
    const other = running.get(peer)
    if (other !== undefined) return resolveWith(outcome, await other)
    const run = pullBranch(peer, outcome, signal, parts)
    running.set(peer, run)
    try {
      return await run
    } finally {
      running.delete(peer)
    }
  }
}

type Incomplete = Extract<Outcome, { kind: 'incomplete' }>

/** A branch that was stored took held blocks above it along. */
function resolveWith(outcome: Incomplete, other: Outcome): Outcome {
  if (other.kind !== 'stored' || other.top >= outcome.height) return other
  return { kind: 'held', height: outcome.height }
}

async function pullBranch(
  peer: string,
  outcome: Incomplete,
  signal: AbortSignal,
  parts: BranchPullParts,
): Promise<Outcome> {
  let missing: HeightRange = outcome.missing
  for (let size = 1; missing.from <= missing.to; size *= 2) {
    const from = Math.max(missing.from, missing.to - size + 1)
    const end = await pullPiece(peer, { from, to: missing.to }, outcome.height, signal, parts)
    if (end === null) return outcome
    if (end.kind !== 'incomplete') return end
    if (end.missing.to >= missing.to) return outcome
    missing = { from: missing.from, to: end.missing.to }
  }
  return outcome
}

/**
 * Takes in a piece and answers what became of its highest block, the parent that was missing. Null
 * when the peer does not have that parent.
 */
async function pullPiece(
  peer: string,
  { from, to }: HeightRange,
  height: number,
  signal: AbortSignal,
  parts: BranchPullParts,
): Promise<Outcome | null> {
  let last: Outcome | null = null
  for await (const bytes of parts.pull(peer, from, to, signal)) {
    last = await parts.take(bytes, { peer, via: 'pull' })
    if (last.kind === 'stored' && last.top >= height) return last
    if (last.kind === 'breach' && last.action === 'reject') return last
  }
  const isParent = last?.height === to && !isKnown(last)
  return isParent ? last : null
}

/** What is known already cannot be the parent that is missing. */
function isKnown(outcome: Outcome): boolean {
  return outcome.kind === 'breach' && outcome.rule === 'something-new'
}
