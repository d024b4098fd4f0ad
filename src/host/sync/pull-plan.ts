/**
 * Decides which want to pull next and from whom: a pure function of the wants, the connected peers, what runs and
 * what lately went wrong. A peer that could not deliver is left alone about it for a while, longer each time, and
 * one that delivers nothing at all is left alone altogether. Nobody keeps a better peer from being asked: configured
 * peers have slots of their own, and a pull keeps only peers of the same or a worse kind from what it is for.
 */
import { sakes, type Want } from '../fork-choice/wants.ts'

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
export type PeerKind = (typeof kinds)[keyof typeof kinds]

/** Which slots a pull takes: those of the signer itself and of configured peers, or those of all others. */
export type Lane = 'configured' | 'others'

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

/** What did not work: of a peer, about one sake, or null about anything. */
export interface Setback {
  readonly peer: string
  readonly sake: string | null
  /** Hash of the want with which it failed last; null where that was about anything. */
  readonly hash: string | null
  readonly tries: number
  readonly untilMs: number
}

/** That something was pulled for a sake. */
export interface Turn {
  readonly sake: string
  /** Others take no turns away from configured peers. */
  readonly lane: Lane
}

export interface PlanFacts {
  /** The most urgent first. */
  readonly wants: readonly Want[]
  readonly peers: readonly PlanPeer[]
  readonly setbacks: readonly Setback[]
  readonly running: readonly Pull[]
  /** Turns that were taken; which was longest ago comes first. */
  readonly turns: readonly Turn[]
  readonly nowMs: number
}

/** Blocks that are asked of a peer at a time. */
export const pieceBlocks = 64
/** Pulls at a time, each of another peer. */
export const laneSlots: Readonly<Record<Lane, number>> = { configured: 2, others: 2 }
/** A pull that takes longer keeps nobody else from anything: a signer that is slow on purpose is asked as well. */
export const slowPullMs = 60_000
/** Turns that are remembered; whose was longest ago, and is forgotten, comes first in any case. */
const maxTurns = 1_024
/** A setback's first length; each further one of its kind doubles it. */
export const firstSetbackMs = 500
export const maxSetbackMs = 60_000
/** Failures after which what a peer announces is not believed, until it delivers. */
const doubtedTries = 2

/** The next pull beside those that run; null when nothing can be asked of anybody now. */
export function nextPull(facts: PlanFacts): Pull | null {
  return nextIn('configured', facts) ?? nextIn('others', facts)
}

function nextIn(
  lane: Lane,
  { wants, peers, setbacks, running, turns, nowMs }: PlanFacts,
): Pull | null {
  const brisk = running.filter(({ begunMs }) => nowMs - begunMs < slowPullMs)
  const taken = brisk.filter(({ kind }) => laneOf(kind) === lane)
  if (taken.length >= laneSlots[lane]) return null
  const free = peers.filter(({ id }) => !running.some(({ peer }) => peer === id))
  const mayAsk = (peer: PlanPeer, want: Want): boolean =>
    laneOf(kindOf(peer, want.sake)) === lane &&
    serves(peer, want) &&
    !isKeptFrom(peer, want, brisk) &&
    !isSetBack(peer, want, setbacks, nowMs)
  for (const own of inTurn(wants, lane, turns)) {
    const possible = own.flatMap((want) =>
      free
        .filter((peer) => mayAsk(peer, want))
        .map((peer) => ({ peer, want, place: placeOf(peer, want, setbacks) })),
    )
    const [best] = possible.sort((a, b) => comparePlaces(a.place, b.place))
    if (best !== undefined) return pullOf(best.peer, best.want, nowMs)
  }
  return null
}

/** The wants of each sake: first those of which nothing was pulled, then those whose turn was longest ago. */
function inTurn(wants: readonly Want[], lane: Lane, turns: readonly Turn[]): Want[][] {
  const taken = turns.filter((turn) => turn.lane === lane)
  const places = new Map(taken.map(({ sake }, place) => [sake, place]))
  const turnOf = (sake: string): number => places.get(sake) ?? -1
  const groups = [...Map.groupBy(wants, ({ sake }) => sake)]
  return groups.sort(([one], [other]) => turnOf(one) - turnOf(other)).map(([, own]) => own)
}

/** Whether a peer of the same or a better kind is already asked for the same sake. */
function isKeptFrom(peer: PlanPeer, { sake }: Want, running: readonly Pull[]): boolean {
  return running.some(({ want, kind }) => want.sake === sake && kind <= kindOf(peer, sake))
}

/** The turns after a pull began. */
export function withTurn(turns: readonly Turn[], { kind, want }: Pull): readonly Turn[] {
  const own: Turn = { sake: want.sake, lane: laneOf(kind) }
  const others = turns.filter(({ sake, lane }) => sake !== own.sake || lane !== own.lane)
  return [...others, own].slice(-maxTurns)
}

/**
 * Which of the wants for one sake is asked of which peer first: of the best peer, what did not fail last there,
 * then what did not fail last anywhere. It may be a block that nobody has any more, and must not keep the others from
 * being pulled.
 */
function placeOf(peer: PlanPeer, want: Want, setbacks: readonly Setback[]): readonly number[] {
  const failed = setbacks.filter(({ sake, hash }) => sake === want.sake && hash === want.hash)
  const isFailedHere = failed.some((setback) => setback.peer === peer.id)
  return [rank(peer, want, setbacks), Number(isFailedHere), Math.min(failed.length, 1)]
}

