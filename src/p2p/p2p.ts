/**
 * The peer-to-peer room: one libp2p node that spreads sealed blocks by gossip, serves and pulls
 * ranges of them, keeps its bootstrap peers connected and its hostile ones out. Blocks are opaque
 * bytes here; what is in them is the program's business.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection, PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { invariant, ServiceError } from '../errors.ts'
import {
  expandWildcards,
  parseAnnounceAddresses,
  parsePeerAddresses,
  withoutPeer,
} from './address.ts'
import { createAnnouncements } from './announcements.ts'
import { type Bootstrap, createBootstrap } from './bootstrap.ts'
import { createGossip, type OnBlock, type Verdict } from './gossip.ts'
import { defaultLimits, type P2pLimits } from './limits.ts'
import { createP2pMetrics } from './metrics.ts'
import { createNode, type P2pNode } from './node.ts'
import { createRangeClient } from './range-client.ts'
import type { Range } from './range-frames.ts'
import { type BlockSource, createRangeServer } from './range-server.ts'
import { createScoreTable, type Fault } from './score.ts'

export interface P2pOptions {
  /** 32 bytes of which the Ed25519 node key and the peer ID follow. */
  readonly peerSeed: Uint8Array
  /** For instance `/ip4/0.0.0.0/tcp/9171`; port 0 takes any free one. */
  readonly listen: readonly string[]
  /** Addresses under which others reach this node, listed before its own; none by default. */
  readonly announce?: readonly string[]
  /** Peers to stay connected with; a list of addresses that end in `/p2p/<peer id>`. */
  readonly bootstrapPeers: readonly string[]
  /** `<Chain>__<Network>`; peers of other networks share no topic and no protocol with us. */
  readonly network: string
  readonly limits?: Partial<P2pLimits>
}

export interface P2pParts {
  readonly log: Logger
  readonly registry: Registry
  readonly source: BlockSource
  /** Judges each block that arrives by gossip. A program without it publishes and serves only. */
  readonly onBlock?: OnBlock
}

/** A connected peer. */
export interface PeerInfo {
  readonly id: string
  /** Where it is connected from or to, without the `/p2p/` suffix. */
  readonly addresses: readonly string[]
  /** What it says it can serve; null until it said so. */
  readonly announced: Range | null
  /** True once a block of it was accepted; only then its heights count. */
  readonly verified: boolean
  /** From 0 down to the ban threshold. */
  readonly score: number
}

/** `connected` comes when the peer's protocols are known, `announced` when its heights change. */
export interface PeerEvent {
  readonly type: 'connected' | 'announced' | 'disconnected'
  readonly peer: string
  readonly announced: Range | null
}

