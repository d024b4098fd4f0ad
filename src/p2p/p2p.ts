/**
 * The peer-to-peer room: one libp2p node that spreads sealed blocks by gossip, serves and pulls
 * ranges of them, keeps its bootstrap peers connected and its hostile ones out. Blocks are opaque
 * bytes here; what is in them is the program's business.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { invariant, type ServiceError } from '../errors.ts'
import { createGossip, type Gossip } from './gossip/gossip.ts'
import { defaultLimits, type P2pLimits } from './limits/limits.ts'
import { createP2pMetrics } from './limits/metrics.ts'
import {
  createNode,
  createPeerSweep,
  openStream,
  type P2pNode,
  startNode,
  streamsPerConnection,
} from './node.ts'
import { parsePeerAddresses, withoutPeer } from './peers/address.ts'
import type { Range } from './peers/announcements.ts'
import { type Bootstrap, createBootstrap } from './peers/bootstrap.ts'
import { createOwnAddresses, type OwnAddresses } from './peers/own-addresses.ts'
import {
  createPeerBook,
  type PeerBook,
  type PeerEvent,
  type PeerRecord,
} from './peers/peer-book.ts'
import type { OnMessage, Verdict } from './peers/verdict.ts'
import { createRangeClient, type RangeClient } from './range/range-client.ts'
import { type BlockSource, createRangeServer, type RangeServer } from './range/range-server.ts'
import {
  type Answerer,
  type Answers,
  type Asker,
  createAnswerer,
  createAsker,
  type QuestionName,
  questionNames,
  questionProtocol,
} from './streams/questions.ts'

export interface P2pOptions {
  /** 32 bytes of which the Ed25519 node key and the peer ID follow. */
  readonly peerSeed: Uint8Array
  /** For instance `/ip4/0.0.0.0/tcp/9171`; port 0 takes any free one. */
  readonly listen: readonly string[]
  /** Addresses under which others reach this node, listed before its own; none by default. */
  readonly announce?: readonly string[]
  /** Peers to stay connected with; addresses that end in `/p2p/<peer id>`. This node's own is skipped. */
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
  readonly onBlock?: OnMessage
  /** Judges each signed head that arrives by gossip. A program without it does not listen to them. */
  readonly onHead?: OnMessage
  /** What this node answers to questions. */
  readonly answers: Answers
}

/** A connected peer. */
export interface PeerInfo extends PeerRecord {
  readonly id: string
  /** Where it is connected from or to, without the `/p2p/` suffix. */
  readonly addresses: readonly string[]
  /** True when it takes part in the gossip of blocks, so that it gets what is published. */
  readonly subscribed: boolean
  /** True for a configured peer. */
  readonly bootstrap: boolean
}

