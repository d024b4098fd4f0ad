/**
 * The two ends of gossipsub's streams that it does not look after itself: what peers send before it
 * is understood, and what they do not read.
 */
import type { GossipSubComponents } from '@libp2p/gossipsub'
import type { Connection, Stream } from '@libp2p/interface'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import { createRateLimit, type RateLimit } from '../limits/rate.ts'
import { createRpcMeter } from './rpc-meter.ts'

export interface GossipStreamParts {
  readonly metrics: Pick<P2pMetrics, 'gossipBytes'>
  onFault(peer: string, fault: Fault, detail: string): void
  /** Ends all connections to a peer. */
  disconnect(peer: string, reason: string): void
  /** The open connections. */
  connections(): readonly Connection[]
}

/** gossipsub reads no longer frames, and sends none: longer ones are lost without a word. */
export const maxRpcBytes: number = 4 * 1024 * 1024
/** Topic and field headers around the data of one message. */
export const envelopeBytes: number = 1024

/**
 * Bytes of a published message with this much data: under StrictNoSign it holds data and topic, two
 * length-delimited fields with tags of one byte (libp2p pubsub specification, "The Message").
 */
export function messageBytes(topic: string, dataBytes: number): number {
  const field = (bytes: number): number => 1 + Math.ceil((32 - Math.clz32(bytes)) / 7) + bytes
  return field(Buffer.byteLength(topic)) + field(dataBytes)
}

/**
 * Hands gossipsub a registrar that puts a meter on each gossip stream a peer opens; see
 * `messageBytes` for `maxMessageBytes`.
 */
export function meterInbound(
  components: GossipSubComponents,
  limits: P2pLimits & { readonly maxMessageBytes: number },
  parts: GossipStreamParts,
): GossipSubComponents {
  const { privateKey, peerId, peerStore, connectionManager, logger, registrar } = components
  const rate = createRateLimit(limits.gossipBytesPerSecond, limits.maxRemembered)
  const metered: typeof registrar = Object.create(registrar, {
    handle: {
      value: (...[protocol, handler, options]: Parameters<typeof registrar.handle>) =>
        registrar.handle(
          protocol,
          (stream, connection) => {
            const result = handler(stream, connection)
            // Only now: a first listener of our own would take the bytes before gossipsub listens.
            meter(stream, connection.remotePeer.toString(), limits, rate, parts)
            return result
          },
          options,
        ),
    },
  })
  return { privateKey, peerId, peerStore, connectionManager, logger, registrar: metered }
}

function meter(
  stream: Stream,
  peer: string,
  { maxMessageBytes }: { readonly maxMessageBytes: number },
  rate: RateLimit,
  parts: GossipStreamParts,
): void {
  const rpc = createRpcMeter({ maxFrameBytes: maxRpcBytes, maxMessageBytes })
  const onMessage = (event: { data: Uint8Array | { subarray(): Uint8Array } }): void => {
    const bytes = event.data.subarray()
    parts.metrics.gossipBytes.inc({ direction: 'received' }, bytes.byteLength)
    const faults = rpc.push(bytes)
    for (const fault of faults) parts.onFault(peer, fault, 'gossip')
    // gossipsub would go on with a stream it cannot follow, or give it up and keep the connection.
    if (rpc.lost() || faults.includes('oversize message')) parts.disconnect(peer, 'gossip')
    if (rate.take(peer, bytes.byteLength)) return
    parts.onFault(peer, 'message flood', 'gossip above the rate limit')
  }
  stream.addEventListener('message', onMessage)
}

/**
 * Notices when gossipsub gives up a stream because its peer does not read. The connection would
 * stay, and the peer would never get gossip again; cut off, it can connect anew and catch up. The
 * returned function looks for new streams; call it now and then.
 */
export function createUnreadWatch(parts: GossipStreamParts): () => void {
  const watched = new WeakSet<Stream>()
  const watch = (connection: Connection): void => {
    const peer = connection.remotePeer.toString()
    for (const stream of gossipStreams(connection).filter((open) => !watched.has(open))) {
      watched.add(stream)
      stream.addEventListener('close', (event) => {
        if (event.error?.name !== 'StreamBufferError') return
        parts.onFault(peer, 'unread gossip', 'too many bytes are queued for it')
        parts.disconnect(peer, 'unread gossip')
      })
    }
  }
  return () => parts.connections().forEach(watch)
}

/** The streams on which we send gossip to the peer; one, as a rule. */
export function gossipStreams({ streams }: Connection): Stream[] {
  return streams.filter(
    ({ direction, protocol }) => direction === 'outbound' && protocol.startsWith('/meshsub/'),
  )
}
