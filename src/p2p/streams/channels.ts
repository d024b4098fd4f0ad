/**
 * Protocols of one long stream in both directions, frame by frame: `views/1`, by which applications follow Views. What
 * the frames hold, and when a peer may send what, is the program's business.
 */
import type { Stream } from '@libp2p/interface'
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import { createBudget } from '../limits/budget.ts'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import { createRates } from '../limits/rates.ts'
import type { Remote } from '../limits/remote.ts'
import { type FrameStream, openFrameStream, toStreamFailure } from './frame-stream.ts'
import { type Pacer, pause, type RequestGate } from './request-gate.ts'

const channelNames = ['views'] as const
export type ChannelName = (typeof channelNames)[number]

/** One end of a channel. */
export type Channel = FrameStream

/** How a node serves a channel. */
interface ChannelHandler {
  /** Serves a peer to the end; what it throws ends the channel. */
  serve(channel: Channel, peer: string): Promise<void>
  /** The frame that a peer gets for which there is no room. */
  readonly busy: Uint8Array
}

/** How a node serves. It does not speak the protocols that are left out. */
export type ChannelHandlers = Readonly<Partial<Record<ChannelName, ChannelHandler>>>

/** The channels that a node serves. */
export function channelsOf(handlers: ChannelHandlers): ChannelName[] {
  return channelNames.filter((name) => handlers[name] !== undefined)
}

/** Name of the protocol of a channel. */
export function channelProtocol(network: string, name: ChannelName): string {
  return `/viewmesh/${network}/${name}/1`
}

/** Longest frame of the side that opened the channel, in bytes. */
const maxOpenerBytes: number = 256 * 1024
/** Longest frame of the side that serves it. */
const maxServerBytes: number = 1024 * 1024

interface ChannelServerParts {
  readonly log: Logger
  readonly handlers: ChannelHandlers
  readonly gate: RequestGate
  remoteOf(peer: string): Remote
  onFrame(peer: string): void
  onFault(peer: string, fault: Fault, detail: string): void
}

export interface ChannelServer {
  /** Serves one incoming stream to its end; never rejects. */
  serve(name: ChannelName, peer: string, stream: Stream): Promise<void>
  close(): void
}

/** The serving side: only so many channels at a time, and so many bytes a second, for each remote. */
export function createChannelServer(limits: P2pLimits, parts: ChannelServerParts): ChannelServer {
  const streams = createBudget(limits.channelStreams)
  const bytes = createRates(limits.channelBytes, { maxRemotes: limits.maxRemembered })
  const open = new Set<FrameStream>()

  /** The channel as the program gets it: it waits where the remote has had its bytes. */
  const paced = (frames: FrameStream, peer: string): Channel => ({
    ...frames,
    write: async (frame) => {
      await pause(bytes.owe(parts.remoteOf(peer), frame.byteLength) ?? 0, frames.ended)
      await frames.write(frame)
    },
  })

  const serve = async (name: ChannelName, peer: string, frames: FrameStream): Promise<void> => {
    const handler = parts.handlers[name]
    if (handler === undefined) return
    const reservation = streams.reserve(parts.remoteOf(peer), 1)
    if (reservation === null) {
      await frames.write(handler.busy)
      return
    }
    try {
      if (await parts.gate.admit(peer, name, frames.ended))
        await handler.serve(paced(frames, peer), peer)
      else await frames.write(handler.busy)
    } finally {
      reservation.release()
    }
  }

  return {
    serve: async (name, peer, stream) => {
      const frames = openFrameStream(stream, {
        maxFrameBytes: maxOpenerBytes,
        maxBufferBytes: 2 * maxOpenerBytes,
        stallMs: limits.stallMs,
        onFrame: () => parts.onFrame(peer),
      })
      open.add(frames)
      try {
        await serve(name, peer, frames)
        await frames.close()
      } catch (thrown) {
        const failure = toStreamFailure(thrown)
        if (failure.fault !== null) parts.onFault(peer, failure.fault, failure.message)
        else if (!frames.ended.aborted)
          parts.log.error({ err: thrown, peer, channel: name }, 'a channel could not be served')
        frames.abort(failure)
      } finally {
        open.delete(frames)
      }
    },
    close: () => {
      for (const frames of [...open]) frames.abort(new Error('the node is closing'))
    },
  }
}

interface ChannelClientParts {
  readonly pacer: Pacer
  /** Opens a stream to a connected peer. */
  openStream(peer: string, name: ChannelName, signal: AbortSignal): Promise<Stream>
  onFrame(peer: string): void
  onFault(peer: string, fault: Fault, detail: string): void
}

interface ChannelOptions {
  /** Bytes that may wait to be read. */
  readonly windowBytes: number
}

/**
 * Opens a channel to a connected peer, which ends with the signal. What fails, then or later, throws P2P_CHANNEL_FAILED;
 * an abort throws the signal's reason.
 */
export type ChannelClient = (
  peer: string,
  name: ChannelName,
  options: ChannelOptions,
  signal: AbortSignal,
) => Promise<Channel>

/** The opening side. */
export function createChannelClient(limits: P2pLimits, parts: ChannelClientParts): ChannelClient {
  return async (peer, name, { windowBytes }, signal) => {
    const attempt = async <T>(step: () => Promise<T>): Promise<T> => {
      try {
        return await step()
      } catch (thrown) {
        signal.throwIfAborted()
        throw channelFailed(peer, name, thrown, parts)
      }
    }
    await parts.pacer.wait(peer, signal)
    const deadline = AbortSignal.timeout(limits.pullStallMs)
    const stream = await attempt(() =>
      parts.openStream(peer, name, AbortSignal.any([signal, deadline])),
    )
    const frames = openFrameStream(stream, {
      maxFrameBytes: maxServerBytes,
      maxBufferBytes: windowBytes + 2 * maxServerBytes,
      stallMs: limits.pullStallMs,
      signal,
      onFrame: () => parts.onFrame(peer),
    })
    return {
      ...frames,
      read: (maxMs) => attempt(() => frames.read(maxMs)),
      write: (frame) => attempt(() => frames.write(frame)),
    }
  }
}

function channelFailed(
  peer: string,
  name: ChannelName,
  thrown: unknown,
  { onFault }: ChannelClientParts,
): ServiceError {
  const { fault, message } = toStreamFailure(thrown)
  if (fault !== null) onFault(peer, fault, message)
  return new ServiceError('P2P_CHANNEL_FAILED', `a stream of a peer failed: ${message}`, {
    facts: { peer, channel: name, fault },
    remedy: 'It is opened again after a while, or to another peer; check the peer if it lasts.',
    cause: thrown,
  })
}
