/** The known addresses of peers: which are connected, from where, and whose budget they use. */
import type { Multiaddr } from '@multiformats/multiaddr'
import { remember } from '../../remember.ts'
import type { Remote } from '../limits/remote.ts'
import { addressGroup } from './address-group.ts'

export interface KnownAddresses {
  /** A connection with the peer opened. The first address counts until the peer has left. */
  connected(peer: string, address: Multiaddr): void
  /** The last connection with the peer closed. */
  disconnected(peer: string): void
  isConnected(peer: string): boolean
  /** Also of a peer that has left lately, so that disconnecting erases no fault. */
  remoteOf(peer: string): Remote
  /** The strangers from an address, by the key of their remote. */
  strangersAt(key: string): readonly string[]
}

/** Remembers the addresses of at most `maxRemembered` peers that have left. */
export function createKnownAddresses(
  isConfigured: (peer: string) => boolean,
  maxRemembered: number,
): KnownAddresses {
  const here = new Map<string, string>()
  const gone = new Map<string, string>()

  const remoteOf = (peer: string): Remote => {
    if (isConfigured(peer)) return { key: peer, isConfigured: true }
    return { key: here.get(peer) ?? gone.get(peer) ?? 'unknown', isConfigured: false }
  }

  return {
    connected: (peer, address) => {
      if (!here.has(peer)) here.set(peer, addressGroup(address))
      gone.delete(peer)
    },
    disconnected: (peer) => {
      const group = here.get(peer)
      here.delete(peer)
      if (group !== undefined) remember(gone, peer, group, maxRemembered)
    },
    isConnected: (peer) => here.has(peer),
    remoteOf,
    strangersAt: (key) =>
      [...here]
        .filter(([peer, group]) => group === key && !isConfigured(peer))
        .map(([peer]) => peer),
  }
}
