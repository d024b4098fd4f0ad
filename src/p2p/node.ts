/** The libp2p node: transport, encryption, multiplexing and services, with their limits. */
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { GossipSub, GossipSubComponents } from '@libp2p/gossipsub'
import { type Identify, identify } from '@libp2p/identify'
import type { ConnectionGater, Libp2p } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { type Ping, ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import type { Multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import type { P2pLimits } from './limits.ts'

export type P2pNode = Libp2p<{ identify: Identify; ping: Ping; pubsub: GossipSub }>

export interface NodeOptions {
  /** 32 bytes; the Ed25519 key and with it the peer ID follow from it. */
  readonly peerSeed: Uint8Array
  readonly listen: readonly string[]
  readonly limits: P2pLimits
}

export interface NodeParts {
  readonly pubsub: (components: GossipSubComponents) => GossipSub
  readonly gater: ConnectionGater
  /** Appends the addresses to announce to those the node found itself. */
  announce(found: Multiaddr[]): Multiaddr[]
}

/** A reader this slow is gone; less would take a busy machine for a dead one. */
const pingTimeoutMs = 20_000
const pingIntervalMs = 15_000
const streamsPerConnection = 64

/** Makes the node without starting it. */
export async function createNode(options: NodeOptions, parts: NodeParts): Promise<P2pNode> {
  const { limits } = options
  return await createLibp2p({
    start: false,
    privateKey: await generateKeyPairFromSeed('Ed25519', options.peerSeed),
    nodeInfo: { name: 'viewmesh', version: '1', userAgent: 'viewmesh' },
    addresses: { listen: [...options.listen], announceFilter: parts.announce },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [
      yamux({ maxInboundStreams: streamsPerConnection, maxOutboundStreams: streamsPerConnection }),
    ],
    connectionGater: parts.gater,
    connectionManager: {
      maxConnections: limits.maxConnections,
      inboundConnectionThreshold: limits.connectionsPerSecond,
      maxIncomingPendingConnections: 32,
      dialTimeout: limits.dialTimeoutMs,
      reconnectRetries: 3,
      reconnectRetryInterval: limits.redialMinMs,
    },
    connectionMonitor: {
      pingInterval: pingIntervalMs,
      pingTimeout: { minTimeout: pingTimeoutMs },
    },
    services: { identify: identify(), ping: ping(), pubsub: parts.pubsub },
  })
}
