/**
 * The asking side of the range protocol: blocks of one peer in ascending order, as fast as the
 * caller takes them and no faster.
 */
import type { Stream } from '@libp2p/interface'
import { ServiceError } from '../../errors.ts'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import { createSlots } from '../limits/slots.ts'
import type { Range } from '../peers/announcements.ts'
import {
  type FrameStream,
  openFrameStream,
  streamFailure,
  toStreamFailure,
} from '../streams/frame-stream.ts'
import { joinParts } from '../streams/join-parts.ts'
import type { Pacer } from '../streams/request-gate.ts'
import {
  decodeServerFrame,
  encodeClientFrame,
  minPartBytes,
  type ServerFrame,
} from './range-frames.ts'

interface RangeClientParts {
  readonly metrics: Pick<P2pMetrics, 'rangeBlocks' | 'rangeBytes'>
  /** Opens a stream of the range protocol to a connected peer. */
  openStream(peer: string, signal: AbortSignal): Promise<Stream>
  /** Our own heights, sent to the peer with each request. */
  ownRange(): Range | null
  readonly pacer: Pacer
  onFrame(peer: string): void
  onStatus(peer: string, status: Range | null): void
  onFault(peer: string, fault: Fault, detail: string): void
}

export interface RangeClient {
  status(peer: string, signal: AbortSignal): Promise<Range | null>
  pull(peer: string, from: number, to: number, signal: AbortSignal): AsyncGenerator<Uint8Array>
}

interface Ask {
  readonly peer: string
  readonly from: number
  readonly to: number
}

export function createRangeClient(limits: P2pLimits, parts: RangeClientParts): RangeClient {
  const slots = createSlots(limits.pullsPerPeer)

  const open = async (ask: Ask, signal: AbortSignal): Promise<FrameStream> => {
    await parts.pacer.wait(ask.peer, signal)
    const deadline = AbortSignal.timeout(limits.pullStallMs)
    const stream = await parts.openStream(ask.peer, AbortSignal.any([signal, deadline]))
    return openFrameStream(stream, {
      maxFrameBytes: limits.maxFrameBytes,
      maxBufferBytes: limits.windowBytes + 2 * limits.maxFrameBytes,
      stallMs: limits.pullStallMs,
      signal,
      onFrame: () => parts.onFrame(ask.peer),
    })
  }

  const begin = async (ask: Ask, frames: FrameStream): Promise<Range | null> => {
    await frames.write(
      encodeClientFrame({
        kind: 'request',
        from: ask.from,
        to: ask.to,
        windowBytes: limits.windowBytes,
        status: parts.ownRange(),
      }),
    )
    const first = refuseError(decodeServerFrame(await frames.read()))
    if (first.kind !== 'status')
      throw streamFailure('no status before blocks', 'protocol violation')
    parts.onStatus(ask.peer, first.status)
    return first.status
  }

  async function* run<T>(
    ask: Ask,
    signal: AbortSignal,
    take: (frames: FrameStream) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const release = await slots.acquire(ask.peer, signal)
    let frames: FrameStream | undefined
    let done = false
    try {
      frames = await open(ask, signal)
      yield* take(frames)
      done = true
      await frames.close()
    } catch (thrown) {
      signal.throwIfAborted()
      throw pullFailed(ask, thrown, parts)
    } finally {
      if (!done) frames?.abort(new Error('the transfer was called off'))
      release()
    }
  }

  return {
    status: async (peer, signal) => {
      const ask = { peer, from: 1, to: 0 }
      const answers = run(ask, signal, async function* (frames) {
        yield await begin(ask, frames)
        await expectEnd(frames)
      })
      let status: Range | null = null
      for await (const answer of answers) status = answer
      return status
    },
    pull: (peer, from, to, signal) => {
      const ask = { peer, from, to }
      return run(ask, signal, async function* (frames) {
        await begin(ask, frames)
        yield* readBlocks(ask, frames, limits, parts)
      })
    },
  }
}

