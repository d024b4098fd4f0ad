/** Where this node can be reached: what it listens on, made concrete, and what an operator announces. */
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import type { Multiaddr } from '@multiformats/multiaddr'
import { parseAddresses } from './address.ts'

export interface OwnAddresses {
  /** Appends the announced addresses to those the node found itself; what other peers receive. */
  withAnnounced(found: readonly Multiaddr[]): Multiaddr[]
  /**
   * Announced addresses first, then each listen address with wildcards replaced by the machine's
   * interfaces, loopback first among them; without `/p2p/` suffix. `found` has the ports that the
   * system chose.
   */
  list(found: readonly Multiaddr[]): string[]
  /** What an operator announces. */
  announced(): string[]
  /** Throws P2P_ADDRESS_INVALID and then changes nothing. */
  setAnnounced(addresses: readonly string[]): void
}

/** Throws P2P_ADDRESS_INVALID. */
export function createOwnAddresses(
  listen: readonly string[],
  announce: readonly string[],
): OwnAddresses {
  const listening = parseAddresses(listen).map(String)
  let announced = parseAddresses(announce)
  return {
    withAnnounced: (found) => [...found, ...announced],
    list: (found) => {
      const concrete = listening.map((address) => withActualPort(address, found))
      return [...new Set([...announced.map(String), ...expandWildcards(concrete)])]
    },
    announced: () => announced.map(String),
    setAnnounced: (addresses) => {
      announced = parseAddresses(addresses)
    },
  }
}

/** Replaces wildcard addresses (0.0.0.0, ::) by those of the interfaces, loopback first. */
export function expandWildcards(
  addresses: readonly string[],
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): string[] {
  const all = Object.values(interfaces).flatMap((list) => list ?? [])
  return addresses.flatMap((text) => {
    const match = /^\/(ip[46])\/(0\.0\.0\.0|::)\/tcp\/(\d+)$/.exec(text)
    if (match === null) return [text]
    const family = match[1] === 'ip4' ? 'IPv4' : 'IPv6'
    return all
      .filter((entry) => entry.family === family && !isLinkLocal(entry))
      .sort((a, b) => Number(b.internal) - Number(a.internal))
      .map((entry) => `/${match[1]}/${entry.address}/tcp/${match[3]}`)
  })
}

/** A link-local IPv6 address means nothing without the name of the interface. */
function isLinkLocal(entry: NetworkInterfaceInfo): boolean {
  return entry.family === 'IPv6' && entry.scopeid !== 0
}

function withActualPort(configured: string, found: readonly Multiaddr[]): string {
  if (!configured.endsWith('/tcp/0')) return configured
  const family = configured.split('/')[1]
  const port = found
    .map((address) => /^\/(ip[46])\/[^/]+\/tcp\/(\d+)/.exec(address.toString()))
    .find((match) => match?.[1] === family)?.[2]
  return configured.replace(/0$/, port ?? '0')
}
