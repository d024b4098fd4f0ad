/**
 * The peer-to-peer room: one libp2p node that spreads sealed blocks by gossip, serves and pulls
 * ranges of them, keeps its bootstrap peers connected and its hostile ones out. Blocks are opaque
 * bytes here; what is in them is the program's business.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { invariant, type ServiceError } from '../errors.ts'
import { defaultLimits, type P2pLimits } from './limits/limits.ts'
import { startNode } from './node.ts'
import { parsePeerAddresses, withoutPeer } from './peers/address.ts'
import type { Range } from './peers/announcements.ts'
import { createOwnAddresses, type OwnAddresses } from './peers/own-addresses.ts'
import type { PeerEvent, PeerRecord } from './peers/peer-book.ts'
import type { OnMessage, PeerVerdict } from './peers/verdict.ts'
import { blockFrameOverhead, minPartBytes } from './range/range-frames.ts'
import type { BlockSource } from './range/range-server.ts'
import { assembleStack, closeStack, connectStack, type Stack } from './stack.ts'
import type { ChannelClient, ChannelHandlers } from './streams/channels.ts'
import type { RequestHandlers, RequestName } from './streams/requests.ts'

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
  /** Validates each block that arrives by gossip. A program without it publishes and serves only. */
  readonly onBlock?: OnMessage
  /** Validates each signed head that arrives by gossip. A program without it does not listen to them. */
  readonly onHead?: OnMessage
  /** How this node responds to requests. */
  readonly handlers: RequestHandlers
  /** Which channels this node serves; none by default. */
  readonly channels?: ChannelHandlers
}

/** A connected peer. */
interface PeerInfo extends PeerRecord {
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
  /** Those of its addresses that are announced. */
  announced(): readonly string[]
  peers(): readonly PeerInfo[]
  /**
   * What lasts about bootstrap peers: P2P_PEER_ID_MISMATCH where somebody else answers in a peer's place,
   * P2P_ALL_DIALS_FAILED once a peer has been out of reach for a minute, and P2P_OTHER_NETWORK for a
   * connected one. One error a peer, each with its remedy.
   */
  failures(): readonly ServiceError[]
  /** Gossips one block; publishing the same bytes again does nothing. Throws P2P_MESSAGE_TOO_LARGE. */
  publish(bytes: Uint8Array): Promise<void>
  /** Gossips one signed head. Throws P2P_MESSAGE_TOO_LARGE. */
  publishHead(bytes: Uint8Array): Promise<void>
  /** Asks a connected peer; the answer is unopened. Throws P2P_ASK_FAILED; an abort throws the signal's reason. */
  request(
    peer: string,
    name: RequestName,
    question: Uint8Array,
    signal: AbortSignal,
  ): Promise<Uint8Array>
  /**
   * The blocks `from` to `to` that a connected peer has, ascending, gaps left out. Reads no faster
   * than it is iterated. Throws P2P_PULL_FAILED; an abort throws the signal's reason.
   */
  pull(peer: string, from: number, to: number, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Opens a channel to a connected peer; see `ChannelClient`. It ends when the node closes. */
  readonly openChannel: ChannelClient
  /** Asks a connected peer for its heights. Throws P2P_PULL_FAILED. */
  status(peer: string, signal: AbortSignal): Promise<Range | null>
  /**
   * Applies the verdict on a pulled block (those on gossiped blocks are applied already): accepting
   * restores score and makes the peer's heights count from now on, rejecting is a fault.
   */
  applyVerdict(peer: string, verdict: PeerVerdict): void
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

/**
 * Opens the node and listens. Throws P2P_ADDRESS_INVALID for bad addresses of any kind before
 * anything is opened, and P2P_LISTEN_FAILED where it cannot listen.
 */
export async function openP2p(options: P2pOptions, parts: P2pParts): Promise<P2p> {
  const limits: P2pLimits = { ...defaultLimits, ...options.limits }
  invariant(limits.windowBytes >= 2 * limits.maxFrameBytes, 'the window holds two frames')
  const framePart = limits.maxFrameBytes - blockFrameOverhead
  invariant(framePart >= minPartBytes, 'a frame holds the smallest part')
  const bootstrapPeers = parsePeerAddresses(options.bootstrapPeers)
  const own = createOwnAddresses(options.listen, options.announce ?? [])
  const stack = await assembleStack({ ...options, limits }, { channels: {}, ...parts, own })
  await connectStack(stack, { ...options, limits }, parts.log)
  await startNode(stack.node, options.listen)
  stack.gossip.start(stack.node.services.pubsub)
  stack.bootstrap.set(bootstrapPeers)
  const p2p = expose(stack, limits, own)
  parts.log.info(p2p.self(), 'listening for peers')
  return p2p
}

function expose(stack: Stack, limits: P2pLimits, own: OwnAddresses): P2p {
  const { book, bootstrap, client, closing, gossip, node } = stack
  let closed: Promise<void> | undefined
  const untilClosed = (signal: AbortSignal): AbortSignal =>
    AbortSignal.any([signal, closing.signal])
  return {
    maxGossipBytes: limits.maxGossipBytes,
    self: () => ({ id: node.peerId.toString(), addresses: own.list(node.getMultiaddrs()) }),
    announced: own.announced,
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
    failures: () => [
      ...bootstrap.unreachable(),
      ...node
        .getPeers()
        .map(String)
        .filter(bootstrap.has)
        .flatMap((peer) => stack.networks.error(peer) ?? []),
    ],
    publish: (bytes) => gossip.publish(node.services.pubsub, 'block', bytes),
    publishHead: (bytes) => gossip.publish(node.services.pubsub, 'head', bytes),
    request: (peer, name, question, signal) =>
      stack.request(peer, name, question, untilClosed(signal)),
    pull: (peer, from, to, signal) => client.pull(peer, from, to, untilClosed(signal)),
    openChannel: (peer, name, channelOptions, signal) =>
      stack.openChannel(peer, name, channelOptions, untilClosed(signal)),
    status: (peer, signal) => client.status(peer, untilClosed(signal)),
    applyVerdict: book.verdict,
    penalise: (peer, reason) => book.fault(peer, 'reported', reason),
    onPeer: book.onPeer,
    highestAnnounced: book.highestAnnounced,
    setBootstrapPeers: (addresses) => bootstrap.set(parsePeerAddresses(addresses)),
    setAnnounce: own.setAnnounced,
    close: () => {
      closed ??= closeStack(stack)
      return closed
    },
  }
}
