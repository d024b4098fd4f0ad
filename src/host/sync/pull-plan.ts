/**
 * Decides which want to pull next and from whom: a pure function of the wants, the connected peers and what
 * lately went wrong. A peer that could not deliver is left alone about it for a while, longer each time, and
 * one that delivers nothing at all is left alone altogether.
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

/** Heights to pull from a peer now, both ends included. */
export interface Pull {
  readonly peer: string
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

/** Blocks that are asked of a peer at a time. */
export const pieceBlocks = 64
/** A setback's first length; each further one of its kind doubles it. */
export const firstSetbackMs = 500
export const maxSetbackMs = 60_000
/** Failures after which what a peer announces is not believed, until it delivers. */
const doubtedTries = 2

/** The next pull beside those that run; null when nothing can be asked of anybody now. */
export function nextPull(
  wants: readonly Want[],
  peers: readonly PlanPeer[],
  setbacks: readonly Setback[],
  running: readonly Pull[],
  nowMs: number,
): Pull | null {
  const free = peers.filter(({ id }) => !running.some(({ peer }) => peer === id))
  for (const own of Map.groupBy(wants, ({ sake }) => sake).values()) {
    if (running.some(({ want }) => want.sake === own[0]?.sake)) continue
    const possible = own.flatMap((want) =>
      free
        .filter((peer) => serves(peer, want) && !isSetBack(peer, want, setbacks, nowMs))
        .map((peer) => ({ peer, want, place: placeOf(peer, want, setbacks) })),
    )
    const [best] = possible.sort((a, b) => comparePlaces(a.place, b.place))
    if (best !== undefined) return pullOf(best.peer, best.want)
  }
  return null
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
function pullOf({ id, announced }: PlanPeer, want: Want): Pull {
  const from = Math.max(want.from, announced?.tail ?? 0)
  const to = Math.min(want.to, announced?.head ?? 0, from + pieceBlocks - 1)
  return { peer: id, from, to, want }
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

function kindOf({ signer, bootstrap, verified }: PlanPeer, sake: string): number {
  if (signer === sake) return 0
  if (bootstrap) return 1
  return verified ? 2 : 3
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
export function nextChangeMs(setbacks: readonly Setback[], nowMs: number): number | null {
  const later = setbacks.map(({ untilMs }) => untilMs).filter((untilMs) => untilMs > nowMs)
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
