/**
 * Protocols of one question and one answer, each a frame on a stream of its own: `identity/1`, who a
 * peer is, and `votes/1`, which heads and seals it has. What the frames hold is the program's business.
 */
import type { Stream } from '@libp2p/interface'
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { Fault } from '../limits/fault.ts'
import { createHoldings } from '../limits/holdings.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { Party } from '../limits/party.ts'
import { createSlots } from '../limits/slots.ts'
import { type FrameStream, openFrameStream, toStreamFailure } from './frame-stream.ts'
import type { Pacer, RequestGate } from './request-gate.ts'

export const questionNames = ['identity', 'votes'] as const
export type QuestionName = (typeof questionNames)[number]

/** What a node answers; null refuses the question, which is a fault of the peer. */
export type Answers = Readonly<
  Record<QuestionName, (question: Uint8Array, peer: string) => Answer | Promise<Answer>>
>
type Answer = Uint8Array | null

/** Name of the protocol of a question. */
export function questionProtocol(network: string, name: QuestionName): string {
  return `/viewmesh/${network}/${name}/1`
}

/** Longest question, in bytes. */
export const maxQuestionBytes: number = 4 * 1024
/** Longest answer, in bytes. */
export const maxAnswerBytes: number = 512 * 1024

export interface AnswererParts {
  readonly log: Logger
  readonly answers: Answers
  readonly gate: RequestGate
  partyOf(peer: string): Party
  onFault(peer: string, fault: Fault, detail: string): void
}

/** Serves one incoming stream to its end; never rejects. */
export type Answerer = (name: QuestionName, peer: string, stream: Stream) => Promise<void>

/** The answering side. Questions above the budget of their party wait, or are refused without blame. */
export function createAnswerer(limits: P2pLimits, parts: AnswererParts): Answerer {
  const streams = createHoldings(limits.questionStreams)

  const answer = async (name: QuestionName, peer: string, frames: FrameStream): Promise<void> => {
    if (!(await parts.gate.enter(peer, name, frames.ended))) {
      frames.abort(new Error('too many requests'))
      return
    }
    const answered = await answerTo(parts, name, peer, await frames.read())
    if (answered === null) {
      parts.onFault(peer, 'malformed frame', `a question of ${name} that nobody asks`)
      frames.abort(new Error('the question is refused'))
      return
    }
    await frames.write(answered)
    await frames.close()
  }

  return async (name, peer, stream) => {
    const holding = streams.take(parts.partyOf(peer), 1)
    if (holding === null) return stream.abort(new Error('too many questions at a time'))
    const frames = openFrameStream(stream, {
      maxFrameBytes: maxQuestionBytes,
      maxBufferBytes: 2 * maxQuestionBytes,
      stallMs: limits.stallMs,
    })
    try {
      await answer(name, peer, frames)
    } catch (thrown) {
      const failure = toStreamFailure(thrown)
      frames.abort(failure)
      if (failure.fault !== null) parts.onFault(peer, failure.fault, failure.message)
    } finally {
      holding.release()
    }
  }
}

async function answerTo(
  { answers, log }: AnswererParts,
  name: QuestionName,
  peer: string,
  question: Uint8Array,
): Promise<Answer> {
  try {
    return await answers[name](question, peer)
  } catch (error) {
    log.error({ err: error, peer, question: name }, 'a question could not be answered')
    throw error
  }
}

export interface AskerParts {
  readonly pacer: Pacer
  /** Opens a stream to a connected peer. */
  openStream(peer: string, name: QuestionName, signal: AbortSignal): Promise<Stream>
  onFault(peer: string, fault: Fault, detail: string): void
}

/** Asks a connected peer. Throws P2P_ASK_FAILED; an abort throws the signal's reason. */
export type Asker = (
  peer: string,
  name: QuestionName,
  question: Uint8Array,
  signal: AbortSignal,
) => Promise<Uint8Array>

/** The asking side: one question a peer at a time, further ones wait. */
export function createAsker(limits: P2pLimits, parts: AskerParts): Asker {
  const slots = createSlots(1)

  return async (peer, name, question, signal) => {
    const release = await slots.acquire(peer, signal)
    try {
      return await askOnce(peer, name, question, signal, limits, parts)
    } catch (thrown) {
      signal.throwIfAborted()
      const failure = toStreamFailure(thrown)
      if (failure.fault !== null) parts.onFault(peer, failure.fault, failure.message)
      throw new ServiceError('P2P_ASK_FAILED', `asking a peer failed: ${failure.message}`, {
        facts: { peer, question: name, fault: failure.fault },
        remedy: 'It is asked again after a while; look at the peer if it lasts.',
        cause: thrown,
      })
    } finally {
      release()
    }
  }
}

async function askOnce(
  peer: string,
  name: QuestionName,
  question: Uint8Array,
  signal: AbortSignal,
  limits: P2pLimits,
  parts: AskerParts,
): Promise<Uint8Array> {
  await parts.pacer.turn(peer, signal)
  const deadline = AbortSignal.timeout(limits.pullStallMs)
  const stream = await parts.openStream(peer, name, AbortSignal.any([signal, deadline]))
  const frames = openFrameStream(stream, {
    maxFrameBytes: maxAnswerBytes,
    maxBufferBytes: 2 * maxAnswerBytes,
    stallMs: limits.pullStallMs,
    signal,
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