export interface P2p {
  /** Largest block in bytes that `publish` takes; above it publish the seals alone. */
  readonly maxGossipBytes: number
  /** Addresses are without the `/p2p/` suffix: announced ones first, then one for each interface. */
  self(): { readonly id: string; readonly addresses: readonly string[] }
  peers(): readonly PeerInfo[]
  /** Gossips one block; publishing the same bytes again does nothing. Throws P2P_MESSAGE_TOO_LARGE. */
  publish(bytes: Uint8Array): Promise<void>
  /**
   * The blocks `from` to `to` that a connected peer has, ascending, gaps left out. Reads no faster
   * than it is iterated. Throws P2P_PULL_FAILED; an abort throws the signal's reason.
   */
  pull(peer: string, from: number, to: number, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Asks a connected peer for its heights. Throws P2P_PULL_FAILED. */
  status(peer: string, signal: AbortSignal): Promise<Range | null>
  /**
   * Applies the verdict on a pulled block, or on one judged later than `onBlock` answered: accepting
   * restores score and makes the peer's heights count, rejecting is a fault.
   */
  judge(peer: string, verdict: Verdict): void
  /** Reports a fault that only the program can see; the reason goes to the log. */
  penalise(peer: string, reason: string): void
  /** Calls the listener from now on; returns the function that ends it. */
  onPeer(listener: (event: PeerEvent) => void): () => void
  /** The highest height that connected peers announce of which a block was verified; null when none does. */
  highestAnnounced(): number | null
  /** Replaces the bootstrap peers. Throws P2P_ADDRESS_INVALID and then changes nothing. */
  setBootstrapPeers(addresses: readonly string[]): void
  /** Replaces the announced addresses. Throws P2P_ADDRESS_INVALID and then changes nothing. */
  setAnnounce(addresses: readonly string[]): void
  /** Leaves within two seconds, whatever the peers do. */
  close(): Promise<void>
}

/** Name of the protocol that serves ranges of blocks. */
export function rangeProtocol(network: string): string {
  return `/viewmesh/${network}/range/1`
}

const closeMs = 1500
const bootstrapTag = 'keep-alive-bootstrap'

/**
 * Opens the node and listens. Throws P2P_ADDRESS_INVALID for a bad address of any kind, before
 * anything is opened, and P2P_LISTEN_FAILED where it cannot listen.
 */
export async function openP2p(options: P2pOptions, parts: P2pParts): Promise<P2p> {
  const { log, source } = parts
  const limits: P2pLimits = { ...defaultLimits, ...options.limits }
  invariant(limits.windowBytes >= 2 * limits.maxFrameBytes, 'the window holds two frames')
  const firstPeers = parsePeerAddresses(options.bootstrapPeers)
  let announced = parseAnnounceAddresses(options.announce ?? [])
  for (const address of options.listen) parseListenAddress(address)

  const protocol = rangeProtocol(options.network)
  const scores = createScoreTable(limits)
  const announcements = createAnnouncements(limits.maxRemembered)
  const listeners = new Set<(event: PeerEvent) => void>()
  const closing = new AbortController()
  let bootstrap: Bootstrap | undefined

  const metrics = createP2pMetrics(parts.registry, {
    peers: () => node.getPeers().length,
    activeStreams: () => server.activeStreams(),
    banned: () => scores.bans(),
  })

  const emit = (type: PeerEvent['type'], peer: string): void => {
    const event = { type, peer, announced: announcements.of(peer) }
    for (const listener of listeners) listener(event)
  }

  const connections = (peer: string): Connection[] => node.getConnections(peerIdFromString(peer))

  const disconnect = (peer: string, reason: string): void => {
    for (const connection of connections(peer)) connection.abort(new Error(reason))
  }

  const onFault = (peer: string, fault: Fault, detail: string): void => {
    if (scores.isBanned(peer)) return
    const { score, banned } = scores.fault(peer, fault)
    metrics.faults.inc({ fault })
    log.warn({ peer, fault, detail, score }, 'peer fault')
    if (!banned) return
    metrics.bans.inc()
    announcements.distrust(peer)
    log.warn({ peer, reason: fault, banMs: limits.banMs }, 'peer disconnected and banned')
    disconnect(peer, 'banned')
  }

  const onStatus = (peer: string, status: Range | null): void => {
    if (announcements.announce(peer, status)) emit('announced', peer)
  }

  const onVerdict = (peer: string, verdict: Verdict): void => {
    if (verdict.action === 'reject') onFault(peer, 'rejected block', verdict.reason)
    if (verdict.action === 'ignore') log.debug({ peer, reason: verdict.reason }, 'block ignored')
    if (verdict.action !== 'accept') return
    scores.honest(peer)
    announcements.verify(peer)
    if (verdict.height === undefined) return
    if (announcements.raise(peer, verdict.height)) emit('announced', peer)
  }

  const count = (direction: 'received' | 'sent') => (blocks: number, bytes: number) => {
    metrics.pulledBlocks.inc({ direction }, blocks)
    metrics.pulledBytes.inc({ direction }, bytes)
  }

  const server = createRangeServer(limits, { source, onStatus, onFault, onSent: count('sent') })
  const client = createRangeClient(limits, {
    openStream: async (peer, signal) => {
      const connection = connections(peer).find((candidate) => candidate.status === 'open')
      if (connection === undefined) throw new Error('the peer is not connected')
      const deadline = AbortSignal.timeout(limits.stallMs)
      return connection.newStream(protocol, { signal: AbortSignal.any([signal, deadline]) })
    },
    ownRange: () => source.range(),
    onStatus,
    onFault,
    onReceived: count('received'),
  })
  const gossip = createGossip(options.network, limits, {
    log,
    metrics,
    ...(parts.onBlock === undefined ? {} : { onBlock: parts.onBlock }),
    isBanned: scores.isBanned,
    onVerdict,
    onFault,
    disconnect,
  })
  const isBanned = (id: PeerId): boolean => scores.isBanned(id.toString())
  const node = await createNode(
    { peerSeed: options.peerSeed, listen: options.listen, limits },
    {
      pubsub: gossip.service,
      gater: { denyDialPeer: isBanned, denyInboundEncryptedConnection: isBanned },
      announce: (found) => [...found, ...announced],
    },
  )
  const self = node.peerId.toString()

  const refresh = async (peer: string): Promise<void> => {
    try {
      await client.status(peer, closing.signal)
    } catch (error) {
      log.debug({ err: error, peer }, 'a peer did not tell its heights')
    }
  }

  node.addEventListener('peer:identify', ({ detail }) => {
    const peer = detail.peerId.toString()
    if (!detail.protocols.includes(protocol)) return reportStranger(log, peer, options.network)
    log.info({ peer, direction: detail.connection.direction }, 'peer connected')
    emit('connected', peer)
    void refresh(peer)
  })
  node.addEventListener('peer:disconnect', ({ detail }) => {
    const peer = detail.toString()
    announcements.disconnected(peer)
    server.forget(peer)
    bootstrap?.disconnected(peer)
    log.info({ peer }, 'peer disconnected')
    emit('disconnected', peer)
  })

  await node.handle(
    protocol,
    (stream, connection) => server.serve(connection.remotePeer.toString(), stream),
    { maxInboundStreams: 2 * limits.streamsPerPeer },
  )
  await startNode(node, options.listen)
  gossip.start(node.services.pubsub)
  for (const name of node.services.pubsub.protocols) {
    node.use(name, (stream, connection, next) => {
      if (stream.direction === 'outbound') gossip.watchOutbound(stream, connection)
      next(stream, connection)
    })
  }

  bootstrap = createBootstrap(self, limits, {
    log,
    dial: (address, signal) => node.dial(address, { signal }),
    isConnected: (id) => node.getConnections(id).length > 0,
    isBanned: scores.isBanned,
    tag: async (id, keep) => {
      const tags = { [bootstrapTag]: keep ? { value: 100 } : undefined }
      await node.peerStore.merge(id, { tags })
    },
    onFailure: (cause) => metrics.dialFailures.inc({ reason: cause.reason }),
  })
  bootstrap.set(firstPeers)

  const statusTimer = setInterval(() => {
    for (const id of node.getPeers()) void refresh(id.toString())
  }, limits.statusIntervalMs)

  const addresses = (): string[] => {
    const listening = options.listen.map((text) => withActualPort(text, node.getMultiaddrs()))
    const own = [...announced.map(String), ...expandWildcards(listening)]
    return [...new Set(own)]
  }
  log.info({ peer: self, addresses: addresses() }, 'listening for peers')

  return {
    maxGossipBytes: limits.maxGossipBytes,
    self: () => ({ id: self, addresses: addresses() }),
    peers: () =>
      node.getPeers().map((id) => {
        const peer = id.toString()
        return {
          id: peer,
          addresses: node
            .getConnections(id)
            .map((connection) => withoutPeer(connection.remoteAddr)),
          announced: announcements.of(peer),
          verified: announcements.isVerified(peer),
          score: scores.score(peer),
        }
      }),
    publish: (bytes) => gossip.publish(node.services.pubsub, bytes),
    pull: (peer, from, to, signal) =>
      client.pull(peer, from, to, AbortSignal.any([signal, closing.signal])),
    status: (peer, signal) => client.status(peer, AbortSignal.any([signal, closing.signal])),
    judge: onVerdict,
    penalise: (peer, reason) => onFault(peer, 'reported', reason),
    onPeer: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    highestAnnounced: announcements.highest,
    setBootstrapPeers: (list) => bootstrap.set(parsePeerAddresses(list)),
    setAnnounce: (list) => {
      announced = parseAnnounceAddresses(list)
    },
    close: async () => {
      clearInterval(statusTimer)
      bootstrap.close()
      closing.abort(new Error('the node is closing'))
      server.close()
      await Promise.race([node.stop(), delay(closeMs, undefined, { ref: false })])
    },
  }
}

async function startNode(node: P2pNode, listen: readonly string[]): Promise<void> {
  try {
    await node.start()
  } catch (cause) {
    await node.stop()
    const text = cause instanceof Error ? cause.message : String(cause)
    const reason = /\bE[A-Z]{3,}\b/.exec(text)?.[0] ?? 'not possible'
    throw new ServiceError(
      'P2P_LISTEN_FAILED',
      `cannot listen on ${listen.join(', ')}: ${reason}`,
      {
        facts: { listen: listen.join(', '), reason },
        remedy: 'Stop the program that has the port, or set DB_P2P_LISTEN_ADDR to another address.',
        cause,
      },
    )
  }
}

function reportStranger(log: Logger, peer: string, network: string): void {
  log.warn({ peer, network }, 'a connected peer does not serve our network')
}

function parseListenAddress(address: string): void {
  try {
    multiaddr(address)
  } catch (cause) {
    throw new ServiceError(
      'P2P_ADDRESS_INVALID',
      `cannot listen on "${address}": it is not a multiaddr`,
      {
        facts: { address },
        remedy: 'Write it as /ip4/0.0.0.0/tcp/9171.',
        cause,
      },
    )
  }
}

/** The configured address with the port that the system chose where the configured one is 0. */
function withActualPort(configured: string, actual: readonly Multiaddr[]): string {
  if (!configured.endsWith('/tcp/0')) return configured
  const family = configured.split('/')[1]
  const port = actual
    .map((address) => /^\/(ip[46])\/[^/]+\/tcp\/(\d+)/.exec(address.toString()))
    .find((match) => match?.[1] === family)?.[2]
  return configured.replace(/\/tcp\/0$/, `/tcp/${port ?? 0}`)
}