/** The error for what ended a pull, which is the peer's fault where it says so. */
function pullFailed(
  { peer, from, to }: Ask,
  thrown: unknown,
  { onFault }: RangeClientParts,
): ServiceError {
  const { fault, message } = toStreamFailure(thrown)
  if (fault !== null) onFault(peer, fault, message)
  return new ServiceError('P2P_PULL_FAILED', `pulling blocks failed: ${message}`, {
    facts: { peer, from, to, fault },
    remedy: 'It is tried again with the next peer or after a while; check the peer if it lasts.',
    cause: thrown,
  })
}

async function expectEnd(frames: FrameStream): Promise<void> {
  const frame = refuseError(decodeServerFrame(await frames.read()))
  if (frame.kind !== 'end')
    throw streamFailure('blocks that were not asked for', 'protocol violation')
}

async function* readBlocks(
  ask: Ask,
  frames: FrameStream,
  limits: P2pLimits,
  parts: RangeClientParts,
): AsyncGenerator<Uint8Array> {
  const next = creditedReader(frames, limits.windowBytes)
  let above = ask.from - 1
  let blocks = 0
  for (;;) {
    const frame = await next()
    if (frame.kind === 'end') {
      if (frame.blocks !== blocks)
        throw streamFailure('a wrong number of blocks', 'protocol violation')
      return
    }
    if (frame.kind !== 'block') throw streamFailure('a part without a block', 'protocol violation')
    if (frame.height <= above || frame.height > ask.to) {
      throw streamFailure('a block out of order or range', 'protocol violation')
    }
    above = frame.height
    blocks += 1
    const block = await assemble(frame.blockBytes, frame.bytes, next, limits)
    parts.metrics.rangeBlocks.inc({ direction: 'received' })
    parts.metrics.rangeBytes.inc({ direction: 'received' }, block.byteLength)
    yield block
  }
}

/** Puts a block's parts together in a buffer of its own; ten seconds are enough for a MiB of it. */
async function assemble(
  blockBytes: number,
  first: Uint8Array,
  next: () => Promise<ServerFrame>,
  { maxBlockBytes, pullStallMs }: P2pLimits,
): Promise<Uint8Array> {
  if (blockBytes > maxBlockBytes) throw streamFailure('a block above the limit', 'oversize frame')
  const deadline = performance.now() + pullStallMs * (1 + blockBytes / 2 ** 20)
  const parts: Uint8Array[] = []
  let received = 0
  const add = (bytes: Uint8Array): void => {
    received += bytes.byteLength
    if (received > blockBytes)
      throw streamFailure('parts longer than the block', 'protocol violation')
    if (bytes.byteLength < minPartBytes && received < blockBytes)
      throw streamFailure('a block in tiny parts', 'protocol violation')
    parts.push(bytes)
  }
  add(first)
  while (received < blockBytes) {
    const frame = await next()
    if (frame.kind !== 'part') throw streamFailure('a block without its end', 'protocol violation')
    if (performance.now() > deadline) throw streamFailure('a block too slowly', 'stalled writer')
    add(frame.bytes)
  }
  return joinParts(parts)
}

/** Reads frames and grants new credit for what was read once half the window is used up. */
function creditedReader(frames: FrameStream, windowBytes: number): () => Promise<ServerFrame> {
  let used = 0
  return async () => {
    if (used >= windowBytes / 2) {
      await frames.write(encodeClientFrame({ kind: 'credit', bytes: used }))
      used = 0
    }
    const bytes = await frames.read()
    const frame = refuseError(decodeServerFrame(bytes))
    if (frame.kind === 'block' || frame.kind === 'part') used += bytes.byteLength
    return frame
  }
}

function refuseError(frame: ServerFrame): ServerFrame {
  if (frame.kind === 'error') throw streamFailure(`the peer answered: ${frame.error}`, null)
  return frame
}
