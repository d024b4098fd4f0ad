/**
 * Multiaddrs as settings, checked without libp2p: TCP over an IP address or a DNS name, which is what our nodes dial and
 * listen on. What is accepted here libp2p takes, so that of a file that others fill one line harms no other.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { isPeerID } from './peer-id-text.ts'
import { kind, type SettingKind, scalarText } from './setting-kinds.ts'

interface Parts {
  readonly protocol: string
  readonly host: string
  readonly port: number
  readonly peerId: string | null
}

const dnsNamePattern = /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/

/** Where to listen: an IP address, a port, no peer ID. */
export const listenMultiaddr: SettingKind<string> = multiaddrKind(
  '/ip4/<address>/tcp/<port> or /ip6/<address>/tcp/<port>',
  ({ protocol, peerId }) => protocol.startsWith('ip') && peerId === null,
)

/** A peer to dial: it must end in the peer ID that the connection is checked against. */
export const peerMultiaddr: SettingKind<string> = multiaddrKind(
  '/ip4/<address>/tcp/<port>/p2p/<peer id> (also ip6, dns4, dns6, dns), with the peer ID that the health endpoint of that node shows under p2p.self.id',
  ({ peerId, port }) => peerId !== null && port !== 0,
)

/** An address announced to peers, with or without a peer ID. */
export const anyMultiaddr: SettingKind<string> = multiaddrKind(
  '/ip4/<address>/tcp/<port> (also ip6, dns4, dns6, dns)',
  ({ port }) => port !== 0,
)

function multiaddrKind(
  accepts: string,
  isAccepted: (parts: Parts) => boolean,
): SettingKind<string> {
  return kind(accepts, (value) => {
    const found = scalarText(value)
    const parts = found === undefined ? null : parseMultiaddr(found)
    return parts !== null && isAccepted(parts) ? found : undefined
  })
}

function parseMultiaddr(text: string): Parts | null {
  const match = /^\/(ip4|ip6|dns|dns4|dns6)\/([^/]+)\/tcp\/(\d{1,5})(?:\/p2p\/([^/]+))?$/.exec(text)
  if (match === null) return null
  const [, protocol = '', host = '', digits = '', peerId = null] = match
  const port = Number(digits)
  if (port > 65_535 || !isHost(protocol, host)) return null
  return peerId === null || isPeerID(peerId) ? { protocol, host, port, peerId } : null
}

function isHost(protocol: string, host: string): boolean {
  if (protocol === 'ip4') return isIPv4(host)
  return protocol === 'ip6' ? isIPv6(host) : dnsNamePattern.test(host)
}
