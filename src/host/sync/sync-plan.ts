/**
 * Decides what to pull next and from whom: a pure function of what is stored, what the peers
 * announce and what lately went wrong. Missing heights come lowest first, a bounded piece at a
 * time; a peer that could not deliver a piece is left alone about it for a while, longer each time.
 */
import { type HeightRange, subtractRanges } from '../height-ranges.ts'

/** What the store holds; null before the first block. */
export interface StoredHeights {
  readonly tail: number
  readonly head: number
  /** Missing heights between `tail` and `head`, ascending; the lowest ones where there are many. */
  readonly gaps: readonly HeightRange[]
}

export interface PlanPeer {
  readonly id: string
  /** What the peer says it can serve. Unproven: it only steers what is asked of this peer. */
  readonly announced: { readonly tail: number; readonly head: number } | null
}

/** A piece to ask of one peer. */
export interface PeerRange extends HeightRange {
  readonly peer: string
}

/** A piece to pull now. */
export interface Pull extends PeerRange {
  /**
   * True for a piece that does not begin right above the highest stored block: its blocks may be
   * stored though nothing beside them is.
   */
  readonly mayFloat: boolean
}

/** A piece that a peer did not deliver, and until when not to ask that peer for it again. */
export interface Setback extends PeerRange {
  readonly tries: number
  readonly untilMs: number
}

export interface PlanOptions {
  /** Heights below the newest that are wanted; null wants everything. */
  readonly retainBlocks: number | null
  /** Heights of one piece. */
  readonly pieceBlocks: number
  /**
   * How long, in ms, nothing may have been stored on top before blocks are taken that do not
   * continue the stored chain although a peer says that it could.
   */
  readonly jumpAfterMs: number
}

/** The moment for which a plan is made. */
export interface PlanTime {
  readonly nowMs: number
  /** When the highest stored block was stored, or the program started. */
  readonly headSinceMs: number
}

/** A setback's first length; each further one of the same piece doubles it. */
export const firstSetbackMs = 500
export const maxSetbackMs = 60_000

/** The heights that this peer announces, that belong to what is kept, and that are not stored. */
export function missingHeights(
  peer: PlanPeer,
  stored: StoredHeights | null,
  retainBlocks: number | null,
): HeightRange[] {
  if (peer.announced === null) return []
  const { tail, head } = peer.announced
  const newest = Math.max(head, stored?.head ?? head)
  const floor = retainBlocks === null ? 0 : Math.max(0, newest - retainBlocks + 1)
  const offered = { from: Math.max(tail, floor), to: head }
  if (stored === null) return subtractRanges(offered, [])
  return subtractRanges(
    offered,
    subtractRanges({ from: stored.tail, to: stored.head }, stored.gaps),
  )
}

/**
 * The piece to pull now, or null when nothing is missing that may be asked for. As long as some
 * peer can continue the stored chain, nothing above that does not continue it is asked for: the
 * window that is kept moves with the highest block, and one peer's word must not move it.
 */
export function nextPull(
  peers: readonly PlanPeer[],
  stored: StoredHeights | null,
  setbacks: readonly Setback[],
  time: PlanTime,
  options: PlanOptions,
): Pull | null {
  const mayJump = canJump(peers, stored, time, options)
  let best: (PeerRange & { tries: number }) | null = null
  for (const peer of peers) {
    const candidate = firstPiece(peer, stored, setbacks, time.nowMs, options)
    if (candidate === null) continue
    if (!mayJump && stored !== null && candidate.from > stored.head + 1) continue
    if (best === null || isBetter(candidate, best)) best = candidate
  }
  if (best === null) return null
  const { peer, from, to } = best
  return { peer, from, to, mayFloat: from !== (stored?.head ?? -2) + 1 }
}

function canJump(
  peers: readonly PlanPeer[],
  stored: StoredHeights | null,
  { nowMs, headSinceMs }: PlanTime,
  { jumpAfterMs }: PlanOptions,
): boolean {
  if (stored === null || nowMs - headSinceMs >= jumpAfterMs) return true
  return !peers.some(
    ({ announced }) =>
      announced !== null && announced.tail <= stored.head + 1 && announced.head >= stored.head,
  )
}

function isBetter(a: PeerRange & { tries: number }, b: PeerRange & { tries: number }): boolean {
  return a.from !== b.from ? a.from < b.from : a.tries < b.tries
}

function firstPiece(
  peer: PlanPeer,
  stored: StoredHeights | null,
  setbacks: readonly Setback[],
  nowMs: number,
  options: PlanOptions,
): (PeerRange & { tries: number }) | null {
  const own = setbacks.filter((setback) => setback.peer === peer.id)
  const barred = own.filter((setback) => setback.untilMs > nowMs)
  for (const range of missingHeights(peer, stored, options.retainBlocks)) {
    const free = subtractRanges(range, barred)[0]
    if (free === undefined) continue
    const to = Math.min(free.to, free.from + options.pieceBlocks - 1)
    return { peer: peer.id, from: free.from, to, tries: own.length }
  }
  return null
}

/**
 * The setbacks after a pull that left some of its heights undelivered. Setbacks that are long over
 * are dropped.
 */
export function withSetback(
  setbacks: readonly Setback[],
  { peer, from, to }: PeerRange,
  nowMs: number,
): readonly Setback[] {
  const earlier = setbacks.filter((setback) => isAbout(setback, { peer, from, to }))
  const tries = 1 + earlier.reduce((most, setback) => Math.max(most, setback.tries), 0)
  const lengthMs = Math.min(maxSetbackMs, firstSetbackMs * 2 ** (tries - 1))
  const kept = setbacks.filter(
    (setback) => !earlier.includes(setback) && setback.untilMs > nowMs - maxSetbackMs,
  )
  return [...kept, { peer, from, to, tries, untilMs: nowMs + lengthMs }]
}

/** The setbacks after `peer` delivered `height`: nothing of it is held against the peer any more. */
export function withoutSetback(
  setbacks: readonly Setback[],
  peer: string,
  height: number,
): readonly Setback[] {
  const isOver = (setback: Setback): boolean =>
    setback.peer === peer && setback.from <= height && height <= setback.to
  return setbacks.some(isOver) ? setbacks.filter((setback) => !isOver(setback)) : setbacks
}

/** The setbacks after `peer` came back: what went wrong before its restart says nothing now. */
export function withoutPeer(setbacks: readonly Setback[], peer: string): readonly Setback[] {
  return setbacks.filter((setback) => setback.peer !== peer)
}

/** When the plan may change by the passing of time alone; null when it cannot. */
export function nextChangeMs(
  setbacks: readonly Setback[],
  { nowMs, headSinceMs }: PlanTime,
  { jumpAfterMs }: PlanOptions,
): number | null {
  const ends = [...setbacks.map((setback) => setback.untilMs), headSinceMs + jumpAfterMs]
  const later = ends.filter((endMs) => endMs > nowMs)
  return later.length === 0 ? null : Math.min(...later)
}

function isAbout(setback: Setback, failed: PeerRange): boolean {
  return setback.peer === failed.peer && setback.from <= failed.to && failed.from <= setback.to
}
