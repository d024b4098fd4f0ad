/**
 * The signers or the Hosts that a Host accepts, each with its reason: those that a setting or a file lists, and
 * bootstrap peers that proved the identity of one. Identities cost nothing, so no others count, unless
 * the Host is configured to trust anyone.
 */
import type { TrustMode } from '../../service/contract.ts'

export interface AcceptedSource {
  readonly identity: string
  readonly source: 'setting' | 'file' | 'bootstrap'
  /** The bootstrap peer that proved it; null for other sources. */
  readonly peer: string | null
}

/** A bootstrap peer that proves another identity than the one that is pinned. */
export interface ChangedSigner {
  readonly peer: string
  readonly pinned: string
  readonly found: string
}

export interface AcceptedList {
  /** Everybody who is accepted by name, each identity once. */
  sources(): readonly AcceptedSource[]
  setFile(identities: readonly string[]): void
  /** A bootstrap peer proved an identity; returns whether that is a new pin. */
  prove(peer: string, identity: string): boolean
  /** Forgets the pins of all peers but these. Returns whether there were any. */
  keepPeers(peers: readonly string[]): boolean
  /** Pinned identities by peer ID. */
  pins(): Readonly<Record<string, string>>
  /** Peers whose identity changed, until they prove the pinned one again or leave the list of peers. */
  changed(): readonly ChangedSigner[]
}

export interface AcceptedListOptions {
  readonly mode: TrustMode
  /** The identities of the setting. */
  readonly listed: readonly string[]
  /** What was pinned before. */
  readonly pins: Readonly<Record<string, string>>
}

export function createAcceptedList({
  mode,
  listed,
  pins: before,
}: AcceptedListOptions): AcceptedList {
  const pins = new Map(Object.entries(before))
  const changed = new Map<string, ChangedSigner>()
  let inFile: readonly string[] = []

  return {
    sources: () => {
      const all: AcceptedSource[] = [
        ...listed.map((identity) => ({ identity, source: 'setting', peer: null }) as const),
        ...inFile.map((identity) => ({ identity, source: 'file', peer: null }) as const),
        ...(mode === 'bootstrap' ? [...pins] : []).map(
          ([peer, identity]) => ({ identity, source: 'bootstrap', peer }) as const,
        ),
      ]
      return [...new Map(all.toReversed().map((each) => [each.identity, each])).values()].reverse()
    },
    setFile: (identities) => {
      inFile = identities
    },
    prove: (peer, identity) => {
      const pinned = pins.get(peer)
      if (pinned !== undefined && pinned !== identity) {
        changed.set(peer, { peer, pinned, found: identity })
        return false
      }
      changed.delete(peer)
      pins.set(peer, identity)
      return pinned === undefined
    },
    keepPeers: (peers) => {
      const gone = [...pins.keys()].filter((peer) => !peers.includes(peer))
      for (const peer of gone) pins.delete(peer)
      for (const peer of [...changed.keys()]) if (!peers.includes(peer)) changed.delete(peer)
      return gone.length > 0
    },
    pins: () => Object.fromEntries(pins),
    changed: () => [...changed.values()],
  }
}
