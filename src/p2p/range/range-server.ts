/**
 * The serving side of the range protocol. It reads one block at a time and only when the peer has
 * granted the credit to send it, so that a peer that does not read costs one block of memory.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Stream } from '@libp2p/interface'
import type { Logger } from 'pino'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import { createRateLimit } from '../limits/rate.ts'
import type { Range } from '../peers/announcements.ts'
import {
  type FrameStream,
  openFrameStream,
  streamFailure,
  toStreamFailure,
} from '../streams/frame-stream.ts'
import {
  blockFrameOverhead,
  decodeClientFrame,
  encodeServerFrame,
  type Refusal,
  type RequestFrame,
} from './range-frames.ts'

/** Where the blocks that peers ask for come from. */
export interface BlockSource {
  /** The heights that can be served now; null when there are none. */
  range(): Range | null
  /** The bytes of one sealed block as peers get them; null where there is a gap. */
  sealedBlock(height: number): Uint8Array | null
}

export interface RangeServerParts {
  readonly log: Logger
  readonly metrics: Pick<P2pMetrics, 'rangeBlocks' | 'rangeBytes'>
  readonly source: BlockSource
  onStatus(peer: string, status: Range | null): void
  onFault(peer: string, fault: Fault, detail: string): void
}

export interface RangeServer {
  /** Serves one incoming stream to its end; never rejects. */
  serve(peer: string, stream: Stream): Promise<void>
  activeStreams(): number
  close(): void
}

/** Credit no honest peer exceeds: what it asked for, and never more than this. */
const maxWindowBytes = 16 * 1024 * 1024
/** Gaps looked at before other work gets its turn. */
const gapsPerTurn = 256

export function createRangeServer(limits: P2pLimits, parts: RangeServerParts): RangeServer {
  const active = new Map<string, Set<FrameStream>>()
  const rate = createRateLimit(limits.requestsPerSecond, limits.maxRemembered)
  let total = 0

  const refusal = (peer: string): Fault | 'busy' | null => {
    if ((active.get(peer)?.size ?? 0) >= limits.streamsPerPeer) return 'too many streams'
    if (!rate.take(peer, 1)) return 'request flood'
    return total >= limits.streamsTotal ? 'busy' : null
  }

  const run = async (peer: string, frames: FrameStream): Promise<void> => {
    try {
      await answer(peer, frames, limits, { ...parts, source: guarded(parts) })
      await frames.close()
    } catch (thrown) {
      const failure = toStreamFailure(thrown)
      if (failure === sourceFailure) return await sayError(frames, 'unavailable')
      frames.abort(failure)
      if (failure.fault !== null) parts.onFault(peer, failure.fault, failure.message)
    }
  }

  const serve = async (peer: string, stream: Stream): Promise<void> => {
    const refused = refusal(peer)
    if (refused !== null && refused !== 'busy') {
      stream.abort(new Error(refused))
      parts.onFault(peer, refused, 'the stream was refused')
      return
    }
    const frames = openFrameStream(stream, {
      maxFrameBytes: 64,
      maxBufferBytes: 16 * 1024,
      stallMs: limits.stallMs,
    })
    if (refused === 'busy') {
      await sayError(frames, 'busy')
      return
    }
    const own = active.get(peer) ?? new Set()
    active.set(peer, own.add(frames))
    total += 1
    try {
      await run(peer, frames)
    } finally {
      total -= 1
      own.delete(frames)
      if (own.size === 0 && active.get(peer) === own) active.delete(peer)
    }
  }

  return {
    serve,
    activeStreams: () => total,
    close: () => {
      for (const streams of active.values()) {
        for (const frames of streams) frames.abort(new Error('the node is closing'))
      }
    },
  }
}

const sourceFailure = streamFailure('the blocks could not be read', null)

/** The source with its failures reported, and thrown as one known error. */
function guarded(parts: RangeServerParts): BlockSource {
  const attempt = <T>(read: () => T): T => {
    try {
      return read()
    } catch (error) {
      parts.log.error({ err: error }, 'blocks to serve could not be read')
      throw sourceFailure
    }
  }
  return {
    range: () => attempt(() => parts.source.range()),
    sealedBlock: (height) => attempt(() => parts.source.sealedBlock(height)),
  }
}

async function sayError(frames: FrameStream, error: Refusal): Promise<void> {
  try {
    await frames.write(encodeServerFrame({ kind: 'error', error }))
    await frames.close()
  } catch (thrown) {
    frames.abort(toStreamFailure(thrown))
  }
}

async function answer(
  peer: string,
  frames: FrameStream,
  limits: P2pLimits,
  parts: RangeServerParts,
): Promise<void> {
  const request = decodeClientFrame(await frames.read())
  if (request.kind !== 'request')
    throw streamFailure('credit before a request', 'protocol violation')
  parts.onStatus(peer, request.status)
  const status = parts.source.range()
  await frames.write(encodeServerFrame({ kind: 'status', status }))
  const blocks = status === null ? 0 : await sendBlocks(frames, request, status, limits, parts)
  await frames.write(encodeServerFrame({ kind: 'end', blocks }))
}

async function sendBlocks(
  frames: FrameStream,
  request: RequestFrame,
  status: Range,
  limits: P2pLimits,
  parts: RangeServerParts,
): Promise<number> {
  const send = creditedWriter(frames, Math.min(request.windowBytes, maxWindowBytes))
  const last = Math.min(request.to, status.head)
  let blocks = 0
  let gaps = 0
  for (let height = Math.max(request.from, status.tail); height <= last; height += 1) {
    const block = parts.source.sealedBlock(height)
    if (block === null) {
      gaps += 1
      if (gaps % gapsPerTurn === 0) await nextTurn()
      continue
    }
    for (const frame of blockFrames(height, block, limits.maxFrameBytes)) await send(frame)
    blocks += 1
    parts.metrics.rangeBlocks.inc({ direction: 'sent' })
    parts.metrics.rangeBytes.inc({ direction: 'sent' }, block.byteLength)
  }
  return blocks
}

/** Cuts one block into frames of at most `maxFrameBytes`. */
function* blockFrames(
  height: number,
  block: Uint8Array,
  maxFrameBytes: number,
): Generator<Uint8Array> {
  const size = maxFrameBytes - blockFrameOverhead
  const bytes = block.subarray(0, size)
  yield encodeServerFrame({ kind: 'block', height, blockBytes: block.byteLength, bytes })
  for (let at = size; at < block.byteLength; at += size) {
    yield encodeServerFrame({ kind: 'part', bytes: block.subarray(at, at + size) })
  }
}

/** Writes frames as long as there is credit, and reads credit when there is none. */
function creditedWriter(
  frames: FrameStream,
  windowBytes: number,
): (frame: Uint8Array) => Promise<void> {
  let credit = windowBytes
  return async (frame) => {
    while (credit < frame.byteLength) {
      const granted = decodeClientFrame(await readCredit(frames))
      if (granted.kind !== 'credit' || granted.bytes === 0) {
        throw streamFailure('expected credit', 'protocol violation')
      }
      credit += granted.bytes
      if (credit > maxWindowBytes)
        throw streamFailure('more credit than can be used', 'protocol violation')
    }
    credit -= frame.byteLength
    await frames.write(frame)
  }
}

/** Who grants no credit is a reader that stalls, not a writer. */
async function readCredit(frames: FrameStream): Promise<Uint8Array> {
  try {
    return await frames.read()
  } catch (thrown) {
    const failure = toStreamFailure(thrown)
    if (failure.fault === 'stalled writer') throw streamFailure(failure.message, 'stalled reader')
    throw failure
  }
}
