/**
 * Asks Hosts for heights that are missing: below what is stored of a View, between it, and where the View failed. They
 * came to lack when no Host in reach had them, and one may have them now. Each hole is filled by a follower of its own,
 * one at a time, so that new blocks do not wait for it.
 */
import { clipHeights, heightGaps } from '../../primitives/height-ranges.ts'
import type { KnownView } from '../followed-views.ts'
import type { FollowerOptions, FollowerParts, Hole } from './follow-state.ts'
import { openRowFollower } from './follower.ts'
import { type HostLinks, openHostLinks } from './host-links.ts'
import type { LinkOptions, LinkParts } from './link-state.ts'

type RefillOptions = FollowerOptions & Omit<LinkOptions, 'views'>

interface RefillParts extends FollowerParts, Omit<LinkParts, 'follower' | 'onFatal'> {
  /** The Hosts that are followed. */
  readonly links: Pick<HostLinks, 'servingSinceMs'>
}

export interface Refill {
  close(): Promise<void>
}

interface ViewHole extends Hole {
  readonly view: KnownView
}

interface State {
  readonly options: RefillOptions
  readonly parts: RefillParts
  readonly closing: AbortController
  /** When a hole was tried last, by View and first height. */
  readonly tried: Map<string, number>
}

/** A hole is tried again after so long, and once a Host that may have it was connected since. */
const retryMs = 600_000
/** Holes of a View that are checked, the lowest ones. */
const maxHoles = 1_000

/** Checks for holes until it is closed. */
export function openRefill(options: RefillOptions, parts: RefillParts): Refill {
  const state: State = { options, parts, closing: new AbortController(), tried: new Map() }
  let running: Promise<void> | null = null
  const timer = setInterval(() => {
    running ??= fillNext(state)
      .catch(parts.onFatal)
      .finally(() => {
        running = null
      })
  }, options.patience.missingCheckMs)
  return {
    close: async () => {
      clearInterval(timer)
      state.closing.abort()
      await running
    },
  }
}

async function fillNext(state: State): Promise<void> {
  const hole = nextHole(state)
  if (hole !== null) await fill(state, hole)
}

/**
 * Of the holes that a Host may fill which was not asked for them lately the one that was tried longest ago, so that none
 * that cannot be filled holds up the others.
 */
function nextHole({ options, parts, tried }: State): ViewHole | null {
  const nowMs = performance.now()
  const holes = parts.views.list().flatMap((view) => holesOf(parts, view, options.from))
  const keys = new Set(holes.map(keyOf))
  for (const key of tried.keys()) if (!keys.has(key)) tried.delete(key)
  const triedMs = (hole: ViewHole): number => tried.get(keyOf(hole)) ?? -Infinity
  const isDue = (hole: ViewHole): boolean => {
    const servingSinceMs = parts.links.servingSinceMs(hole.view.id, hole.to)
    if (servingSinceMs === null) return false
    return servingSinceMs > triedMs(hole) || nowMs - triedMs(hole) >= retryMs
  }
  const next = holes.filter(isDue).reduce<ViewHole | null>((best, hole) => {
    return best === null || triedMs(hole) < triedMs(best) ? hole : best
  }, null)
  if (next !== null) tried.set(keyOf(next), nowMs)
  return next
}

const keyOf = ({ view, from }: ViewHole): string => `${view.id} ${from}`

/** Heights without rows below the highest one that has some, lowest first. */
function holesOf({ store }: RefillParts, view: KnownView, from: number): ViewHole[] {
  return store.reader.read((snapshot) => {
    const lowest = Math.max(from, snapshot.rowsFrom)
    const done = clipHeights(snapshot.viewRanges(view.slot), lowest, Number.MAX_SAFE_INTEGER)
    const gaps = heightGaps([[lowest - 1, lowest - 1], ...done], maxHoles)
    return gaps.flatMap(([first, last]) => (first <= last ? [{ view, from: first, to: last }] : []))
  })
}

/** Follows the Hosts from the beginning of a hole, until its last height is there or nothing more comes. */
async function fill({ options, parts, closing }: State, hole: ViewHole): Promise<void> {
  const { view, from, to } = hole
  const { missingCheckMs, missingIdleMs, missingHostMs } = options.patience
  const idleMs = missingIdleMs + missingHostMs * options.peers.length
  const isFilled = (): boolean => !holesOf(parts, view, from).some((each) => each.from <= to)
  const over = Promise.withResolvers<void>()
  const stop = (): void => over.resolve()
  const only = { ...parts.views, ids: [view.id], list: () => [view] }
  let latest = { passed: 0, atMs: performance.now() }
  const follower = openRowFollower(
    { ...options, hole },
    {
      ...parts,
      views: only,
      onHeight: (known, number) => {
        latest = { ...latest, atMs: performance.now() }
        parts.onHeight(known, number)
        if (isFilled()) stop()
      },
    },
  )
  const timer = setInterval(() => {
    const { passed } = follower.progress(view.id)
    const nowMs = performance.now()
    if (passed > latest.passed) latest = { passed, atMs: nowMs }
    if (nowMs - latest.atMs > idleMs) stop()
  }, missingCheckMs)
  closing.signal.addEventListener('abort', stop)
  parts.log.info({ view: view.id, from, to }, 'asks for missing blocks')
  const links = openHostLinks({ ...options, views: [view.id] }, { ...parts, follower })
  await over.promise
  clearInterval(timer)
  closing.signal.removeEventListener('abort', stop)
  await links.close()
  await follower.close()
}
