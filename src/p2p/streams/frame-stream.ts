/**
 * Length-prefixed frames over one libp2p stream, with a bound on everything a peer controls: the
 * size of a frame before it is read, the bytes waiting in the buffer, and the time each step takes.
 *
 * A libp2p stream is never read with `for await`: that reads as fast as the peer sends. What keeps
 * the buffer small is the credit of the range protocol; the bound here only catches who ignores it.
 */
import type { Stream } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import type { Fault } from '../limits/fault.ts'
import { frameErrorName } from './frame-error.ts'
import { shareThread } from './thread-slice.ts'

export interface FrameStream {
  /** Aborted when the stream has ended, whichever side ended it. */
  readonly ended: AbortSignal
  /**
   * The next frame; `maxMs` is how long the peer may take for it where that is not `stallMs`, null for as long as the
   * stream is open. Throws a StreamFailure.
   */
  read(maxMs?: number | null): Promise<Uint8Array>
  /** Resolves when the frame is sent and there is room for another. Throws a StreamFailure. */
  write(frame: Uint8Array): Promise<void>
  /** Ends our side after what was written; the peer may take a step's time to end its own. */
  close(): Promise<void>
  /** Drops everything at once; the peer sees a reset. */
  abort(error: Error): void
}

interface FrameStreamOptions {
  readonly maxFrameBytes: number
  readonly maxBufferBytes: number
  /** Longest time one read or write may take. */
  readonly stallMs: number
  readonly signal?: AbortSignal
  /** A frame was read, which takes us time however short it is. */
  readonly onFrame: () => void
}

/** Why a stream ended early, and whether that was the peer's fault. */
interface StreamFailure extends Error {
  readonly fault: Fault | null
}

export function openFrameStream(stream: Stream, options: FrameStreamOptions): FrameStream {
  const frames = lpStream(stream, {
    maxDataLength: options.maxFrameBytes,
    maxBufferSize: options.maxBufferBytes,
  })
  const onAbort = (): void => stream.abort(streamFailure('the transfer was called off', null))
  options.signal?.addEventListener('abort', onAbort)
  const release = (): void => options.signal?.removeEventListener('abort', onAbort)
  // A write that fails only says that the stream is closed; this says why.
  let closedBy: Error | undefined
  const ended = new AbortController()
  stream.addEventListener('close', (event) => {
    release()
    closedBy = event.error
    ended.abort(streamFailure('the stream has ended', null))
  })
  if (stream.status !== 'open') ended.abort(streamFailure('the stream has ended', null))

  const { stallMs, onFrame } = options
  const step = async <T>(fault: Fault, maxMs: number | null, run: () => Promise<T>): Promise<T> => {
    const onStall = (): void => stream.abort(streamFailure('no progress in time', fault))
    const timer = maxMs === null ? undefined : setTimeout(onStall, maxMs)
    try {
      return await run()
    } catch (error) {
      throw toStreamFailure(closedBy ?? error)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    ended: ended.signal,
    read: (maxMs = stallMs) =>
      step('stalled writer', maxMs, async () => {
        const frame = (await frames.read()).subarray()
        onFrame()
        await shareThread()
        return frame
      }),
    write: (frame) => step('stalled reader', stallMs, () => frames.write(frame)),
    close: async () => {
      release()
      const halfOpen = streamFailure('the peer did not end the stream', null)
      const timer = setTimeout(() => stream.abort(halfOpen), options.stallMs).unref()
      stream.addEventListener('close', () => clearTimeout(timer))
      const signal = AbortSignal.timeout(options.stallMs)
      await stream.close({ signal }).catch(() => stream.abort(halfOpen))
    },
    abort: (error) => stream.abort(error),
  }
}

export function streamFailure(message: string, fault: Fault | null): StreamFailure {
  return Object.assign(new Error(message), { fault })
}

const faultsByName: Readonly<Record<string, Fault>> = {
  InvalidDataLengthError: 'oversize frame',
  InvalidDataLengthLengthError: 'oversize frame',
  StreamBufferError: 'protocol violation',
  InvalidMessageLengthError: 'malformed frame',
  [frameErrorName]: 'malformed frame',
}

/** libp2p rejects with errors and with events that carry one; both become a StreamFailure. */
export function toStreamFailure(thrown: unknown): StreamFailure {
  const carried =
    typeof thrown === 'object' && thrown !== null && 'error' in thrown ? thrown.error : undefined
  const error = carried ?? thrown
  if (!(error instanceof Error)) return streamFailure('the stream ended early', null)
  if ('fault' in error) return error as StreamFailure
  return Object.assign(streamFailure(error.message, faultsByName[error.name] ?? null), {
    cause: error,
  })
}
