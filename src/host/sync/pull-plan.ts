/**
 * Decides which want to pull next and from whom: a pure function of the wants, the connected peers, what runs and
 * what lately went wrong. A peer that could not deliver is backed off from about it, longer each time, and
 * one that delivers nothing at all altogether. No peer keeps a better one from being asked: configured
 * peers have slots of their own, and a pull keeps only peers of the same or a worse kind from what it is for.
 */
import { type Backoff, backoffMs } from '../../primitives/backoff.ts'
import { pieceBlocks, purposes, type Want } from '../fork-choice/wants.ts'

export interface PlanPeer {
  readonly id: string
  /** What the peer says it can serve. Unproven: it only steers what is asked of this peer. */
  readonly announced: { readonly tail: number; readonly head: number } | null
  /** The identity of the Generator that it proved to be; null for others. */
  readonly signer: string | null
  /** Configured by the operator. */
  readonly bootstrap: boolean
  /** A block of it was accepted before. */
  readonly verified: boolean
}

/** What a peer is to a want, the best first. */
const kinds = { signer: 0, configured: 1, delivered: 2, stranger: 3 } as const
type PeerKind = (typeof kinds)[keyof typeof kinds]

/** Which slots a pull takes: those of the signer itself and of configured peers, or those of all others. */
type Lane = 'configured' | 'others'

/** Heights to pull from a peer now, both ends included. */
export interface Pull {
  readonly peer: string
  /** What the peer was to the want when the pull began. */
  readonly kind: PeerKind
  readonly begunMs: number
  readonly from: number
  readonly to: number
  readonly want: Want
}

/** What did not work: of a peer, about one purpose, or null about anything. */
export interface PeerBackoff {
  readonly peer: string
  readonly purpose: string | null
  /** Hash of the want with which it failed last; null where that was about anything. */
  readonly hash: string | null
  readonly tries: number
  readonly untilMs: number
}

/** That something was pulled for a purpose. */
export interface RecentPull {
  readonly purpose: string
  /** Pulls of the one lane do not count for the other. */
  readonly lane: Lane
}

export interface PlanFacts {
  /** The most urgent first. */
  readonly wants: readonly Want[]
  readonly peers: readonly PlanPeer[]
  readonly backoffs: readonly PeerBackoff[]
  readonly running: readonly Pull[]
  /** Pulls of each purpose and lane; the one longest ago comes first. */
  readonly recentPulls: readonly RecentPull[]
  readonly nowMs: number
}

/** Pulls at a time, each of another peer. */
export const laneSlots: Readonly<Record<Lane, number>> = { configured: 2, others: 2 }
/** A pull that takes longer keeps no other peer from anything: a signer that is slow on purpose is asked as well. */
export const slowPullMs = 60_000
/** Recent pulls that are remembered; a purpose whose pull is forgotten comes first in any case. */
const maxRecentPulls = 1_024
/** How long a peer is left alone after a failure; each further one of its kind doubles it. */
export const pullBackoff: Backoff = { minMs: 500, maxMs: 60_000 }
/** Failures after which what a peer announces is not believed, until it delivers. */
const doubtedTries = 2

/** The next pull beside those that run; null when nothing can be asked of anybody now. */
export function nextPull(facts: PlanFacts): Pull | null {
  return nextIn('configured', facts) ?? nextIn('others', facts)
}

function nextIn(
  lane: Lane,
  { wants, peers, backoffs, running, recentPulls, nowMs }: PlanFacts,
): Pull | null {
  const brisk = running.filter(({ begunMs }) => nowMs - begunMs < slowPullMs)
  const taken = brisk.filter(({ kind }) => laneOf(kind) === lane)
  if (taken.length >= laneSlots[lane]) return null
  const free = peers.filter(({ id }) => !running.some(({ peer }) => peer === id))
  const mayAsk = (peer: PlanPeer, want: Want): boolean =>
    laneOf(kindOf(peer, want.purpose)) === lane &&
    serves(peer, want) &&
    !isKeptFrom(peer, want, brisk) &&
    !isBackingOff(peer, want, backoffs, nowMs)
  for (const own of longestWaitingFirst(wants, lane, recentPulls)) {
    const possible = own.flatMap((want) =>
      free
        .filter((peer) => mayAsk(peer, want))
        .map((peer) => ({ peer, want, priority: priorityOf(peer, want, backoffs) })),
    )
    const [best] = possible.sort((a, b) => comparePriorities(a.priority, b.priority))
    if (best !== undefined) return pullOf(best.peer, best.want, nowMs)
  }
  return null
}

