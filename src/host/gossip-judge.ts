/** Judges what arrives by gossip. Only what this Host has stored and can serve is passed on. */
import { ServiceError } from '../errors.ts'
import type { OnMessage, Verdict } from '../p2p/peers/verdict.ts'
import type { CompleteBranch } from './branch-pull.ts'
import { type Take, verdictOf } from './intake.ts'
import type { Outcome } from './outcome.ts'

export interface GossipJudgeParts {
  readonly take: Take
  readonly completeBranch: CompleteBranch
  /** Ends branches that are being pulled. */
  readonly signal: AbortSignal
  /** A peer has a valid block that is not stored yet: it can be pulled there. */
  readonly onAhead: (peer: string, height: number) => void
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

/** The function that p2p calls for each gossiped block. */
export function createGossipJudge(parts: GossipJudgeParts): OnMessage {
  return async (bytes, from) => {
    try {
      const outcome = await parts.completeBranch(await parts.take(bytes, from), from, parts.signal)
      if (isAhead(outcome)) parts.onAhead(from.peer, outcome.height)
      return verdictOf(outcome)
    } catch (error) {
      return ignoreFailure(error, parts)
    }
  }
}

function isAhead(
  outcome: Outcome,
): outcome is Extract<Outcome, { kind: 'detached' | 'announced' }> {
  return outcome.kind === 'detached' || outcome.kind === 'announced'
}

function ignoreFailure(error: unknown, { signal, onFatal }: GossipJudgeParts): Verdict {
  if (signal.aborted) return { action: 'ignore', reason: 'the Host is closing' }
  const isPeers = error instanceof ServiceError && error.code === 'P2P_PULL_FAILED'
  if (!isPeers) onFatal(error)
  return { action: 'ignore', reason: 'its branch could not be pulled' }
}
