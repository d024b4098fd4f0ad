/**
 * The serving side of the range protocol. It reads one block at a time and only when the peer has
 * granted the credit to send it, so that a peer that does not read costs one block of memory.
 */
import type { Stream } from '@libp2p/interface'
import type { Logger } from 'pino'
import { createBudget } from '../limits/budget.ts'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import { createRates, type Rates } from '../limits/rates.ts'
import type { Remote } from '../limits/remote.ts'
import type { Range } from '../peers/announcements.ts'
import {
  type FrameStream,
  openFrameStream,
  streamFailure,
  toStreamFailure,
} from '../streams/frame-stream.ts'
import { pause, type RequestGate } from '../streams/request-gate.ts'
import { shareThread } from '../streams/thread-slice.ts'
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
  /** Stored heights from `from` to `to`, ascending, at most `limit`; gaps of any size cost nothing. */
  heights(from: number, to: number, limit: number): readonly number[]
  /** The bytes of one sealed block as peers get them; null where there is a gap, or no seal yet. */
  sealedBlock(height: number): Uint8Array | null
}

/** The first `limit` heights of an iteration, for the `heights` of a source. */
export function firstHeights(heights: Iterable<number>, limit: number): number[] {
  const first: number[] = []
  for (const height of heights) {
    if (first.length >= limit) break
    first.push(height)
  }
  return first
}

interface RangeServerParts {
  readonly log: Logger
  readonly metrics: Pick<P2pMetrics, 'rangeBlocks' | 'rangeBytes'>
  readonly source: BlockSource
  readonly gate: RequestGate
  remoteOf(peer: string): Remote
  onFrame(peer: string): void
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
/** Heights that are read at a time. */
const heightsAtATime = 256

/** What serving a stream needs. */
interface Serving extends RangeServerParts {
  readonly bytes: Pick<Rates, 'owe'>
}

export function createRangeServer(limits: P2pLimits, parts: RangeServerParts): RangeServer {
  const active = new Map<string, Set<FrameStream>>()
  const streams = createBudget(limits.rangeStreams)
  const bytes = createRates(limits.rangeBytes, { maxRemotes: limits.maxRemembered })
  const serving: Serving = { ...parts, bytes, source: guarded(parts) }

  const run = async (peer: string, frames: FrameStream): Promise<void> => {
    try {
      if (!(await parts.gate.admit(peer, 'a range', frames.ended))) {
        await sendError(frames, 'busy')
        return
      }
      await answer(peer, frames, limits, serving)
      await frames.close()
    } catch (thrown) {
      const failure = toStreamFailure(thrown)
      if (failure === sourceFailure) return await sendError(frames, 'unavailable')
      frames.abort(failure)
      if (failure.fault !== null) parts.onFault(peer, failure.fault, failure.message)
    }
  }

  /** Counts the stream; it has ended when the peer says so, or when the returned function does. */
  const begin = (peer: string, frames: FrameStream): (() => void) | null => {
    const reservation = streams.reserve(parts.remoteOf(peer), 1)
    if (reservation === null) return null
    const own = active.get(peer) ?? new Set()
    active.set(peer, own.add(frames))
    const end = (): void => {
      reservation.release()
      own.delete(frames)
      if (own.size === 0 && active.get(peer) === own) active.delete(peer)
    }
    frames.ended.addEventListener('abort', end)
    return end
  }

  return {
    serve: async (peer, stream) => {
      if ((active.get(peer)?.size ?? 0) >= limits.streamsPerPeer) {
        stream.abort(new Error('too many streams'))
        parts.onFault(peer, 'too many streams', 'the stream was refused')
        return
      }
      const frames = openFrameStream(stream, {
        maxFrameBytes: 64,
        maxBufferBytes: 16 * 1024,
        stallMs: limits.stallMs,
        onFrame: () => parts.onFrame(peer),
      })
      if (frames.ended.aborted) return
      const end = begin(peer, frames)
      if (end === null) return await sendError(frames, 'busy')
      await run(peer, frames)
      end()
    },
    activeStreams: streams.total,
    close: () => {
      for (const own of [...active.values()]) {
        for (const frames of [...own]) frames.abort(new Error('the node is closing'))
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
    heights: (from, to, limit) => attempt(() => parts.source.heights(from, to, limit)),
    sealedBlock: (height) => attempt(() => parts.source.sealedBlock(height)),
  }
}

async function sendError(frames: FrameStream, error: Refusal): Promise<void> {
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
  serving: Serving,
): Promise<void> {
  const request = decodeClientFrame(await frames.read())
  if (request.kind !== 'request')
    throw streamFailure('credit before a request', 'protocol violation')
  serving.onStatus(peer, request.status)
  const status = serving.source.range()
  await frames.write(encodeServerFrame({ kind: 'status', status }))
  const sending = { peer, frames, request, status }
  const blocks = await sendBlocks(sending, limits, serving)
  await frames.write(encodeServerFrame({ kind: 'end', blocks }))
}

/** One response that is being sent. */
interface Sending {
  readonly peer: string
  readonly frames: FrameStream
  readonly request: RequestFrame
  /** What there is. */
  readonly status: Range | null
}

/** Sends the blocks that were asked for; ends at once when the asker has left. Returns how many they were. */
async function sendBlocks(
  { peer, frames, request, status }: Sending,
  limits: P2pLimits,
  { bytes, metrics, remoteOf, source }: Serving,
): Promise<number> {
  const send = creditedWriter(frames, Math.min(request.windowBytes, maxWindowBytes))
  let blocks = 0
  for (const height of storedHeights(request, status, source)) {
    await shareThread()
    frames.ended.throwIfAborted()
    const block = source.sealedBlock(height)
    if (block === null) continue
    for (const frame of blockFrames(height, block, limits.maxFrameBytes)) {
      await pause(bytes.owe(remoteOf(peer), frame.byteLength) ?? 0, frames.ended)
      await send(frame)
    }
    blocks += 1
    metrics.rangeBlocks.inc({ direction: 'sent' })
    metrics.rangeBytes.inc({ direction: 'sent' }, block.byteLength)
  }
  return blocks
}

/** The stored heights that were asked for, read a few at a time: no snapshot is held meanwhile. */
function* storedHeights(
  { from, to }: RequestFrame,
  status: Range | null,
  source: BlockSource,
): Generator<number> {
  if (status === null) return
  const top = Math.min(to, status.head)
  for (let next = Math.max(from, status.tail); next <= top; ) {
    const heights = source.heights(next, top, heightsAtATime)
    yield* heights
    const last = heights.at(-1)
    if (last === undefined || heights.length < heightsAtATime) return
    next = last + 1
  }
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

/** A peer that grants no credit is a stalled reader, not a stalled writer. */
async function readCredit(frames: FrameStream): Promise<Uint8Array> {
  try {
    return await frames.read()
  } catch (thrown) {
    const failure = toStreamFailure(thrown)
    if (failure.fault === 'stalled writer') throw streamFailure(failure.message, 'stalled reader')
    throw failure
  }
}
