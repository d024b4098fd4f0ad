/**
 * What connected peers say they can serve. Anybody can claim any height, so only peers of which a
 * block was verified count when a program asks how far the network is.
 */
import { remember } from '../limits/remember.ts'

/** The lowest and the highest block a node can serve; there may be gaps between. */
export interface Range {
  readonly tail: number
  readonly head: number
}

export interface Announcements {
  of(peer: string): Range | null
  /** A peer's own word, replacing its last one. Returns true when that changed anything. */
  announce(peer: string, range: Range | null): boolean
  /** A block of this height came from the peer: it has at least that. Returns true when it is news. */
  raise(peer: string, height: number): boolean
  /** From now on the peer's word counts, also after it comes back. */
  verify(peer: string): void
  isVerified(peer: string): boolean
  /** Highest height that connected, verified peers announce; null when none does. */
  highest(): number | null
  disconnected(peer: string): void
  /** A banned peer's word counts no more. */
  distrust(peer: string): void
}

export function createAnnouncements(maxRemembered: number): Announcements {
  const ranges = new Map<string, Range>()
  const verified = new Map<string, true>()

  const announce = (peer: string, range: Range | null): boolean => {
    const last = ranges.get(peer)
    if (range === null) return ranges.delete(peer)
    ranges.set(peer, range)
    return last?.tail !== range.tail || last.head !== range.head
  }

  return {
    of: (peer) => ranges.get(peer) ?? null,
    announce,
    raise: (peer, height) => {
      const last = ranges.get(peer) ?? { tail: height, head: height }
      return announce(peer, {
        tail: Math.min(last.tail, height),
        head: Math.max(last.head, height),
      })
    },
    verify: (peer) => remember(verified, peer, true, maxRemembered),
    isVerified: (peer) => verified.has(peer),
    highest: () => {
      const heads = [...ranges]
        .filter(([peer]) => verified.has(peer))
        .map(([, range]) => range.head)
      return heads.length === 0 ? null : Math.max(...heads)
    },
    disconnected: (peer) => {
      ranges.delete(peer)
    },
    distrust: (peer) => {
      ranges.delete(peer)
      verified.delete(peer)
    },
  }
}
