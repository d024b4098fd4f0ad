/**
 * Multiaddrs as settings, checked by their syntax only: TCP over an IP address or a DNS name,
 * which is what our nodes dial and listen on.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { kind, type SettingKind, scalarText } from './setting-kinds.ts'

interface Parts {
  readonly protocol: string
  readonly host: string
  readonly port: number
  readonly peerId: string | null
}

/** Ed25519 and secp256k1 IDs: they contain the key the connection is checked against, RSA's do not. */
const peerIdPattern = /^(?:12D3KooW[1-9A-HJ-NP-Za-km-z]{44}|16Uiu2HA[1-9A-HJ-NP-Za-km-z]{45})$/
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
  return peerId === null || peerIdPattern.test(peerId) ? { protocol, host, port, peerId } : null
}

function isHost(protocol: string, host: string): boolean {
  if (protocol === 'ip4') return isIPv4(host)
  return protocol === 'ip6' ? isIPv6(host) : dnsNamePattern.test(host)
}