/** The wants of each purpose: first those of which nothing was pulled, then those pulled longest ago. */
function longestWaitingFirst(
  wants: readonly Want[],
  lane: Lane,
  recentPulls: readonly RecentPull[],
): Want[][] {
  const taken = recentPulls.filter((recentPull) => recentPull.lane === lane)
  const places = new Map(taken.map(({ purpose }, place) => [purpose, place]))
  const placeOf = (purpose: string): number => places.get(purpose) ?? -1
  const groups = [...Map.groupBy(wants, ({ purpose }) => purpose)]
  return groups.sort(([one], [other]) => placeOf(one) - placeOf(other)).map(([, own]) => own)
}

/** Whether a peer of the same or a better kind is already asked for the same purpose. */
function isKeptFrom(peer: PlanPeer, { purpose }: Want, running: readonly Pull[]): boolean {
  return running.some(({ want, kind }) => want.purpose === purpose && kind <= kindOf(peer, purpose))
}

/** The recent pulls after one began. */
export function withRecentPull(
  recentPulls: readonly RecentPull[],
  { kind, want }: Pull,
): readonly RecentPull[] {
  const own: RecentPull = { purpose: want.purpose, lane: laneOf(kind) }
  const others = recentPulls.filter(
    ({ purpose, lane }) => purpose !== own.purpose || lane !== own.lane,
  )
  return [...others, own].slice(-maxRecentPulls)
}

/**
 * Which of the wants for one purpose is asked of which peer first: of the best peer, what did not fail last there,
 * then what did not fail last anywhere. It may be a block that no peer has any more, and must not keep the others from
 * being pulled.
 */
function priorityOf(
  peer: PlanPeer,
  want: Want,
  backoffs: readonly PeerBackoff[],
): readonly number[] {
  const failed = backoffs.filter(
    ({ purpose, hash }) => purpose === want.purpose && hash === want.hash,
  )
  const isFailedHere = failed.some((backoff) => backoff.peer === peer.id)
  return [rank(peer, want, backoffs), Number(isFailedHere), Math.min(failed.length, 1)]
}

