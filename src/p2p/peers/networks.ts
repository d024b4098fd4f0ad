/** Which network connected peers serve, as the names of their protocols say. */
import { ServiceError } from '../../errors.ts'

/** Name of the protocol that serves ranges of blocks. */
export function rangeProtocol(network: string): string {
  return `/viewmesh/${network}/range/1`
}

/** The network of the first range protocol among these; null without one. */
export function networkServed(protocols: readonly string[]): string | null {
  const names = protocols.map((name) => /^\/viewmesh\/(\w{1,128})\/range\/1$/.exec(name)?.[1])
  return names.find((name) => name !== undefined) ?? null
}

export interface OtherNetworks {
  /** The protocols of a connected peer are known; returns true when it serves our network. */
  identified(peer: string, protocols: readonly string[]): boolean
  left(peer: string): void
  /** P2P_OTHER_NETWORK when the connected peer is of another network; else null. */
  error(peer: string): ServiceError | null
}

/** Remembers connected peers that do not serve `network`. */
export function createOtherNetworks(network: string): OtherNetworks {
  const strange = new Map<string, string | null>()
  return {
    identified: (peer, protocols) => {
      const isOurs = protocols.includes(rangeProtocol(network))
      if (isOurs) strange.delete(peer)
      else strange.set(peer, networkServed(protocols))
      return isOurs
    },
    left: (peer) => {
      strange.delete(peer)
    },
    error: (peer) => {
      const serves = strange.get(peer)
      return serves === undefined ? null : otherNetwork(peer, serves, network)
    },
  }
}

function otherNetwork(peer: string, serves: string | null, network: string): ServiceError {
  const what = serves === null ? 'no network that we know of' : serves
  const message = `bootstrap peer ${peer} serves ${what}, and we are of ${network}`
  return new ServiceError('P2P_OTHER_NETWORK', message, {
    facts: { peer, serves, network },
    remedy:
      'Set CHAIN_NAME and CHAIN_NETWORK to those of the peer, or name peers of this network in BOOTSTRAP_PEERS.',
  })
}
