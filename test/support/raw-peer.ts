/**
 * A libp2p node that keeps to no rules of ours: it opens streams and sends whatever a test wants,
 * or serves the range protocol the way a test says.
 */
import { identify } from '@libp2p/identify'
import type { Connection, MessageStream, Stream, StreamMuxerFactory } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { AbstractStreamMuxer, type LengthPrefixedStream, lpStream } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { rangeProtocol } from '../../src/p2p/peers/networks.ts'
import { testNetwork } from './p2p-room.ts'

export const gossipProtocol = '/meshsub/1.2.0'

/** Puts the length before a frame. */
export function lengthPrefixed(frame: Uint8Array): Uint8Array {
  return Buffer.concat([lengthOf(frame.byteLength), frame])
}

/** The length of a frame as it stands before it, an unsigned varint. */
export function lengthOf(bytes: number): Uint8Array {
  const head: number[] = []
  let left = bytes
  while (left >= 0x80) {
    head.push((left % 0x80) | 0x80)
    left = Math.floor(left / 0x80)
  }
  return Uint8Array.of(...head, left)
}

export interface RawPeer {
  readonly id: string
  readonly address: string
  /** Connects where it is not connected; rejects when the other side refuses. */
  dial(address: string): Promise<Connection>
  /** Opens one more connection. */
  dialAgain(address: string): Promise<Connection>
  /** Closes all connections but one. */
  dropOthers(kept: Connection): Promise<void>
  /** Sends bytes below the streams, on the newest connection: yamux frames, or none. */
  sendFrames(bytes: Uint8Array): void
  /** Opens a stream with an own protocol on an existing or new connection. */
  open(address: string, protocol: string): Promise<Stream>
  /** Opens a stream of the range protocol. */
  range(address: string): Promise<LengthPrefixedStream>
  /** Answers incoming range streams. */
  serveRange(answer: (frames: LengthPrefixedStream, stream: Stream) => Promise<void>): Promise<void>
  /** Takes incoming streams of a protocol. */
  take(protocol: string, take: (stream: Stream) => unknown): Promise<void>
}

interface RawPeerSetup {
  /** The loopback address it dials from, so that one machine plays several; 127.0.0.1 by default. */
  readonly from?: string
  /** Never answers on streams that others open. */
  readonly isDeaf?: boolean
  /** Gets the frames below the streams as they come; there are no streams then. */
  readonly onFrames?: (bytes: Uint8Array) => void
}

/** A muxer without streams: what comes goes to the test. */
class FramesOnly extends AbstractStreamMuxer {
  readonly #onFrames: (bytes: Uint8Array) => void

  constructor(connection: MessageStream, onFrames: (bytes: Uint8Array) => void) {
    super(connection, { protocol: '/yamux/1.0.0', name: 'frames' })
    this.#onFrames = onFrames
  }

  override onData(data: Uint8Array | { subarray(): Uint8Array }): void {
    this.#onFrames(data.subarray())
  }

  override onCreateStream(): never {
    throw new Error('there are no streams')
  }
}

export async function openRawPeer(
  t: { after(close: () => unknown): void },
  setup: RawPeerSetup = {},
): Promise<RawPeer> {
  const dialOpts = { noDelay: true, localAddress: setup.from ?? '127.0.0.1' }
  const inner = yamux()()
  let newest: MessageStream | undefined
  const muxer: StreamMuxerFactory = {
    protocol: inner.protocol,
    createStreamMuxer: (connection) => {
      newest = connection
      if (setup.onFrames !== undefined) return new FramesOnly(connection, setup.onFrames)
      const answering = inner.createStreamMuxer(connection)
      // libp2p learns of streams by this event.
      if (setup.isDeaf === true) Object.assign(answering, { onRemoteStream: () => undefined })
      return answering
    },
  }
  const node = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp({ dialOpts })],
    connectionEncrypters: [noise()],
    streamMuxers: [() => muxer],
    services: { identify: identify() },
  })
  t.after(() => node.stop())
  const open = (address: string, protocol: string): Promise<Stream> =>
    node.dialProtocol(multiaddr(address), protocol, { maxOutboundStreams: 1000 })
  return {
    id: node.peerId.toString(),
    address: String(node.getMultiaddrs()[0]),
    dial: (address) => node.dial(multiaddr(address)),
    dropOthers: async (kept) => {
      const others = node.getConnections().filter(({ id }) => id !== kept.id)
      for (const connection of others) await connection.close()
    },
    sendFrames: (bytes) => {
      newest?.send(bytes)
    },
    dialAgain: (address) => node.dial(multiaddr(address), { force: true }),
    open,
    range: async (address) => lpStream(await open(address, rangeProtocol(testNetwork))),
    serveRange: (answer) =>
      node.handle(rangeProtocol(testNetwork), (stream) => answer(lpStream(stream), stream)),
    take: (protocol, take) => node.handle(protocol, (stream) => void take(stream)),
  }
}
