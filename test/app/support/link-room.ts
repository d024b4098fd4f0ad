/** Links to Hosts in reach, without streams: how they stand is set by the test. */
import assert from 'node:assert/strict'
import type { RowFollower } from '../../../src/app/follow/follower.ts'
import { createLink, type Link, type Links } from '../../../src/app/follow/link-state.ts'
import { type Patience, usualPatience } from '../../../src/app/follow/patience.ts'
import type { WelcomedView } from '../../../src/follow/host-frames.ts'
import { captureLog } from '../../support/captured-log.ts'

type Progress = ReturnType<RowFollower['progress']>

const unused = (): never => assert.fail('this is not asked for')
export const view = 'payments'
export const otherView = 'refunds'

export interface Room {
  readonly links: Links
  /** How it stands with a View from now on. */
  progress(view: string, change: Partial<Progress>): void
  /** Up to which height a Host signed rows of `view`. */
  sign(link: Link, top: number): void
  /** The lowest block of `view` of which nothing is known of what a Host signed, from now on. */
  unheard(link: Link, lowest: number | null): void
  feeder(view?: string): string | undefined
}

interface RoomOptions {
  readonly views?: readonly string[]
  readonly minimumHosts?: number
  readonly patience?: Partial<Patience>
}

/** Hosts that are in reach and have every View from height 0 on. */
export function roomOf(
  names: readonly string[],
  { views = [view], minimumHosts = 1, patience = {} }: RoomOptions = {},
): Room {
  const standing = new Map<string, Progress>()
  const signed = new Map<string, number>()
  const unheard = new Map<string, number | null>()
  const progressOf = (of: string): Progress =>
    standing.get(of) ?? {
      ...{ isKnown: true, passed: 0, pending: 0, isFull: false, stored: -1 },
      ...{ isFailed: false, differing: [], leaving: [] },
    }
  const follower: RowFollower = {
    ...{ opening: unused, listener: unused, wake: unused, close: unused },
    unheard: (of, host) => (of === view ? (unheard.get(host) ?? null) : null),
    progress: progressOf,
    signedUpTo: (host, of) => (of === view ? (signed.get(host) ?? -1) : -1),
  }
  const p2p = { openChannel: unused, penalise: unused, peers: unused, onPeer: unused }
  const links: Links = {
    options: {
      ...{ network: 'a network', peers: names, views, minimumHosts },
      patience: { ...usualPatience, ...patience },
    },
    parts: {
      ...{ p2p: { ...p2p, failures: unused }, follower, log: captureLog().log },
      ...{ onChange: unused, onFatal: unused },
    },
    links: names.map((name) => ({
      ...createLink(name),
      identity: name,
      isOpen: true,
      views: new Map(views.map((each) => [each, welcomed(each)])),
    })),
    ...{ closing: new AbortController(), feeding: new Map(), paused: new Map() },
  }
  return {
    links,
    progress: (of, change) => void standing.set(of, { ...progressOf(of), ...change }),
    sign: ({ peer }, top) => void signed.set(peer, top),
    unheard: ({ peer }, lowest) => void unheard.set(peer, lowest),
    feeder: (of = view) => links.feeding.get(of)?.link.peer,
  }
}

/** How a Host has a View. */
export const welcomed = (of: string, change: Partial<WelcomedView> = {}): WelcomedView => ({
  ...{ view: of, name: of, sdl: '', tail: 0, head: null, state: 'live', ...change },
})

export function linkOf({ links }: Room, name: string): Link {
  return links.links.find(({ peer }) => peer === name) ?? assert.fail(`there is no ${name}`)
}
