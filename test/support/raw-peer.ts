/**
 * A libp2p node that keeps to no rules of ours: it opens streams and sends whatever a test wants,
 * or serves the range protocol the way a test says.
 */
import type { TestContext } from 'node:test'
import { identify } from '@libp2p/identify'
import type { Connection, Stream } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { type LengthPrefixedStream, lpStream } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { rangeProtocol } from '../../src/p2p/p2p.ts'
import { testNetwork } from './p2p-room.ts'

export const gossipProtocol = '/meshsub/1.2.0'

/** Puts the length before a frame, as an unsigned varint. */
export function lengthPrefixed(frame: Uint8Array): Uint8Array {
  const head: number[] = []
  let left = frame.byteLength
  while (left >= 0x80) {
    head.push((left % 0x80) | 0x80)
    left = Math.floor(left / 0x80)
  }
  return Uint8Array.of(...head, left, ...frame)
}

export interface RawPeer {
  readonly id: string
  readonly address: string
  /** Connects where it is not connected; rejects when the other side refuses. */
  dial(address: string): Promise<Connection>
  /** Opens a stream with an own protocol on an existing or new connection. */
  open(address: string, protocol: string): Promise<Stream>
  /** Opens a stream of the range protocol. */
  range(address: string): Promise<LengthPrefixedStream>
  /** Answers incoming range streams. */
  serveRange(answer: (frames: LengthPrefixedStream, stream: Stream) => Promise<void>): Promise<void>
  /** Takes incoming gossip streams. */
  takeGossip(take: (stream: Stream) => void): Promise<void>
}

export async function openRawPeer(t: TestContext): Promise<RawPeer> {
  const node = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
  })
  t.after(() => node.stop())
  const open = (address: string, protocol: string): Promise<Stream> =>
    node.dialProtocol(multiaddr(address), protocol, { maxOutboundStreams: 1000 })
  return {
    id: node.peerId.toString(),
    address: String(node.getMultiaddrs()[0]),
    dial: (address) => node.dial(multiaddr(address)),
    open,
    range: async (address) => lpStream(await open(address, rangeProtocol(testNetwork))),
    serveRange: (answer) =>
      node.handle(rangeProtocol(testNetwork), (stream) => answer(lpStream(stream), stream)),
    takeGossip: (take) => node.handle(gossipProtocol, (stream) => take(stream)),
  }
}
