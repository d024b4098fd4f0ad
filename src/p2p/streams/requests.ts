/**
 * Protocols of one request and one response, each a frame on a stream of its own: `identity/1`, who a
 * peer is, `votes/1`, which heads and seals it has, and `row-votes/1`, which statements about rows. What the
 * frames hold is the program's business.
 */
import type { Stream } from '@libp2p/interface'
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import { createBudget } from '../limits/budget.ts'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { Remote } from '../limits/remote.ts'
import { createSlots } from '../limits/slots.ts'
import { type FrameStream, openFrameStream, toStreamFailure } from './frame-stream.ts'
import type { Pacer, RequestGate } from './request-gate.ts'

const requestNames = ['identity', 'votes', 'row-votes'] as const
export type RequestName = (typeof requestNames)[number]

/** Responds to a request; null refuses it, which is a fault of the peer. */
type RequestHandler = (question: Uint8Array, peer: string) => Reply | Promise<Reply>

/** How a node responds. It does not speak the protocols that are left out. */
export type RequestHandlers = Readonly<Partial<Record<RequestName, RequestHandler>>>

/** The protocols that a node speaks. */
export function requestsOf(handlers: RequestHandlers): RequestName[] {
  return requestNames.filter((name) => handlers[name] !== undefined)
}

type Reply = Uint8Array | null

/** Name of the protocol of a request. */
export function requestProtocol(network: string, name: RequestName): string {
  return `/viewmesh/${network}/${name}/1`
}

/** Longest request, in bytes. */
export const maxRequestBytes: number = 4 * 1024
/** Longest response, in bytes. */
export const maxResponseBytes: number = 512 * 1024

interface RequestServerParts {
  readonly log: Logger
  readonly handlers: RequestHandlers
  readonly gate: RequestGate
  remoteOf(peer: string): Remote
  onFrame(peer: string): void
  onFault(peer: string, fault: Fault, detail: string): void
}

/** Serves one incoming stream to its end; never rejects. */
export type RequestServer = (name: RequestName, peer: string, stream: Stream) => Promise<void>

/** The responding side. Requests above the budget of their remote wait, or are refused without blame. */
export function createRequestServer(limits: P2pLimits, parts: RequestServerParts): RequestServer {
  const streams = createBudget(limits.requestStreams)

  const answer = async (name: RequestName, peer: string, frames: FrameStream): Promise<void> => {
    if (!(await parts.gate.admit(peer, name, frames.ended))) {
      frames.abort(new Error('too many requests'))
      return
    }
    const answered = await handle(parts, name, peer, await frames.read())
    if (answered === null) {
      parts.onFault(peer, 'malformed frame', `a ${name} request that no honest peer makes`)
      frames.abort(new Error('the request is refused'))
      return
    }
    await frames.write(answered)
    await frames.close()
  }

  return async (name, peer, stream) => {
    const reservation = streams.reserve(parts.remoteOf(peer), 1)
    if (reservation === null) return stream.abort(new Error('too many requests at a time'))
    const frames = openFrameStream(stream, {
      maxFrameBytes: maxRequestBytes,
      maxBufferBytes: 2 * maxRequestBytes,
      stallMs: limits.stallMs,
      onFrame: () => parts.onFrame(peer),
    })
    try {
      await answer(name, peer, frames)
    } catch (thrown) {
      const failure = toStreamFailure(thrown)
      frames.abort(failure)
      if (failure.fault !== null) parts.onFault(peer, failure.fault, failure.message)
    } finally {
      reservation.release()
    }
  }
}

async function handle(
  { handlers, log }: RequestServerParts,
  name: RequestName,
  peer: string,
  question: Uint8Array,
): Promise<Reply> {
  try {
    return (await handlers[name]?.(question, peer)) ?? null
  } catch (error) {
    log.error({ err: error, peer, question: name }, 'a request could not be answered')
    throw error
  }
}

interface RequestClientParts {
  readonly pacer: Pacer
  /** Opens a stream to a connected peer. */
  openStream(peer: string, name: RequestName, signal: AbortSignal): Promise<Stream>
  onFrame(peer: string): void
  onFault(peer: string, fault: Fault, detail: string): void
}

/** Asks a connected peer. Throws P2P_ASK_FAILED; an abort throws the signal's reason. */
export type RequestClient = (
  peer: string,
  name: RequestName,
  question: Uint8Array,
  signal: AbortSignal,
) => Promise<Uint8Array>

/** The requesting side: one request to a peer at a time, further ones wait. */
export function createRequestClient(limits: P2pLimits, parts: RequestClientParts): RequestClient {
  const slots = createSlots(1)

  return async (peer, name, question, signal) => {
    const release = await slots.acquire(peer, signal)
    try {
      return await requestOnce(peer, name, question, signal, limits, parts)
    } catch (thrown) {
      signal.throwIfAborted()
      const failure = toStreamFailure(thrown)
      if (failure.fault !== null) parts.onFault(peer, failure.fault, failure.message)
      throw new ServiceError('P2P_ASK_FAILED', `asking a peer failed: ${failure.message}`, {
        facts: { peer, question: name, fault: failure.fault },
        remedy: 'It is asked again after a while; check the peer if it lasts.',
        cause: thrown,
      })
    } finally {
      release()
    }
  }
}

async function requestOnce(
  peer: string,
  name: RequestName,
  question: Uint8Array,
  signal: AbortSignal,
  limits: P2pLimits,
  parts: RequestClientParts,
): Promise<Uint8Array> {
  await parts.pacer.wait(peer, signal)
  const deadline = AbortSignal.timeout(limits.pullStallMs)
  const stream = await parts.openStream(peer, name, AbortSignal.any([signal, deadline]))
  const frames = openFrameStream(stream, {
    maxFrameBytes: maxResponseBytes,
    maxBufferBytes: 2 * maxResponseBytes,
    stallMs: limits.pullStallMs,
    signal,
    onFrame: () => parts.onFrame(peer),
  })
  try {
    await frames.write(question)
    const answer = new Uint8Array(await frames.read())
    await frames.close()
    return answer
  } catch (thrown) {
    frames.abort(toStreamFailure(thrown))
    throw thrown
  }
}