export interface P2p {
  /** Largest block in bytes that `publish` takes; above it publish the seals alone. */
  readonly maxGossipBytes: number
  /** Addresses are without the `/p2p/` suffix: announced ones first, then one for each interface. */
  self(): { readonly id: string; readonly addresses: readonly string[] }
  peers(): readonly PeerInfo[]
  /** P2P_PEER_ID_MISMATCH for each bootstrap peer in whose place somebody else answers now. */
  mismatches(): readonly ServiceError[]
  /** Gossips one block; publishing the same bytes again does nothing. Throws P2P_MESSAGE_TOO_LARGE. */
  publish(bytes: Uint8Array): Promise<void>
  /** Gossips one signed head. Throws P2P_MESSAGE_TOO_LARGE. */
  publishHead(bytes: Uint8Array): Promise<void>
  /** Asks a connected peer; the answer is unopened. Throws P2P_ASK_FAILED; an abort throws the signal's reason. */
  ask(
    peer: string,
    name: QuestionName,
    question: Uint8Array,
    signal: AbortSignal,
  ): Promise<Uint8Array>
  /**
   * The blocks `from` to `to` that a connected peer has, ascending, gaps left out. Reads no faster
   * than it is iterated. Throws P2P_PULL_FAILED; an abort throws the signal's reason.
   */
  pull(peer: string, from: number, to: number, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Asks a connected peer for its heights. Throws P2P_PULL_FAILED. */
  status(peer: string, signal: AbortSignal): Promise<Range | null>
  /**
   * Applies the verdict on a pulled block (those on gossiped blocks are applied already): accepting
   * restores score and makes the peer's heights count from now on, rejecting is a fault.
   */
  judge(peer: string, verdict: Verdict): void
  /** Reports a fault that only the program can see; the reason goes to the log. */
  penalise(peer: string, reason: string): void
  /** Calls the listener from now on; returns the function that ends it. */
  onPeer(listener: (event: PeerEvent) => void): () => void
  /** The highest height that connected peers announce of which a block was accepted; null without any. */
  highestAnnounced(): number | null
  /** Replaces the bootstrap peers. Throws P2P_ADDRESS_INVALID and then changes nothing. */
  setBootstrapPeers(addresses: readonly string[]): void
  /** Replaces the announced addresses. Throws P2P_ADDRESS_INVALID and then changes nothing. */
  setAnnounce(addresses: readonly string[]): void
  /** Leaves within two seconds, whatever the peers do; once, however often it is called. */
  close(): Promise<void>
}

/** Name of the protocol that serves ranges of blocks. */
export function rangeProtocol(network: string): string {
  return `/viewmesh/${network}/range/1`
}

const closeMs = 1500
/**
 * Keeps libp2p from dropping a bootstrap peer when there are too many connections. Not one of its
 * `keep-alive` tags: those make it dial whatever addresses the peer told about itself.
 */
const bootstrapTag = 'bootstrap'

/**
 * Opens the node and listens. Throws P2P_ADDRESS_INVALID for bad addresses of any kind before
 * anything is opened, and P2P_LISTEN_FAILED where it cannot listen.
 */
export async function openP2p(options: P2pOptions, parts: P2pParts): Promise<P2p> {
  const limits: P2pLimits = { ...defaultLimits, ...options.limits }
  invariant(limits.windowBytes >= 2 * limits.maxFrameBytes, 'the window holds two frames')
  const bootstrapPeers = parsePeerAddresses(options.bootstrapPeers)
  const own = createOwnAddresses(options.listen, options.announce ?? [])
  const room = await assemble(options, parts, limits, own)
  await connectParts(room, options.network, limits, parts.log)
  await startNode(room.node, options.listen)
  room.gossip.start(room.node.services.pubsub)
  room.bootstrap.set(bootstrapPeers)
  const p2p = expose(room, limits, own)
  parts.log.info(p2p.self(), 'listening for peers')
  return p2p
}

/** The parts of the room in the order in which they depend on each other. */
interface Room {
  readonly book: PeerBook
  readonly gossip: Gossip
  readonly server: RangeServer
  readonly client: RangeClient
  readonly ask: Asker
  readonly answer: Answerer
  readonly node: P2pNode
  readonly bootstrap: Bootstrap
  readonly closing: AbortController
}

async function assemble(
  options: P2pOptions,
  { log, registry, source, onBlock, onHead, answers }: P2pParts,
  limits: P2pLimits,
  own: OwnAddresses,
): Promise<Room> {
  const metrics = createP2pMetrics(registry, {
    peers: () => node.getPeers().length,
    activeStreams: () => server.activeStreams(),
    banned: () => book.bans(),
  })
  const disconnect = (peer: string, reason: string): void => {
    const connections = node.getConnections(peerIdFromString(peer))
    for (const connection of connections) connection.abort(new Error(reason))
  }
  const book = createPeerBook(limits, { log, metrics, disconnect })
  const watch = { onFault: book.fault, onStatus: book.status, onVerdict: book.verdict }
  const gossip = createGossip(
    { network: options.network, limits },
    {
      ...watch,
      log,
      metrics,
      disconnect,
      connections: () => node.getConnections(),
      isBanned: book.isBanned,
      checks: {
        ...(onBlock !== undefined && { block: onBlock }),
        ...(onHead !== undefined && { head: onHead }),
      },
    },
  )
  const server = createRangeServer(limits, { ...watch, log, metrics, source })
  const protocol = rangeProtocol(options.network)
  const client = createRangeClient(limits, {
    ...watch,
    metrics,
    openStream: (peer, signal) => openStream(node, peer, protocol, signal),
    ownRange: () => source.range(),
  })
  const answer = createAnswerer(limits, { ...watch, log, answers })
  const ask = createAsker(limits, {
    ...watch,
    openStream: (peer, name, signal) =>
      openStream(node, peer, questionProtocol(options.network, name), signal),
  })
  const node = await createNode(
    { peerSeed: options.peerSeed, listen: options.listen, limits },
    { pubsub: gossip.service, isBanned: book.isBanned, withAnnounced: own.withAnnounced },
  )
  const bootstrap = createBootstrap(node.peerId.toString(), limits, {
    log,
    metrics,
    dial: (address, signal) => node.dial(address, { signal }),
    isConnected: (id) => node.getConnections(id).length > 0,
    isBanned: book.isBanned,
    tag: async (id, keep) => {
      const tags = { [bootstrapTag]: keep ? { value: 100 } : undefined }
      await node.peerStore.merge(id, { tags })
    },
  })
  const closing = new AbortController()
  return { book, gossip, server, client, ask, answer, node, bootstrap, closing }
}

/** Leads what the node reports to the parts it concerns. */
async function connectParts(
  room: Room,
  network: string,
  limits: P2pLimits,
  log: Logger,
): Promise<void> {
  const { book, bootstrap, closing, node, server } = room
  const protocol = rangeProtocol(network)
  const refresh = createRefresh(room, log)
  const { gone, sweep } = createPeerSweep(node, bootstrap.has)
  node.addEventListener('peer:identify', ({ detail }) => {
    const peer = detail.peerId.toString()
    if (!detail.protocols.includes(protocol)) {
      const level = bootstrap.has(peer) ? 'warn' : 'debug'
      log[level]({ peer, network }, 'a connected peer does not serve our network')
      return
    }
    book.connected(peer)
    void refresh(peer)
  })
  node.addEventListener('peer:disconnect', ({ detail }) => {
    const peer = detail.toString()
    book.disconnected(peer)
    bootstrap.disconnected(peer)
    gone(detail)
  })
  node.addEventListener('start', () => {
    const timer = setInterval(() => {
      for (const peer of book.serving()) void refresh(peer)
      sweep().catch((error: unknown) => log.debug({ err: error }, 'peers could not be forgotten'))
    }, limits.statusIntervalMs)
    closing.signal.addEventListener('abort', () => clearInterval(timer))
  })
  await node.handle(
    protocol,
    (stream, connection) => server.serve(connection.remotePeer.toString(), stream),
    { maxInboundStreams: streamsPerConnection },
  )
  for (const name of questionNames) {
    await node.handle(
      questionProtocol(network, name),
      (stream, connection) => room.answer(name, connection.remotePeer.toString(), stream),
      { maxInboundStreams: streamsPerConnection },
    )
  }
}

/** Asks a peer for its heights, once at a time; a failure is the log's business alone. */
function createRefresh(room: Room, log: Logger): (peer: string) => Promise<void> {
  const asking = new Set<string>()
  return async (peer) => {
    if (asking.has(peer)) return
    asking.add(peer)
    try {
      await room.client.status(peer, room.closing.signal)
    } catch (error) {
      log.debug({ err: error, peer }, 'a peer did not tell its heights')
    } finally {
      asking.delete(peer)
    }
  }
}

function expose(room: Room, limits: P2pLimits, own: OwnAddresses): P2p {
  const { book, bootstrap, client, closing, gossip, node } = room
  let closed: Promise<void> | undefined
  const untilClosed = (signal: AbortSignal): AbortSignal =>
    AbortSignal.any([signal, closing.signal])
  return {
    maxGossipBytes: limits.maxGossipBytes,
    self: () => ({ id: node.peerId.toString(), addresses: own.list(node.getMultiaddrs()) }),
    peers: () => {
      const readers = gossip.readers(node.services.pubsub)
      return node.getPeers().map((id) => ({
        id: id.toString(),
        subscribed: readers.has(id.toString()),
        bootstrap: bootstrap.has(id.toString()),
        addresses: node.getConnections(id).map((connection) => withoutPeer(connection.remoteAddr)),
        ...book.record(id.toString()),
      }))
    },
    mismatches: bootstrap.mismatches,
    publish: (bytes) => gossip.publish(node.services.pubsub, 'block', bytes),
    publishHead: (bytes) => gossip.publish(node.services.pubsub, 'head', bytes),
    ask: (peer, name, question, signal) => room.ask(peer, name, question, untilClosed(signal)),
    pull: (peer, from, to, signal) => client.pull(peer, from, to, untilClosed(signal)),
    status: (peer, signal) => client.status(peer, untilClosed(signal)),
    judge: book.verdict,
    penalise: (peer, reason) => book.fault(peer, 'reported', reason),
    onPeer: book.onPeer,
    highestAnnounced: book.highestAnnounced,
    setBootstrapPeers: (addresses) => bootstrap.set(parsePeerAddresses(addresses)),
    setAnnounce: own.setAnnounced,
    close: () => {
      closed ??= closeRoom(room)
      return closed
    },
  }
}

async function closeRoom({ bootstrap, closing, node, server }: Room): Promise<void> {
  closing.abort(new Error('the node is closing'))
  bootstrap.close()
  server.close()
  const stopped = new AbortController()
  const tooLong = delay(closeMs, undefined, { signal: stopped.signal })
  try {
    await Promise.race([node.stop(), tooLong])
  } finally {
    stopped.abort()
  }
}
