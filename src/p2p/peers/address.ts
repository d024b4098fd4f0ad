/** Reads the addresses that an operator configured, and refuses what could not work or be trusted. */
import type { PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { ServiceError } from '../../errors.ts'

/** An address that names both a place and who is expected there. */
export interface DialAddress {
  readonly id: PeerId
  /** The whole address, `/p2p/` included. */
  readonly address: Multiaddr
}

const hostProtocols: readonly string[] = ['ip4', 'ip6', 'dns', 'dns4', 'dns6']

/**
 * Reads a peer address. It must end in the peer ID, because the connection is authenticated against
 * it, and the ID must contain its key (Ed25519 does, RSA does not), because only then does the
 * handshake compare the two. Throws P2P_ADDRESS_INVALID.
 */
export function parsePeerAddress(text: string): DialAddress {
  const parts = components(text)
  requireTcp(text, parts)
  if (parts[2]?.name !== 'p2p') throw invalid(text, 'it does not end in /p2p/<peer id>')
  if (parts.length > 3) throw invalid(text, 'it goes on after the peer ID')
  const id = peerId(text, parts[2].value)
  if (id.publicKey === undefined) {
    throw invalid(text, 'its peer ID does not contain an Ed25519 key')
  }
  return { id, address: multiaddr(text) }
}

/** Reads a list, naming every bad entry in one P2P_ADDRESS_INVALID; blank entries are skipped. */
export function parsePeerAddresses(list: readonly string[]): DialAddress[] {
  return readAll(list, parsePeerAddress)
}

/**
 * Reads addresses of this node itself, to listen on or to announce; a `/p2p/` suffix is dropped.
 * Throws one P2P_ADDRESS_INVALID for all bad entries; blank entries are skipped.
 */
export function parseAddresses(list: readonly string[]): Multiaddr[] {
  return readAll(list, (text) => {
    requireTcp(text, components(text))
    return multiaddr(withoutPeer(multiaddr(text)))
  })
}

/** The address without its `/p2p/` suffix. */
export function withoutPeer(address: Multiaddr): string {
  return address.toString().replace(/\/p2p\/[^/]+$/, '')
}

interface Component {
  readonly name: string
  readonly value: string
}

function components(text: string): readonly Component[] {
  try {
    const parts = multiaddr(text).getComponents()
    return parts.map((part) => ({ name: part.name, value: part.value ?? '' }))
  } catch (cause) {
    throw invalid(text, 'it is not a multiaddr', cause)
  }
}

function requireTcp(text: string, [host, port]: readonly Component[]): void {
  if (host === undefined || !hostProtocols.includes(host.name) || port?.name !== 'tcp') {
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
  throw new ServiceError('P2P_ADDRESS_INVALID', problems.join('; '), { remedy })
}

const remedy =
  "Write a peer as /ip4/<address>/tcp/9171/p2p/<peer id>, with the ID from its health endpoint (.p2p.self.id), and an address of this node's own without the peer ID."

function invalid(text: string, why: string, cause?: unknown): ServiceError {
  const address = text.slice(0, 200)
  const message = `cannot use the address "${address}": ${why}`
  return new ServiceError('P2P_ADDRESS_INVALID', message, { facts: { address }, remedy, cause })
}
