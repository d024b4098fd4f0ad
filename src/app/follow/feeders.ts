/**
 * Which Host feeds which View. It gives its place to another one when its stream ends, when nothing can be stored of what
 * it sends, when most others sign other rows than it sends, and when another one is faster: a Host that lets what others
 * have signed wait is measured, the others are tried in turn, and the fastest stays.
 */
import { notServedState } from '../../follow/host-frames.ts'
import type { Feeding, Link, Links } from './link-state.ts'

/** How long a Host does not feed again after it stalled or sent what others did not sign. */
const avoidMs = 60_000
/** How long a View is not fed after it held up others, unless some of its blocks are stored. */
const pausedMs = 600_000
/** Checks in a row at which a Host is late, after which it is compared with others. */
const lateChecks = 10
/** A Host has to be so many times as fast to take the place of another one. */
const fasterTimes = 1.25
/** Blocks a second that a Host is worth which was not measured, where the one that fed is gone. */
const untriedRate = 1
/** For how long a Host that was slow is not tried again. */
const rateKeptMs = 600_000

/** What a Host that may be the first to be reached feeds: Views that nobody feeds and that it may have. */
export function takePlaces(state: Links, link: Link): void {
  for (const view of state.options.views) {
    if (state.feeding.has(view) || !canFeed(state, view, link) || isAvoided(link, view)) continue
    if (candidates(state, view).length === 0) setFeeder(state, view, link)
  }
}

/** The Views that a Host feeds. */
export function fedBy({ feeding }: Links, link: Link): ReadonlySet<string> {
  return new Set([...feeding].flatMap(([view, each]) => (each.link === link ? [view] : [])))
}

/** A Host feeds nothing any more. */
export function leavePlaces(state: Links, link: Link): void {
  for (const view of fedBy(state, link)) state.feeding.delete(view)
}

/** A Host said which Views it has: it does not feed others. */
export function keepServed(state: Links, link: Link): void {
  for (const view of fedBy(state, link)) if (!serves(link, view)) state.feeding.delete(view)
}

/** Views that nobody feeds get the best of the Hosts in reach. */
export function fillPlaces(state: Links): void {
  if (state.closing.signal.aborted) return
  for (const view of state.options.views) {
    if (state.feeding.has(view) || !isWanted(state, view)) continue
    const [best] = candidates(state, view)
    if (best !== undefined) setFeeder(state, view, best)
  }
  changeRoles(state)
}

/** Lets other Hosts feed the Views whose Hosts do not feed them well. */
export function checkFeeders(state: Links): void {
  const { parts, feeding } = state
  for (const [view, place] of feeding) {
    noteStored(state, view, place)
    if (isHoldingUp(state, view, place)) {
      parts.log.warn({ view }, 'a View is not fed, since its blocks wait for further Hosts')
      state.paused.set(view, performance.now() + pausedMs)
      feeding.delete(view)
      continue
    }
    const others = candidates(state, view).filter((link) => link !== place.link)
    if (others.length === 0) continue
    if (isBad(state, view, place)) avoid(state, view, place.link)
    else tryFaster(state, view, place, others)
  }
  fillPlaces(state)
}

function avoid({ parts, feeding }: Links, view: string, link: Link): void {
  const { peer } = link
  parts.log.warn({ peer, view }, 'another Host feeds, since this one is behind or alone')
  const atMs = performance.now()
  link.avoidedUntilMs.set(view, atMs + avoidMs)
  link.rates.set(view, { rate: 0, atMs })
  feeding.delete(view)
}

function tryFaster(state: Links, view: string, place: Feeding, others: readonly Link[]): void {
  const faster = fasterThan(state, view, place, others)
  if (faster === null) return
  state.parts.log.info(
    { peer: place.link.peer, view, other: faster.peer },
    'another Host is tried, since this one is slow',
  )
  setFeeder(state, view, faster)
}

/** Whether a Host has a View, as it said last. */
export function serves({ views }: Link, view: string): boolean {
  const welcomed = views.get(view)
  return welcomed !== undefined && welcomed.state !== notServedState
}

/** Those that have a View and are in reach, the best first; where all are avoided, the one that was left longest ago. */
function candidates(state: Links, view: string): Link[] {
  const next = state.parts.follower.progress(view).stored + 1
  const beginsAt = (link: Link): number => Math.max(next, link.views.get(view)?.tail ?? next)
  const nowMs = performance.now()
  const rate = (link: Link): number => rateOf(link, view, nowMs) ?? untriedRate
  return state.links
    .filter((link) => link.isOpen && serves(link, view))
    .sort(
      (a, b) =>
        avoidedUntilMs(a, view, nowMs) - avoidedUntilMs(b, view, nowMs) ||
        beginsAt(a) - beginsAt(b) ||
        rate(b) - rate(a),
    )
}

function canFeed(state: Links, view: string, { views }: Link): boolean {
  return isWanted(state, view) && views.get(view)?.state !== notServedState
}

