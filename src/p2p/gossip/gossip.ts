/**
 * Sealed blocks and signed heads over gossipsub, each on a topic of its own. Nothing is forwarded
 * before the program has given its verdict, and what a peer may send meanwhile is bounded in size,
 * rate and number.
 *
 * Messages carry no signature of their own (StrictNoSign): the seals inside are signed by the
 * Generator that made them, so an envelope signed by the publisher would prove nothing more,
 * would cost each node a signature check on its main thread, and would give one block as many
 * message IDs as publishers. Here the ID is the SHA-256 of topic and data: one block, one ID.
 */
import { type GossipSub, type GossipSubComponents, gossipsub } from '@libp2p/gossipsub'
import type { Stream } from '@libp2p/interface'
import type { Logger } from 'pino'
import { invariant, ServiceError } from '../../errors.ts'
import { createBudget } from '../limits/budget.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import { createRates } from '../limits/rates.ts'
import type { OnMessage } from '../peers/verdict.ts'
import { type Intercept, withIntercept } from '../streams/inbound.ts'
import { type GossipFramesParts, gossipFrames, maxRpcBytes } from './gossip-frames.ts'
import { createInbox, type Inbox, type InboxParts, type Listening, seenMs } from './inbox.ts'
import { createOutbound, type Outbound } from './outbound.ts'
import { createUnreadWatch, gossipStreams, type UnreadParts } from './unread.ts'

/** What travels, each kind on its topic. */
export type MessageKind = 'block' | 'head'

interface GossipParts extends UnreadParts, Omit<InboxParts, 'topics'> {
  readonly log: Logger
  readonly metrics: P2pMetrics
  onFrame(peer: string): void
  /** A program that only publishes a kind leaves its check out, and does not subscribe. */
  readonly checks: Readonly<Partial<Record<MessageKind, OnMessage>>>
}

export interface Gossip {
  /** The libp2p service; give it to the node. */
  readonly service: (components: GossipSubComponents) => GossipSub
  /** Begins to receive; call when the node has started. */
  start(pubsub: GossipSub): void
  /** Throws P2P_MESSAGE_TOO_LARGE above the limit. */
  publish(pubsub: GossipSub, kind: MessageKind, bytes: Uint8Array): Promise<void>
  /** The peers that get what is published. */
  readers(pubsub: GossipSub): ReadonlySet<string>
}

/** Two topics are all a peer can subscribe to, and one heartbeat's gossip is short. */
const rpcLimits = {
  maxSubscriptions: 32,
  maxMessages: 1024,
  maxIhaveMessageIDs: 1024,
  maxIwantMessageIDs: 1024,
  maxControlMessages: 128,
  maxIdontwantMessageIDs: 512,
  maxPeerInfos: 16,
}

/** Name of the topic of a kind of messages. */
export function topicOf(network: string, kind: MessageKind): string {
  return `/viewmesh/${network}/${kind}/1`
}

const kinds: readonly MessageKind[] = ['block', 'head']
/** Largest signed head in bytes. */
export const maxHeadBytes: number = 512
/** Topic and field headers around the data of one message. */
const envelopeBytes = 1024
/** Gossip streams that one peer may have open towards us: one on each connection. */
const streamsPerPeer = 2

