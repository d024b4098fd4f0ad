/** Which peers are here, from where, and who pays for what they do. */
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Party } from '../limits/party.ts'
import { remember } from '../limits/remember.ts'
import { addressGroup } from './address-group.ts'

export interface Whereabouts {
  /** A connection with the peer opened. The first address counts until the peer has left. */
  arrived(peer: string, address: Multiaddr): void
  /** The last connection with the peer closed. */
  left(peer: string): void
  isHere(peer: string): boolean
  /** Also of a peer that has left lately, so that leaving saves nobody from what it did. */
  partyOf(peer: string): Party
  /** The strangers from an address, by the key of their party. */
  strangersAt(key: string): readonly string[]
}

/** Remembers the addresses of at most `maxRemembered` peers that have left. */
export function createWhereabouts(
  isConfigured: (peer: string) => boolean,
  maxRemembered: number,
): Whereabouts {
  const here = new Map<string, string>()
  const gone = new Map<string, string>()

  const partyOf = (peer: string): Party => {
    if (isConfigured(peer)) return { key: peer, isConfigured: true }
    return { key: here.get(peer) ?? gone.get(peer) ?? 'unknown', isConfigured: false }
  }

  return {
    arrived: (peer, address) => {
      if (!here.has(peer)) here.set(peer, addressGroup(address))
      gone.delete(peer)
    },
    left: (peer) => {
      const group = here.get(peer)
      here.delete(peer)
      if (group !== undefined) remember(gone, peer, group, maxRemembered)
    },
    isHere: (peer) => here.has(peer),
    partyOf,
    strangersAt: (key) =>
      [...here]
        .filter(([peer, group]) => group === key && !isConfigured(peer))
        .map(([peer]) => peer),
  }
}