/** Whether rows of a View can be read, and there is room for them. */
function isWanted({ parts, paused }: Links, view: string): boolean {
  const { isKnown, isFull } = parts.follower.progress(view)
  const untilMs = paused.get(view) ?? -Infinity
  const isPaused = isFull && performance.now() < untilMs
  if (!isPaused) paused.delete(view)
  return isKnown && !isPaused
}

function noteStored({ parts }: Links, view: string, place: Feeding): void {
  const { stored: number } = parts.follower.progress(view)
  if (place.stored.number !== number) place.stored = { number, sinceMs: performance.now() }
}

/** Whether there has been no room for more blocks of a View for a while: the stream brings nothing of others either. */
function isHoldingUp({ options, parts }: Links, view: string, { stored }: Feeding): boolean {
  return (
    options.views.length > 1 &&
    parts.follower.progress(view).isFull &&
    performance.now() - stored.sinceMs > options.patience.fullMs
  )
}

function isAvoided(link: Link, view: string): boolean {
  return avoidedUntilMs(link, view, performance.now()) !== 0
}

/** 0 where it is not avoided. */
function avoidedUntilMs(link: Link, view: string, nowMs: number): number {
  const untilMs = link.avoidedUntilMs.get(view)
  return untilMs !== undefined && nowMs < untilMs ? untilMs : 0
}

function rateOf({ rates }: Link, view: string, nowMs: number): number | null {
  const known = rates.get(view)
  return known !== undefined && nowMs - known.atMs < rateKeptMs ? known.rate : null
}

function setFeeder({ feeding, parts }: Links, view: string, link: Link): void {
  const { stored: number } = parts.follower.progress(view)
  const stored = { number, sinceMs: performance.now() }
  feeding.set(view, { link, stored, late: null, due: -1 })
}

/** Ends the streams whose Views are no longer those that their Hosts feed. */
function changeRoles(state: Links): void {
  for (const link of state.links) {
    if (!link.isOpen) continue
    const fed = fedBy(state, link)
    const isSame = fed.size === link.fed.size && [...fed].every((view) => link.fed.has(view))
    if (!isSame) link.changingRole.abort(new Error('it feeds other Views from now on'))
  }
}

/**
 * Whether others signed other rows, or nothing was stored for a while although enough Hosts signed more, or say that what
 * more would stand on gave way.
 */
function isBad(state: Links, view: string, place: Feeding): boolean {
  const { links, options, parts } = state
  const { stored, differing, leaving, isFailed } = parts.follower.progress(view)
  const nowMs = performance.now()
  const isOther = (identity: string): boolean =>
    links.some((link) => link.isOpen && link.identity === identity && link !== place.link)
  if (differing.some(isOther)) return true
  const ahead = signedTops(state, view).filter(({ top }) => top > stored)
  const isStalled = nowMs - place.stored.sinceMs > options.patience.stallMs
  if (isStalled && leaving.filter(isOther).length >= options.minimumHosts) return true
  return (
    isStalled &&
    !isFailed &&
    ahead.length >= options.minimumHosts &&
    ahead.some(({ link }) => link.isOpen && link !== place.link)
  )
}

interface SignedTop {
  readonly link: Link
  /** The highest height of which it signed rows; -1 for none. */
  readonly top: number
}

function signedTops({ links, parts }: Links, view: string): SignedTop[] {
  return links.flatMap((link) => {
    if (link.identity === null) return []
    return [{ link, top: parts.follower.signedUpTo(link.identity, view) }]
  })
}

/** Another Host that is faster, or was not tried yet, where the one that feeds has been late for a while. */
function fasterThan(
  state: Links,
  view: string,
  place: Feeding,
  others: readonly Link[],
): Link | null {
  const { stored } = state.parts.follower.progress(view)
  const isLate = stored < place.due
  place.due = dueHeight(state, view, place.link)
  const nowMs = performance.now()
  if (!isLate) {
    place.late = null
    return null
  }
  const { checks, from, sinceMs } = place.late ?? { checks: 0, from: stored, sinceMs: nowMs }
  place.late = { checks: checks + 1, from, sinceMs }
  if (checks < lateChecks) return null
  place.late = null
  const rate = (stored - from) / ((nowMs - sinceMs) / 1_000)
  place.link.rates.set(view, { rate, atMs: nowMs })
  const rateTo = (link: Link): number => rateOf(link, view, nowMs) ?? Infinity
  const [best] = others
    .filter((link) => !isAvoided(link, view))
    .sort((a, b) => rateTo(b) - rateTo(a))
  return best !== undefined && rateTo(best) > rate * fasterTimes ? best : null
}

/** The height that as many Hosts have signed as have to agree, another one than that which feeds among them; -1 for none. */
function dueHeight(state: Links, view: string, feeder: Link): number {
  const tops = signedTops(state, view).sort((a, b) => b.top - a.top)
  const enough = tops[state.options.minimumHosts - 1]?.top ?? -1
  const other = tops.find(({ link }) => link !== feeder && link.isOpen)?.top ?? -1
  return Math.min(enough, other)
}