function comparePlaces(one: readonly number[], other: readonly number[]): number {
  const differences = one.map((value, index) => value - (other[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}

/** Upwards from the lowest height that the peer has; a want with its block at the end goes to that end. */
function pullOf(peer: PlanPeer, want: Want, begunMs: number): Pull {
  const { id, announced } = peer
  const from = Math.max(want.from, announced?.tail ?? 0)
  const to = Math.min(want.to, announced?.head ?? 0, from + pieceBlocks - 1)
  return { peer: id, kind: kindOf(peer, want.sake), begunMs, from, to, want }
}

function serves({ announced }: PlanPeer, want: Want): boolean {
  if (announced === null || announced.tail > want.to || announced.head < want.from) return false
  // A want that goes downwards is of no use without the block at its end.
  return want.to - want.from < pieceBlocks && want.sake === sakes.gap
    ? announced.head >= want.to
    : true
}

function isSetBack(
  { id }: PlanPeer,
  { sake }: Want,
  setbacks: readonly Setback[],
  nowMs: number,
): boolean {
  return setbacks.some(
    (setback) =>
      setback.peer === id &&
      setback.untilMs > nowMs &&
      (setback.sake === null || setback.sake === sake),
  )
}

/** The signer itself first, then configured peers, then those that delivered before, then strangers. */
function rank(peer: PlanPeer, { sake }: Want, setbacks: readonly Setback[]): number {
  return kindOf(peer, sake) * 1_000 + triesOf(peer.id, sake, setbacks)
}

function kindOf({ signer, bootstrap, verified }: PlanPeer, sake: string): PeerKind {
  if (signer === sake) return kinds.signer
  if (bootstrap) return kinds.configured
  return verified ? kinds.delivered : kinds.stranger
}

function laneOf(kind: PeerKind): Lane {
  return kind <= kinds.configured ? 'configured' : 'others'
}

function triesOf(peer: string, sake: string | null, setbacks: readonly Setback[]): number {
  const own = setbacks.filter((setback) => setback.peer === peer && setback.sake === sake)
  return own.reduce((most, { tries }) => Math.max(most, tries), 0)
}

/** The setbacks after a pull that delivered so many blocks and left these wants. */
export function afterPull(
  setbacks: readonly Setback[],
  { peer, want }: Pull,
  delivered: number,
  wants: readonly Want[],
  nowMs: number,
): readonly Setback[] {
  if (delivered === 0) return withSetback(setbacks, peer, null, nowMs)
  const obliging = without(setbacks, peer, null)
  const isOpen = wants.some(({ sake, from, hash }) => {
    return sake === want.sake && (hash === want.hash || from === want.from)
  })
  return isOpen && !isPartly(want, wants)
    ? withSetback(obliging, peer, want, nowMs)
    : without(obliging, peer, want.sake)
}

/** Whether a want is still there, further up. */
function isPartly(want: Want, wants: readonly Want[]): boolean {
  return wants.some(({ sake, hash, from }) => {
    return sake === want.sake && hash === want.hash && from > want.from
  })
}

/** The setbacks after a pull that brought nothing on with a want; null where it delivered nothing at all. */
export function withSetback(
  setbacks: readonly Setback[],
  peer: string,
  want: Pick<Want, 'sake' | 'hash'> | null,
  nowMs: number,
): readonly Setback[] {
  const { sake, hash } = want ?? { sake: null, hash: null }
  const tries = 1 + triesOf(peer, sake, setbacks)
  const lengthMs = Math.min(maxSetbackMs, firstSetbackMs * 2 ** (tries - 1))
  return [...without(setbacks, peer, sake), { peer, sake, hash, tries, untilMs: nowMs + lengthMs }]
}

/** The setbacks without those of a peer about one sake, or null those about anything. */
export function without(
  setbacks: readonly Setback[],
  peer: string,
  sake: string | null,
): readonly Setback[] {
  return setbacks.filter((setback) => setback.peer !== peer || setback.sake !== sake)
}

/** The setbacks after a peer came or went: what went wrong before says nothing now. */
export function withoutPeer(setbacks: readonly Setback[], peer: string): readonly Setback[] {
  return setbacks.filter((setback) => setback.peer !== peer)
}

/** When the plan may change by the passing of time alone; null when it cannot. */
export function nextChangeMs({
  setbacks,
  running,
  nowMs,
}: Pick<PlanFacts, 'setbacks' | 'running' | 'nowMs'>): number | null {
  const ends = [
    ...setbacks.map(({ untilMs }) => untilMs),
    ...running.map(({ begunMs }) => begunMs + slowPullMs),
  ]
  const later = ends.filter((ms) => ms > nowMs)
  return later.length === 0 ? null : Math.min(...later)
}

/**
 * The lowest height that peers serve whose word counts here: configured ones, and where none is connected those
 * that delivered before. Null where none does.
 */
export function servedFrom(
  peers: readonly PlanPeer[],
  setbacks: readonly Setback[],
): number | null {
  const isDoubted = ({ id }: PlanPeer): boolean =>
    setbacks.some(({ peer, tries }) => peer === id && tries >= doubtedTries)
  const configured = peers.filter(({ bootstrap }) => bootstrap)
  const heard = configured.length > 0 ? configured : peers.filter(({ verified }) => verified)
  const tails = heard
    .filter((peer) => !isDoubted(peer))
    .flatMap(({ announced }) => announced?.tail ?? [])
  return tails.length === 0 ? null : Math.min(...tails)
}
