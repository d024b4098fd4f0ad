/**
 * What connected peers say they can serve. Anybody can claim any height, so only peers of which a
 * block was verified count when a program asks how far the network is.
 */
import { remember } from '../../remember.ts'

/** The lowest and the highest block a node can serve; there may be gaps between. */
export interface Range {
  readonly tail: number
  readonly head: number
}

interface Announcements {
  /** What it can serve, by its own word and by what came from it since. */
  of(peer: string): Range | null
  /** Its own word alone. */
  lastAnnouncement(peer: string): Range | null
  /** A peer's own word, replacing its last one. Returns true when that changed anything. */
  announce(peer: string, range: Range | null): boolean
  /** A block of this height came from the peer: it has at least that. Returns true when it is news. */
  raise(peer: string, height: number): boolean
  /** From now on the peer is trusted, also after it reconnects. */
  verify(peer: string): void
  isVerified(peer: string): boolean
  /** Highest height that connected, verified peers announce; null when none does. */
  highest(): number | null
  connected(peer: string): void
  disconnected(peer: string): void
  /** A banned peer is trusted no more. */
  distrust(peer: string): void
}

interface AnnouncedRange {
  range: Range | null
  lastAnnouncement: Range | null
  isVerified: boolean
}

/** Keeps what connected peers say, and of at most `maxRemembered` others that are trusted. */
export function createAnnouncements(maxRemembered: number): Announcements {
  const here = new Map<string, AnnouncedRange>()
  const verifiedBefore = new Map<string, null>()

  const change = (peer: string, range: Range | null): boolean => {
    const standing = here.get(peer)
    if (standing === undefined) return false
    const last = standing.range
    standing.range = range
    return last?.tail !== range?.tail || last?.head !== range?.head
  }

  return {
    of: (peer) => here.get(peer)?.range ?? null,
    lastAnnouncement: (peer) => here.get(peer)?.lastAnnouncement ?? null,
    announce: (peer, range) => {
      const standing = here.get(peer)
      if (standing !== undefined) standing.lastAnnouncement = range
      return change(peer, range)
    },
    raise: (peer, height) => {
      const last = here.get(peer)?.range ?? { tail: height, head: height }
      return change(peer, {
        tail: Math.min(last.tail, height),
        head: Math.max(last.head, height),
      })
    },
    verify: (peer) => {
      const standing = here.get(peer)
      if (standing !== undefined) standing.isVerified = true
      else remember(verifiedBefore, peer, null, maxRemembered)
    },
    isVerified: (peer) => here.get(peer)?.isVerified ?? verifiedBefore.has(peer),
    highest: () => {
      const heads = [...here.values()].flatMap(({ range, isVerified }) =>
        range !== null && isVerified ? [range.head] : [],
      )
      return heads.length === 0 ? null : Math.max(...heads)
    },
    connected: (peer) => {
      if (here.has(peer)) return
      here.set(peer, { range: null, lastAnnouncement: null, isVerified: verifiedBefore.has(peer) })
      verifiedBefore.delete(peer)
    },
    disconnected: (peer) => {
      if (here.get(peer)?.isVerified === true) remember(verifiedBefore, peer, null, maxRemembered)
      here.delete(peer)
    },
    distrust: (peer) => {
      const standing = here.get(peer)
      if (standing !== undefined)
        Object.assign(standing, { range: null, lastAnnouncement: null, isVerified: false })
      verifiedBefore.delete(peer)
    },
  }
}
