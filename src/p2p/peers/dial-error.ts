/**
 * Turns what libp2p and the operating system say about a failed dial into the words operators
 * know and the service page documents.
 */
import type { Multiaddr } from '@multiformats/multiaddr'
import { ServiceError } from '../../errors.ts'
import { withoutPeer } from './address.ts'

/** Why one address could not be used. */
export interface DialCause {
  /** Without the `/p2p/` suffix. */
  readonly address: string
  /** For instance `dial tcp4 10.0.0.1:9171: i/o timeout`. */
  readonly text: string
  /** The short reason, one of a fixed set, for the metric. */
  readonly reason: DialReason
}

type DialReason =
  | 'mismatch'
  | 'timeout'
  | 'refused'
  | 'no route'
  | 'unknown name'
  | 'not a peer'
  | 'closed'
  | 'other'

const causesByCode: Readonly<Record<string, readonly [DialReason, string]>> = {
  ECONNREFUSED: ['refused', 'connect: connection refused'],
  EHOSTUNREACH: ['no route', 'connect: no route to host'],
  ENETUNREACH: ['no route', 'connect: network is unreachable'],
  ETIMEDOUT: ['timeout', 'i/o timeout'],
  ECONNRESET: ['not a peer', 'connection reset by peer'],
  ENOTFOUND: ['unknown name', 'lookup: no such host'],
  EAI_AGAIN: ['unknown name', 'lookup: temporary failure in name resolution'],
}

const mismatchPattern =
  /Payload identity key (\S+) does not match expected remote identity key (\S+)/

/** Explains the failure of a dial to one address; `timedOut` says that our own deadline ended it. */
export function dialCause(address: Multiaddr, error: unknown, timedOut: boolean): DialCause {
  const place = withoutPeer(address)
  const { code, message, name } = describe(error)
  const prefix = `dial ${endpoint(place)}`
  const mismatch = mismatchPattern.exec(message)
  if (mismatch !== null) {
    return {
      address: place,
      text: mismatchText(`${mismatch[2]}`, `${mismatch[1]}`),
      reason: 'mismatch',
    }
  }
  const known = causesByCode[code]
  if (known !== undefined)
    return { address: place, text: `${prefix}: ${known[1]}`, reason: known[0] }
  if (timedOut || name === 'TimeoutError') {
    return { address: place, text: `${prefix}: i/o timeout`, reason: 'timeout' }
  }
  if (name === 'EncryptionFailedError' || name === 'MuxerUnavailableError') {
    const text = `${prefix}: failed to negotiate security protocol: ${message}`
    return { address: place, text, reason: 'not a peer' }
  }
  return { address: place, text: `${prefix}: ${message}`, reason: 'other' }
}

/** A peer that answered at this address, and whose connection ended soon. */
export function closedCause(address: Multiaddr): DialCause {
  const place = withoutPeer(address)
  const text = `dial ${endpoint(place)}: connected, and the connection ended soon`
  return { address: place, text, reason: 'closed' }
}

/** The documented words for a peer that is not who the address says. */
function mismatchText(expected: string, actual: string): string {
  return `peer id mismatch: expected ${expected}, but remote key matches ${actual}`
}

/**
 * The error for a peer none of whose addresses worked: P2P_PEER_ID_MISMATCH when somebody else
 * answered at every one of them, else P2P_ALL_DIALS_FAILED with each cause in the facts.
 */
export function dialError(peer: string, causes: readonly DialCause[]): ServiceError {
  const mismatch = causes.find((cause) => cause.reason === 'mismatch')
  if (mismatch !== undefined && causes.every((cause) => cause.reason === 'mismatch')) {
    return new ServiceError('P2P_PEER_ID_MISMATCH', mismatch.text, {
      facts: { peer, address: mismatch.address },
      remedy:
        "Take the current ID from the Generator's health endpoint (.p2p.self.id) and set BOOTSTRAP_PEERS.",
    })
  }
  const list = causes.map((cause) => `[${cause.address}] ${cause.text}`).join('; ')
  return new ServiceError('P2P_ALL_DIALS_FAILED', 'all dials failed', {
    facts: { peer, causes: list },
    remedy:
      'Confirm that the Generator is up and that outbound port 9171 is open; an IPv6-only machine needs a dual-stack host or NAT64/DNS64.',
  })
}

function describe(error: unknown): { code: string; message: string; name: string } {
  if (!(error instanceof Error)) return { code: '', message: String(error), name: '' }
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0])
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return { code, message: error.message.slice(0, 300), name: error.name }
}

/** `tcp4 10.0.0.1:9171` from `/ip4/10.0.0.1/tcp/9171`. */
function endpoint(address: string): string {
  const [, kind = '', host = '', , port = ''] = address.split('/')
  if (kind === 'ip6') return `tcp6 [${host}]:${port}`
  return `${kind === 'ip4' ? 'tcp4' : 'tcp'} ${host}:${port}`
}
