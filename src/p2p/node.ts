/** The libp2p node: transport, encryption, multiplexing and services, with their limits. */
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { GossipSub, GossipSubComponents } from '@libp2p/gossipsub'
import { type Identify, identify } from '@libp2p/identify'
import type { ConnectionGater, Libp2p, PeerId, Stream } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Ping, ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import type { Multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { messageOf, ServiceError } from '../errors.ts'
import type { ReceivedMeter } from './connections/received-meter.ts'
import type { P2pLimits } from './limits/limits.ts'
import { type Intercept, withIntercept } from './streams/inbound.ts'

export type P2pNode = Libp2p<{ identify: Identify; ping: Ping; pubsub: GossipSub }>

interface NodeOptions {
  /** 32 bytes; the Ed25519 key and with it the peer ID follow from it. */
  readonly peerSeed: Uint8Array
  readonly listen: readonly string[]
  readonly limits: Pick<P2pLimits, 'dialTimeoutMs'>
}

interface NodeParts {
  readonly pubsub: (components: GossipSubComponents) => GossipSub
  /** Decides who is let in; libp2p's own bounds are switched off. */
  readonly gater: ConnectionGater
  readonly meter: ReceivedMeter
  /** Appends the addresses to announce to those the node found itself. */
  withAnnounced(found: readonly Multiaddr[]): Multiaddr[]
}

/** A peer without a pong for so long is gone; less would take a busy machine for a dead one. */
const pingTimeoutMs = 20_000
const pingIntervalMs = 15_000
/** Bytes that one ping stream may bring; each ping is 32, and ours are one to a stream. */
export const maxPingBytes: number = 1024
/** Bytes of what a peer says of itself when it connects: its addresses and protocols. */
export const maxIdentifyBytes: number = 8 * 1024
/** Streams of all protocols on one connection, in each direction. */
export const streamsPerConnection = 32
/** Largest window of a stream, and with it the largest frame on a connection: what a pull may have under way. */
export const streamWindowBytes: number = 1024 * 1024

/** Makes the node without starting it. */
export async function createNode(options: NodeOptions, parts: NodeParts): Promise<P2pNode> {
  const unbounded = Number.POSITIVE_INFINITY
  const muxer = yamux({
    maxInboundStreams: streamsPerConnection,
    maxOutboundStreams: streamsPerConnection,
    streamOptions: { maxStreamWindowSize: streamWindowBytes },
  })
  return await createLibp2p({
    start: false,
    privateKey: await generateKeyPairFromSeed('Ed25519', options.peerSeed),
    nodeInfo: { name: 'viewmesh', version: '1', userAgent: 'viewmesh' },
    addresses: { listen: [...options.listen], announceFilter: parts.withAnnounced },
    transports: [tcp()],
    connectionEncrypters: [(components) => parts.meter.encrypter(noise()(components))],
    streamMuxers: [() => parts.meter.muxer(muxer())],
    connectionGater: parts.gater,
    connectionManager: {
      maxConnections: unbounded,
      inboundConnectionThreshold: unbounded,
      maxIncomingPendingConnections: unbounded,
      dialTimeout: options.limits.dialTimeoutMs,
    },
    connectionMonitor: {
      pingInterval: pingIntervalMs,
      pingTimeout: { minTimeout: pingTimeoutMs },
    },
    services: {
      identify: identify({ maxMessageSize: maxIdentifyBytes }),
      ping: ({ registrar, connectionManager }: GossipSubComponents): Ping =>
        ping()({ registrar: withIntercept(registrar, boundPings), connectionManager }),
      pubsub: parts.pubsub,
    },
  })
}

/** Ends ping streams that bring too much: libp2p keeps whatever it cannot answer yet. */
const boundPings: Intercept = (stream, connection, next) => {
  const answered = next(stream, connection)
  let received = 0
  // Only now: a first listener of ours would take the bytes before the handler listens.
  stream.addEventListener('message', ({ data }) => {
    received += data.byteLength
    if (received > maxPingBytes) stream.abort(new Error('too many pings on one stream'))
  })
  return answered
}

/** Throws P2P_LISTEN_FAILED, leaving nothing open. */
export async function startNode(node: P2pNode, listen: readonly string[]): Promise<void> {
  try {
    await node.start()
  } catch (cause) {
    const text = messageOf(cause)
    const reason = /\bE[A-Z]{3,}\b/.exec(text)?.[0] ?? 'not possible'
    const place = listen.join(', ')
    throw new ServiceError('P2P_LISTEN_FAILED', `cannot listen on ${place}: ${reason}`, {
      facts: { listen: place, reason },
      remedy: 'Stop the program that has the port, or set DB_P2P_LISTEN_ADDR to another address.',
      cause,
    })
  }
}

/** Gone peers after which the node forgets them without waiting. */
const maxGone = 64

/**
 * Makes the node forget peers that have gone: its peer store keeps everybody it ever met for hours,
 * and a peer ID costs an attacker nothing. Peers named by `keep` stay. Call `sweep` now and then,
 * not at the moment of the disconnect, when gossipsub still reads its record; `gone` returns true when
 * many wait for it.
 */
export function createPeerSweep(
  node: Pick<P2pNode, 'getConnections' | 'peerStore'>,
  keep: (peer: string) => boolean,
): { gone(id: PeerId): boolean; sweep(): Promise<void> } {
  const gone = new Map<string, PeerId>()
  return {
    gone: (id) => {
      gone.set(id.toString(), id)
      return gone.size === maxGone
    },
    sweep: async () => {
      const leaving = [...gone.values()]
      gone.clear()
      for (const id of leaving) {
        if (node.getConnections(id).length > 0 || keep(id.toString())) continue
        await node.peerStore.delete(id)
      }
    },
  }
}

/** Opens a stream on a connection that exists; a peer that is not connected is not dialled. */
export async function openStream(
  node: P2pNode,
  peer: string,
  protocol: string,
  signal: AbortSignal,
): Promise<Stream> {
  const connections = node.getConnections(peerIdFromString(peer))
  const connection = connections.find((candidate) => candidate.status === 'open')
  if (connection === undefined) throw new Error('the peer is not connected')
  return await connection.newStream(protocol, { signal })
}