export function createGossip(
  { network, limits }: { readonly network: string; readonly limits: P2pLimits },
  parts: GossipParts,
): Gossip {
  const topics = { block: topicOf(network, 'block'), head: topicOf(network, 'head') }
  const maxBytes = { block: limits.maxGossipBytes, head: maxHeadBytes }
  invariant(limits.maxGossipBytes <= maxRpcBytes - envelopeBytes, 'gossipsub sends such messages')
  const listened = kinds.flatMap((kind): [string, Listening][] => {
    const check = parts.checks[kind]
    return check === undefined ? [] : [[topics[kind], { check, maxBytes: maxBytes[kind] }]]
  })
  const inbox = createInbox(limits, { ...parts, topics: new Map(listened) })
  const service = createService(Object.values(topics), limits, inbox)
  const rateOptions = { maxRemotes: limits.maxRemembered }
  const outbound = createOutbound({ ...parts, timeoutMs: limits.pullStallMs })
  const intercept = createIntercept({
    ...parts,
    outbound,
    inbox,
    bytes: createRates(limits.gossipBytes, rateOptions),
    messages: createRates(limits.gossipMessages, rateOptions),
    partial: createBudget(limits.partialBytes),
    stallMs: limits.stallMs,
  })
  const watchUnread = createUnreadWatch(limits, parts)

  return {
    service: ({ privateKey, peerId, peerStore, connectionManager, logger, registrar }) => {
      const guarded = withIntercept(outbound.register(registrar), intercept)
      return service({
        privateKey,
        peerId,
        peerStore,
        connectionManager,
        logger,
        registrar: guarded,
      })
    },
    start: (pubsub) => {
      pubsub.addEventListener('gossipsub:heartbeat', watchUnread)
      pubsub.addEventListener('gossipsub:heartbeat', outbound.renew)
      for (const [topic] of listened) {
        pubsub.topicValidators.set(topic, inbox.validate)
        pubsub.subscribe(topic)
      }
    },
    publish: async (pubsub, kind, bytes) => {
      if (bytes.byteLength > maxBytes[kind]) throw tooLarge(bytes.byteLength, maxBytes[kind])
      watchUnread()
      const { recipients } = await pubsub.publish(topics[kind], bytes)
      parts.metrics.gossipBytes.inc({ direction: 'sent' }, bytes.byteLength)
      const facts = { kind, bytes: bytes.byteLength, peers: recipients.length }
      parts.log.debug(facts, 'message published')
    },
    readers: (pubsub) => {
      const subscribed = new Set(pubsub.getSubscribers(topics.block).map(String))
      const open = parts.connections().filter((each) => gossipStreams(each).length > 0)
      const peers = open.map(({ remotePeer }) => remotePeer.toString())
      return new Set(peers.filter((peer) => subscribed.has(peer)))
    },
  }
}

function createService(
  allowedTopics: string[],
  limits: P2pLimits,
  inbox: Inbox,
): (components: GossipSubComponents) => GossipSub {
  return gossipsub({
    globalSignaturePolicy: 'StrictNoSign',
    msgIdFn: inbox.idOf,
    seenTTL: seenMs,
    allowedTopics,
    allowPublishToZeroTopicPeers: true,
    ignoreDuplicatePublishError: true,
    fallbackToFloodsub: false,
    doPX: false,
    maxInboundDataLength: maxRpcBytes,
    maxOutboundBufferSize: limits.maxGossipBacklogBytes,
    decodeRpcLimits: rpcLimits,
    // One score table of our own: these two would lower gossipsub's score of peers behind one NAT.
    scoreParams: { IPColocationFactorWeight: 0, behaviourPenaltyWeight: 0 },
  })
}

/**
 * Gives gossipsub the frames it may read instead of the stream. A peer that opens a stream too many
 * loses its oldest; gossipsub would go on reading it.
 */
function createIntercept(
  parts: GossipFramesParts & { readonly outbound: Pick<Outbound, 'open' | 'silent'> },
): Intercept {
  const open = new Map<string, Set<Stream>>()
  return (stream, connection, next) => {
    const peer = connection.remotePeer.toString()
    const own = open.get(peer) ?? new Set()
    open.set(peer, own.add(stream))
    stream.addEventListener('close', () => {
      own.delete(stream)
      if (own.size === 0 && open.get(peer) === own) open.delete(peer)
    })
    const [oldest] = own
    if (own.size > streamsPerPeer) oldest?.abort(new Error('a newer stream takes its place'))
    next(readOnly(stream, gossipFrames(stream, peer, parts)), parts.outbound.silent(connection))
    parts.outbound.open(connection)
  }
}

/** A stream of which gossipsub needs its bytes and its two ways to end. */
function readOnly(stream: Stream, bytes: AsyncIterable<Uint8Array>): Stream {
  const needed: Pick<Stream, 'close' | 'abort' | typeof Symbol.asyncIterator> = {
    close: (options) => stream.close(options),
    abort: (error) => stream.abort(error),
    [Symbol.asyncIterator]: () => bytes[Symbol.asyncIterator](),
  }
  return needed as Stream
}

function tooLarge(bytes: number, maxBytes: number): ServiceError {
  const facts = { bytes, maxBytes }
  return new ServiceError('P2P_MESSAGE_TOO_LARGE', 'a message is above the gossip limit', {
    facts,
    remedy: 'Publish the seals alone; peers pull the block.',
  })
}