function comparePriorities(one: readonly number[], other: readonly number[]): number {
  const differences = one.map((value, index) => value - (other[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}

/** Upwards from the lowest height that the peer has; a want with its block at the end goes to that end. */
function pullOf(peer: PlanPeer, want: Want, begunMs: number): Pull {
  const { id, announced } = peer
  const from = Math.max(want.from, announced?.tail ?? 0)
  const to = Math.min(want.to, announced?.head ?? 0, from + pieceBlocks - 1)
  return { peer: id, kind: kindOf(peer, want.purpose), begunMs, from, to, want }
}

function serves({ announced }: PlanPeer, want: Want): boolean {
  if (announced === null || announced.tail > want.to || announced.head < want.from) return false
  // A gap fills from above: without the block at its end nothing of it is of use.
  return want.purpose !== purposes.gap || announced.head >= want.to
}

function isBackingOff(
  { id }: PlanPeer,
  { purpose }: Want,
  backoffs: readonly PeerBackoff[],
  nowMs: number,
): boolean {
  return backoffs.some(
    (backoff) =>
      backoff.peer === id &&
      backoff.untilMs > nowMs &&
      (backoff.purpose === null || backoff.purpose === purpose),
  )
}

/** The signer itself first, then configured peers, then those that delivered before, then strangers. */
function rank(peer: PlanPeer, { purpose }: Want, backoffs: readonly PeerBackoff[]): number {
  return kindOf(peer, purpose) * 1_000 + triesOf(peer.id, purpose, backoffs)
}

function kindOf({ signer, bootstrap, verified }: PlanPeer, purpose: string): PeerKind {
  if (signer === purpose) return kinds.signer
  if (bootstrap) return kinds.configured
  return verified ? kinds.delivered : kinds.stranger
}

function laneOf(kind: PeerKind): Lane {
  return kind <= kinds.configured ? 'configured' : 'others'
}

function triesOf(peer: string, purpose: string | null, backoffs: readonly PeerBackoff[]): number {
  const own = backoffs.filter((backoff) => backoff.peer === peer && backoff.purpose === purpose)
  return own.reduce((most, { tries }) => Math.max(most, tries), 0)
}

/** The backoffs after a pull that delivered so many blocks and left these wants. */
export function afterPull(
  backoffs: readonly PeerBackoff[],
  { peer, want }: Pull,
  delivered: number,
  wants: readonly Want[],
  nowMs: number,
): readonly PeerBackoff[] {
  if (delivered === 0) return withBackoff(backoffs, peer, null, nowMs)
  const obliging = withoutBackoff(backoffs, peer, null)
  const isOpen = wants.some(({ purpose, from, hash }) => {
    return purpose === want.purpose && (hash === want.hash || from === want.from)
  })
  return isOpen && !isPartly(want, wants)
    ? withBackoff(obliging, peer, want, nowMs)
    : withoutBackoff(obliging, peer, want.purpose)
}

/** Whether a want is still there, further up. */
function isPartly(want: Want, wants: readonly Want[]): boolean {
  return wants.some(({ purpose, hash, from }) => {
    return purpose === want.purpose && hash === want.hash && from > want.from
  })
}

/** The backoffs after a pull that brought nothing on with a want; null where it delivered nothing at all. */
export function withBackoff(
  backoffs: readonly PeerBackoff[],
  peer: string,
  want: Pick<Want, 'purpose' | 'hash'> | null,
  nowMs: number,
): readonly PeerBackoff[] {
  const { purpose, hash } = want ?? { purpose: null, hash: null }
  const tries = 1 + triesOf(peer, purpose, backoffs)
  const waitMs = backoffMs(pullBackoff, tries, 1)
  return [
    ...withoutBackoff(backoffs, peer, purpose),
    { peer, purpose, hash, tries, untilMs: nowMs + waitMs },
  ]
}

/** The backoffs without those of a peer about one purpose, or null those about anything. */
export function withoutBackoff(
  backoffs: readonly PeerBackoff[],
  peer: string,
  purpose: string | null,
): readonly PeerBackoff[] {
  return backoffs.filter((backoff) => backoff.peer !== peer || backoff.purpose !== purpose)
}

/** The backoffs after a peer connected or disconnected: what went wrong before says nothing now. */
export function withoutBackoffsOf(
  backoffs: readonly PeerBackoff[],
  peer: string,
): readonly PeerBackoff[] {
  return backoffs.filter((backoff) => backoff.peer !== peer)
}

/** When the plan may change by the passing of time alone; null when it cannot. */
export function nextChangeMs({
  backoffs,
  running,
  nowMs,
}: Pick<PlanFacts, 'backoffs' | 'running' | 'nowMs'>): number | null {
  const ends = [
    ...backoffs.map(({ untilMs }) => untilMs),
    ...running.map(({ begunMs }) => begunMs + slowPullMs),
  ]
  const later = ends.filter((ms) => ms > nowMs)
  return later.length === 0 ? null : Math.min(...later)
}

/**
 * The lowest height that trusted peers serve: configured ones, and where none is connected those
 * that delivered before. Null where none does.
 */
export function servedFrom(
  peers: readonly PlanPeer[],
  backoffs: readonly PeerBackoff[],
): number | null {
  const isDoubted = ({ id }: PlanPeer): boolean =>
    backoffs.some(({ peer, tries }) => peer === id && tries >= doubtedTries)
  const configured = peers.filter(({ bootstrap }) => bootstrap)
  const heard = configured.length > 0 ? configured : peers.filter(({ verified }) => verified)
  const tails = heard
    .filter((peer) => !isDoubted(peer))
    .flatMap(({ announced }) => announced?.tail ?? [])
  return tails.length === 0 ? null : Math.min(...tails)
}
