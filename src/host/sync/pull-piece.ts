/** Pulls one piece from one peer, and hands its blocks to the writer, a few at a time. */
import { ServiceError } from '../../errors.ts'
import type { P2p } from '../../p2p/p2p.ts'
import type { BlockOrigin } from '../../p2p/peers/verdict.ts'
import type { Outcome } from '../apply/outcome.ts'
import { type Take, verdictOf } from './intake.ts'
import type { Pull } from './pull-plan.ts'

interface PieceOptions {
  /** How long the piece may go on without a block of use, in milliseconds. */
  readonly uselessMs: number
  /** Ends it without blame on anybody. */
  readonly closing: AbortSignal
}

export interface PieceParts {
  readonly p2p: Pick<P2p, 'pull' | 'applyVerdict'>
  readonly take: Take
}

export interface PulledPiece {
  /** Blocks that were of use. */
  readonly delivered: number
  /** Why it ended before everything was asked for and taken; null where it did not, and where the Host is closing. */
  readonly error: ServiceError | null
}

/** Blocks of a pull that may be with the writer at a time. */
const maxWithWriter = 4

/** Throws only when the writer fails. */
export async function pullPiece(
  pull: Pull,
  { uselessMs, closing }: PieceOptions,
  { p2p, take }: PieceParts,
): Promise<PulledPiece> {
  const { peer, from, to } = pull
  const origin: BlockOrigin = { peer, via: 'pull' }
  let delivered = 0
  /** Aborted with what is wrong with the piece, of which the first thing counts. */
  const stop = new AbortController()
  const endLater = (): NodeJS.Timeout =>
    setTimeout(() => stop.abort(pieceUseless(pull, uselessMs)), uselessMs)
  let useless = endLater()
  const takeIn = async (bytes: Uint8Array): Promise<void> => {
    const outcome = await take(bytes, origin)
    const verdict = verdictOf(outcome)
    if (verdict.action !== 'ignore') p2p.applyVerdict(peer, verdict)
    if (isOfUse(outcome)) {
      delivered += 1
      clearTimeout(useless)
      useless = endLater()
    }
    if (verdict.action === 'reject') stop.abort(blockRejected(verdict.reason))
  }
  const withWriter = new Set<Promise<void>>()
  const takeAll = async (): Promise<void> => {
    const signal = AbortSignal.any([closing, stop.signal])
    for await (const bytes of p2p.pull(peer, from, to, signal)) {
      const taken = takeIn(bytes)
        .catch((error: unknown) => stop.abort(error))
        .finally(() => withWriter.delete(taken))
      withWriter.add(taken)
      if (withWriter.size >= maxWithWriter) await Promise.race(withWriter)
    }
  }
  const broken: unknown = await takeAll().then(
    () => null,
    (error: unknown) => error,
  )
  await Promise.all(withWriter)
  clearTimeout(useless)
  if (closing.aborted) return { delivered, error: null }
  // Where the piece was stopped, that is why the stream broke off.
  const error: unknown = stop.signal.aborted ? stop.signal.reason : broken
  if (error === null || isOfPeer(error)) return { delivered, error }
  throw error
}

/** Whether another peer is asked after this. */
function isOfPeer(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false
  return error.code === 'P2P_PULL_FAILED' || error.code === 'HOST_BLOCK_REJECTED'
}

function blockRejected(reason: string): ServiceError {
  return new ServiceError('HOST_BLOCK_REJECTED', `a peer sent a bad block: ${reason}`)
}

function pieceUseless({ peer, from, to }: Pull, forMs: number): ServiceError {
  const message = `pulling blocks failed: the peer sent no block of use for ${forMs / 1_000} seconds`
  return new ServiceError('P2P_PULL_FAILED', message, {
    facts: { peer, from, to },
    remedy: 'Another peer is asked, or this one again after a while; check the peer if it lasts.',
  })
}

/** A block that somebody accepted sealed, whether or not it was here. */
function isOfUse(outcome: Outcome): boolean {
  return outcome.kind !== 'breach' || outcome.rule === 'something-new'
}
