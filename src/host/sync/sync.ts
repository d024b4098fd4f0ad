/**
 * Catches up: asks connected peers for what is wanted, a piece at a time and a few at once, no faster than the
 * writer takes it, and goes on until nothing is wanted that somebody has. What is wanted is the writer's to
 * say; what to ask, of whom and when again is decided by `pull-plan.ts`.
 */
import type { Logger } from 'pino'
import type { P2p } from '../../p2p/p2p.ts'
import type { Want } from '../fork-choice/wants.ts'
import type { HostMetrics } from '../metrics.ts'
import { type PieceParts, type PulledPiece, pullPiece } from './pull-piece.ts'
import {
  afterPull,
  nextChangeMs,
  nextPull,
  type PeerBackoff,
  type PlanPeer,
  type Pull,
  type RecentPull,
  servedFrom,
  withoutBackoffsOf,
  withRecentPull,
} from './pull-plan.ts'

interface SyncOptions {
  /** How long a pull may go on without a block of use, in milliseconds. Default `uselessMs`. */
  readonly uselessMs?: number
}

interface SyncParts extends PieceParts {
  readonly log: Logger
  readonly metrics: Pick<HostMetrics, 'pulled'>
  readonly p2p: Pick<P2p, 'peers' | 'pull' | 'applyVerdict' | 'onPeer'>
  /** The identity of the Generator that a peer proved to be; null for others. */
  readonly signerOf: (peer: string) => string | null
  /** The number of the newest head of an accepted signer; null before the first. */
  readonly headOf: (identity: string) => number | null
  /** What is wanted now, asked of the writer. */
  readonly wants: () => Promise<readonly Want[]>
  /** Says the lowest height that trusted peers serve. */
  readonly onServedFrom: (height: number | null) => void
  /** Nothing is wanted any more that was pulled. */
  readonly onCaughtUp: () => void
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

interface Sync {
  /** What is wanted changed. */
  setWants(wants: readonly Want[]): void
  /** Ends the running pulls and waits for them. */
  close(): Promise<void>
}

/** How long a pull may go on without a block of use, in milliseconds: then another peer is asked. */
export const uselessMs = 30_000
/** How long one or two blocks at the end of the chain are waited for: as a rule gossip brings them. */
const graceMs = 250
const graceBlocks = 2

/** The state of a running catch-up. */
interface Syncing {
  readonly parts: SyncParts
  readonly uselessMs: number
  readonly closing: AbortController
  readonly running: Map<Pull, Promise<void>>
  wants: readonly Want[]
  /** When a want was seen first, by its hash. */
  seen: Map<string, number>
  backoffs: readonly PeerBackoff[]
  recentPulls: readonly RecentPull[]
  servedFrom: number | null
  timer: NodeJS.Timeout | undefined
}

/** Begins at once and runs until it is closed. */
export function openSync(options: SyncOptions, parts: SyncParts): Sync {
  const state: Syncing = {
    parts,
    uselessMs: options.uselessMs ?? uselessMs,
    closing: new AbortController(),
    running: new Map(),
    wants: [],
    seen: new Map(),
    backoffs: [],
    recentPulls: [],
    servedFrom: null,
    timer: undefined,
  }
  const stopListening = parts.p2p.onPeer(({ type, peer }) => {
    if (type !== 'announced') state.backoffs = withoutBackoffsOf(state.backoffs, peer)
    plan(state)
  })
  return {
    setWants: (wants) => {
      setWants(state, wants)
      plan(state)
    },
    close: async () => {
      stopListening()
      clearTimeout(state.timer)
      state.closing.abort(new Error('the Host is closing'))
      await Promise.all(state.running.values())
    },
  }
}

function setWants(state: Syncing, wants: readonly Want[]): void {
  const nowMs = performance.now()
  state.wants = wants
  state.seen = new Map(wants.map(({ hash }) => [hash, state.seen.get(hash) ?? nowMs]))
}

/** Starts what can be pulled now, and comes back when time allows for more. */
function plan(state: Syncing): void {
  if (state.closing.signal.aborted) return
  const nowMs = performance.now()
  const peers = planPeers(state.parts)
  reportServedFrom(state, peers)
  const wants = state.wants.filter((want) => dueMs(state, want) <= nowMs)
  for (;;) {
    const { backoffs, recentPulls } = state
    const running = [...state.running.keys()]
    const pull = nextPull({ wants, peers, backoffs, running, recentPulls, nowMs })
    if (pull === null) break
    start(state, pull)
  }
  const times = [
    nextChangeMs({ backoffs: state.backoffs, running: [...state.running.keys()], nowMs }),
    ...state.wants.map((want) => dueMs(state, want)).filter((ms) => ms > nowMs),
  ].filter((ms) => ms !== null)
  clearTimeout(state.timer)
  if (times.length > 0)
    state.timer = setTimeout(() => plan(state), Math.min(...times) - nowMs + 1).unref()
}

/** From when on a want is pulled. */
function dueMs(state: Syncing, { from, to, hash }: Want): number {
  const isShort = to - from < graceBlocks
  return (state.seen.get(hash) ?? 0) + (isShort ? graceMs : 0)
}

function planPeers({ p2p, signerOf, headOf }: SyncParts): PlanPeer[] {
  return p2p.peers().map(({ id, announced, bootstrap, verified }) => {
    const signer = signerOf(id)
    const signed = signer === null ? null : headOf(signer)
    return { id, announced: raisedTo(announced, signed), bootstrap, verified, signer }
  })
}

/**
 * What a Generator serves reaches up to its own head, whichever peer brought that: where a stranger was faster,
 * the Generator's own message is a duplicate, which is dropped silently.
 */
function raisedTo(announced: PlanPeer['announced'], signed: number | null): PlanPeer['announced'] {
  if (announced === null || signed === null) return announced
  return { tail: announced.tail, head: Math.max(announced.head, signed) }
}

function reportServedFrom(state: Syncing, peers: readonly PlanPeer[]): void {
  const height = servedFrom(peers, state.backoffs)
  if (height === state.servedFrom) return
  state.servedFrom = height
  state.parts.onServedFrom(height)
}

function start(state: Syncing, pull: Pull): void {
  state.recentPulls = withRecentPull(state.recentPulls, pull)
  const running = runPull(state, pull)
    .catch(state.parts.onFatal)
    .finally(() => {
      state.running.delete(pull)
      plan(state)
    })
  state.running.set(pull, running)
}

async function runPull(state: Syncing, pull: Pull): Promise<void> {
  const { parts, closing } = state
  const piece = await pullPiece(
    pull,
    { uselessMs: state.uselessMs, closing: closing.signal },
    parts,
  )
  if (closing.signal.aborted) return
  setWants(state, await parts.wants())
  state.backoffs = afterPull(state.backoffs, pull, piece.delivered, state.wants, performance.now())
  const result = resultOf(pull, piece)
  const { peer, from, to, want } = pull
  const facts = { peer, from, to, blocks: piece.delivered, result, err: piece.error ?? undefined }
  parts.log[result === 'whole' ? 'info' : 'debug'](facts, 'missing blocks pulled')
  parts.metrics.pulled(result)
  if (!state.wants.some(({ purpose }) => purpose === want.purpose)) parts.onCaughtUp()
}

function resultOf(pull: Pull, { delivered, error }: PulledPiece): 'whole' | 'partial' | 'failed' {
  if (error !== null) return 'failed'
  return delivered === pull.to - pull.from + 1 ? 'whole' : 'partial'
}
