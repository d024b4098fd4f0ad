/**
 * The one score table for gossip and pulls. A peer starts at 0; faults subtract, honest blocks and
 * the passing of time restore slowly, and nothing lifts it above 0, so good behaviour cannot be
 * saved up for later abuse. gossipsub's own scores are switched off.
 */
import { remember } from '../../remember.ts'
import { type Fault, faultWeights } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'

/** Where a peer stands after a fault. */
interface PeerScore {
  readonly score: number
  /** True when this very fault led to the ban. */
  readonly banned: boolean
}

interface ScoreTable {
  /** Between the ban threshold and 0; peers never heard of have 0. */
  score(peer: string): number
  fault(peer: string, fault: Fault): PeerScore
  /** Credits one verified block. */
  honest(peer: string): void
  isBanned(peer: string): boolean
  bans(): number
}

/** One point comes back a minute. */
const recoveryMs = 60_000

interface Entry {
  score: number
  updatedAt: number
}

/** Keeps at most `maxRemembered` scores and bans, dropping the least recently touched. `now` is a clock in ms. */
export function createScoreTable(
  limits: Pick<P2pLimits, 'banScore' | 'banMs' | 'maxRemembered'>,
  now: () => number = () => performance.now(),
): ScoreTable {
  const entries = new Map<string, Entry>()
  const bans = new Map<string, number>()

  const score = (peer: string): number => {
    const entry = entries.get(peer)
    if (entry === undefined) return 0
    return Math.min(0, entry.score + Math.floor((now() - entry.updatedAt) / recoveryMs))
  }

  const set = (peer: string, value: number): void => {
    if (value >= 0) entries.delete(peer)
    else remember(entries, peer, { score: value, updatedAt: now() }, limits.maxRemembered)
  }

  const isBanned = (peer: string): boolean => {
    const until = bans.get(peer)
    return until !== undefined && until > now()
  }

  const fault = (peer: string, kind: Fault): PeerScore => {
    const value = score(peer) - faultWeights[kind]
    if (value > limits.banScore || isBanned(peer)) {
      set(peer, Math.max(value, limits.banScore))
      return { score: value, banned: false }
    }
    remember(bans, peer, now() + limits.banMs, limits.maxRemembered)
    // After a ban a peer is half way to the next one.
    set(peer, Math.trunc(limits.banScore / 2))
    return { score: value, banned: true }
  }

  return {
    score,
    fault,
    honest: (peer) => set(peer, score(peer) + 1),
    isBanned,
    bans: () => [...bans.keys()].filter(isBanned).length,
  }
}
