/**
 * Sealed blocks and signed heads over gossipsub, each on a topic of its own. Nothing is forwarded before the program has given its verdict, and
 * what a peer may send meanwhile is bounded in size, rate and number.
 *
 * Messages carry no signature of their own (StrictNoSign): the seals inside are signed by the
 * Generator that made them, so an envelope signed by whoever published would prove nothing more,
 * would cost each node a signature check on its main thread, and would give one block as many
 * message IDs as publishers. Here the ID is the SHA-256 of the data: one block, one ID.
 */
import { hash } from 'node:crypto'
import {
  type GossipSub,
  type GossipSubComponents,
  gossipsub,
  type Message,
  TopicValidatorResult,
} from '@libp2p/gossipsub'
import type { PeerId } from '@libp2p/interface'
import type { Logger } from 'pino'
import { invariant, ServiceError } from '../../errors.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import type { OnMessage, Verdict } from '../peers/verdict.ts'
import {
  createUnreadWatch,
  envelopeBytes,
  type GossipStreamParts,
  gossipStreams,
  maxRpcBytes,
  messageBytes,
  meterInbound,
} from './gossip-streams.ts'

/** What travels, each kind on its topic. */
export type MessageKind = 'block' | 'head'

export interface GossipParts extends GossipStreamParts {
  readonly log: Logger
  readonly metrics: P2pMetrics
  /** A program that only publishes a kind leaves its check out, and does not subscribe. */
  readonly checks: Readonly<Partial<Record<MessageKind, OnMessage>>>
  isBanned(peer: string): boolean
  onVerdict(peer: string, verdict: Verdict): void
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
const maxHeadBytes = 512

export function createGossip(
  { network, limits }: { readonly network: string; readonly limits: P2pLimits },
  parts: GossipParts,
): Gossip {
  const topics = { block: topicOf(network, 'block'), head: topicOf(network, 'head') }
  const maxBytes = { block: limits.maxGossipBytes, head: maxHeadBytes }
  const maxData = maxRpcBytes - envelopeBytes
  invariant(limits.maxGossipBytes <= maxData, 'gossipsub sends messages of this size')
  const service = gossipsub({
    globalSignaturePolicy: 'StrictNoSign',
    msgIdFn: (message) => hash('sha256', message.data, 'buffer'),
    allowedTopics: Object.values(topics),
    allowPublishToZeroTopicPeers: true,
    ignoreDuplicatePublishError: true,
    fallbackToFloodsub: false,
    emitSelf: false,
    doPX: false,
    maxInboundDataLength: maxRpcBytes,
    maxOutboundBufferSize: limits.maxGossipBacklogBytes,
    decodeRpcLimits: rpcLimits,
    // One score table of our own: these two would lower gossipsub's score of peers behind one NAT.
    scoreParams: { IPColocationFactorWeight: 0, behaviourPenaltyWeight: 0 },
  })
  const metered = { ...limits, maxMessageBytes: messageBytes(topics.block, maxBytes.block) }
  const watchUnread = createUnreadWatch(parts)

  return {
    service: (components) => service(meterInbound(components, metered, parts)),
    start: (pubsub) => {
      pubsub.addEventListener('gossipsub:heartbeat', watchUnread)
      for (const kind of kinds) {
        const check = parts.checks[kind]
        if (check === undefined) continue
        const validate = createValidator({ ...limits, maxBytes: maxBytes[kind] }, check, parts)
        pubsub.topicValidators.set(topics[kind], validate)
        pubsub.subscribe(topics[kind])
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

function tooLarge(bytes: number, maxBytes: number): ServiceError {
  const facts = { bytes, maxBytes }
  return new ServiceError('P2P_MESSAGE_TOO_LARGE', 'a message is above the gossip limit', {
    facts,
    remedy: 'Publish the seals alone; peers pull the block.',
  })
}

function createValidator(
  limits: P2pLimits & { readonly maxBytes: number },
  check: OnMessage,
  parts: GossipParts,
): (sender: PeerId, message: Message) => Promise<TopicValidatorResult> {
  const pending = new Map<string, number>()
  let pendingBytes = 0

  const judge = async (bytes: Uint8Array, peer: string): Promise<Verdict> => {
    const count = pending.get(peer) ?? 0
    pending.set(peer, count + 1)
    pendingBytes += bytes.byteLength
    try {
      return await askProgram(bytes, peer, check, parts)
    } finally {
      pendingBytes -= bytes.byteLength
      const left = (pending.get(peer) ?? 1) - 1
      if (left === 0) pending.delete(peer)
      else pending.set(peer, left)
    }
  }

  return async (sender, message) => {
    const peer = sender.toString()
    const size = message.data.byteLength
    if (size > limits.maxBytes) return TopicValidatorResult.Reject
    const full = pendingBytes + size > limits.pendingBytes
    if (full || (pending.get(peer) ?? 0) >= limits.pendingPerPeer || parts.isBanned(peer)) {
      parts.metrics.messages.inc({ verdict: 'dropped' })
      return TopicValidatorResult.Ignore
    }
    const verdict = await judge(new Uint8Array(message.data), peer)
    parts.metrics.messages.inc({ verdict: verdict.action })
    parts.onVerdict(peer, verdict)
    return results[verdict.action]
  }
}

const results: Readonly<Record<Verdict['action'], TopicValidatorResult>> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
}

async function askProgram(
  bytes: Uint8Array,
  peer: string,
  check: OnMessage,
  parts: GossipParts,
): Promise<Verdict> {
  try {
    return await check(bytes, { peer, via: 'gossip' })
  } catch (error) {
    parts.log.error({ err: error, peer }, 'a message could not be judged')
    return { action: 'ignore', reason: 'the verdict failed' }
  }
}
