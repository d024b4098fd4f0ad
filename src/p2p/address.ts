/**
 * Peer addresses: parsing what an operator configured, and listing where this node can be reached.
 */
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import type { PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { ServiceError } from '../errors.ts'

const wanted = '/ip4/<address>/tcp/9171/p2p/<peer id>'
const hostProtocols: readonly string[] = ['ip4', 'ip6', 'dns', 'dns4', 'dns6']

/** An address that names both a place and who is expected there. */
export interface PeerAddress {
  readonly id: PeerId
  /** The whole address, `/p2p/` included. */
  readonly address: Multiaddr
}

/**
 * Reads a peer address. It must end in the peer ID, because the connection is authenticated against
 * it, and the ID must contain its key (Ed25519 does, RSA does not), because only then does the
 * handshake compare the two. Throws P2P_ADDRESS_INVALID.
 */
export function parsePeerAddress(text: string): PeerAddress {
  const parts = components(text)
  const [host, port, peer] = parts
  if (parts.length < 3 || peer?.name !== 'p2p') {
    throw invalid(text, 'it does not end in /p2p/<peer id>')
  }
  requireTcp(text, host?.name, port?.name)
  if (parts.length > 3) throw invalid(text, 'it has more parts than host, port and peer ID')
  const id = peerId(text, peer.value ?? '')
  if (id.publicKey === undefined) {
    throw invalid(text, 'its peer ID does not contain an Ed25519 key')
  }
  return { id, address: multiaddr(text) }
}

/** Reads a list, naming every bad entry in one P2P_ADDRESS_INVALID error; entries of blanks are skipped. */
export function parsePeerAddresses(list: readonly string[]): PeerAddress[] {
  return readAll(list, parsePeerAddress)
}

/** Reads addresses to announce; a `/p2p/` suffix is dropped. Throws P2P_ADDRESS_INVALID. */
export function parseAnnounceAddresses(list: readonly string[]): Multiaddr[] {
  return readAll(list, (text) => {
    const [host, port] = components(text)
    requireTcp(text, host?.name, port?.name)
    return multiaddr(`/${host?.name}/${host?.value}/tcp/${port?.value}`)
  })
}

/** The address without its `/p2p/` suffix. */
export function withoutPeer(address: Multiaddr): string {
  return address.toString().replace(/\/p2p\/[^/]+$/, '')
}

/**
 * Replaces wildcard addresses (0.0.0.0, ::) by those of the machine's interfaces, loopback first,
 * so that a reader of `/health` finds an IP it can use.
 */
export function expandWildcards(
  addresses: readonly string[],
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): string[] {
  const all = Object.values(interfaces).flatMap((list) => list ?? [])
  const expand = (text: string): string[] => {
    const match = /^\/(ip[46])\/(0\.0\.0\.0|::)\/tcp\/(\d+)$/.exec(text)
    if (match === null) return [text]
    const family = match[1] === 'ip4' ? 'IPv4' : 'IPv6'
    return all
      .filter((entry) => entry.family === family && !(family === 'IPv6' && entry.scopeid !== 0))
      .sort((a, b) => Number(b.internal) - Number(a.internal))
      .map((entry) => `/${match[1]}/${entry.address}/tcp/${match[3]}`)
  }
  return [...new Set(addresses.flatMap(expand))]
}

function components(text: string): { name: string; value?: string | undefined }[] {
  try {
    return multiaddr(text)
      .getComponents()
      .map((part) => ({ name: part.name, value: part.value }))
  } catch (cause) {
    throw invalid(text, 'it is not a multiaddr', cause)
  }
}

function requireTcp(text: string, host: string | undefined, port: string | undefined): void {
  if (host === undefined || !hostProtocols.includes(host) || port !== 'tcp') {
    throw invalid(text, 'it does not begin with an IP address or name and a TCP port')
  }
}

function peerId(text: string, id: string): PeerId {
  try {
    return peerIdFromString(id)
  } catch (cause) {
    throw invalid(text, 'what follows /p2p/ is not a peer ID', cause)
  }
}

function readAll<T>(list: readonly string[], read: (text: string) => T): T[] {
  const results: T[] = []
  const problems: string[] = []
  for (const text of list.map((entry) => entry.trim()).filter((entry) => entry !== '')) {
    try {
      results.push(read(text))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      problems.push(error.message)
    }
  }
  if (problems.length === 0) return results
  throw new ServiceError('P2P_ADDRESS_INVALID', problems.join('; '), { remedy: addressRemedy })
}

const addressRemedy = `Write each address as ${wanted}, with the ID from the peer's health endpoint.`

function invalid(text: string, why: string, cause?: unknown): ServiceError {
  const facts = { address: text.slice(0, 200) }
  const message = `cannot use the address "${facts.address}": ${why}`
  return new ServiceError('P2P_ADDRESS_INVALID', message, { facts, remedy: addressRemedy, cause })
}
