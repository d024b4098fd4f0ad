/**
 * Reads the frames of an inbound gossip stream for gossipsub, which would read anything as fast as it
 * comes. Frames above the sender's budget are dropped, broken ones never get there, and only frames
 * that arrive in pieces are kept, a bounded sum of them for a bounded time.
 */
import type { Stream } from '@libp2p/interface'
import type { Budget } from '../limits/budget.ts'
import type { Fault } from '../limits/fault.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import type { Rates } from '../limits/rates.ts'
import type { Remote } from '../limits/remote.ts'
import { createFrameCutter } from './frame-cutter.ts'
import type { Inbox } from './inbox.ts'
import { readRpc } from './rpc.ts'

/** gossipsub reads no longer frames, and sends none: longer ones are lost silently. */
export const maxRpcBytes: number = 4 * 1024 * 1024

export interface GossipFramesParts {
  readonly metrics: Pick<P2pMetrics, 'gossipBytes' | 'messages'>
  readonly bytes: Pick<Rates, 'take'>
  readonly messages: Pick<Rates, 'take'>
  readonly partial: Pick<Budget, 'open'>
  readonly inbox: Pick<Inbox, 'offer'>
  /** How long a frame may take. */
  readonly stallMs: number
  remoteOf(peer: string): Remote
  /** A peer sent a frame, which takes a few microseconds to look at whatever becomes of it. */
  onFrame(peer: string): void
  onFault(peer: string, fault: Fault, detail: string): void
  /** Ends all connections to a peer. */
  disconnect(peer: string, reason: string): void
}

/**
 * The frames that gossipsub may read, each after its length, until the stream ends or cannot be
 * followed any more: views on the bytes that arrived.
 */
export async function* gossipFrames(
  stream: Stream,
  peer: string,
  parts: GossipFramesParts,
): AsyncGenerator<Uint8Array> {
  const cutter = createFrameCutter(maxRpcBytes, {
    admit: (size) => {
      parts.onFrame(peer)
      return parts.bytes.take(parts.remoteOf(peer), size)
    },
    reservation: () => parts.partial.open(parts.remoteOf(peer)),
    onDropped: () => parts.metrics.messages.inc({ verdict: 'dropped' }),
  })
  const stalled = createStallTimer(parts.stallMs, () => {
    parts.onFault(peer, 'stalled writer', 'a gossip frame that is not finished')
    stream.abort(new Error('a gossip frame was not finished in time'))
  })

  /** What gossipsub may have of a frame: its messages one by one, so that each can be left out. */
  const wanted = (frame: Uint8Array): readonly Uint8Array[] => {
    const rpc = readRpc(frame)
    if (rpc.fault !== null) {
      parts.onFault(peer, rpc.fault, 'gossip')
      return []
    }
    if (!parts.messages.take(parts.remoteOf(peer), rpc.cost)) {
      parts.metrics.messages.inc({ verdict: 'dropped' })
      return []
    }
    const messages = rpc.messages.filter(({ topic, data }) => parts.inbox.offer(peer, topic, data))
    const fields = messages.map(({ field }) => field)
    return rpc.rest.byteLength === 0 ? fields : [rpc.rest, ...fields]
  }

  try {
    for await (const data of stream) {
      parts.metrics.gossipBytes.inc({ direction: 'received' }, data.byteLength)
      for (const chunk of data instanceof Uint8Array ? [data] : data) {
        for (const frame of cutter.cut(chunk).flatMap(wanted)) {
          yield lengthOf(frame)
          yield frame
        }
      }
      stalled.watch(cutter.isInFrame())
      const lost = cutter.lost()
      if (lost !== null) {
        parts.onFault(peer, lost, 'gossip')
        return parts.disconnect(peer, 'gossip')
      }
      if (stream.status !== 'open') return
    }
  } finally {
    cutter.end()
    stalled.watch(false)
  }
}

/** A length as an unsigned varint, as it stands before each frame. */
function lengthOf({ byteLength }: Uint8Array): Uint8Array {
  const octets: number[] = []
  let left = byteLength
  for (; left >= 0x80; left = Math.floor(left / 0x80)) octets.push((left % 0x80) | 0x80)
  return Uint8Array.of(...octets, left)
}

/** Calls `onStall` when it watched for so long without a break. */
function createStallTimer(
  stallMs: number,
  onStall: () => void,
): { watch(isWaiting: boolean): void } {
  let timer: NodeJS.Timeout | undefined
  return {
    watch: (isWaiting) => {
      if (!isWaiting) clearTimeout(timer)
      timer = isWaiting ? (timer ?? setTimeout(onStall, stallMs).unref()) : undefined
    },
  }
}
