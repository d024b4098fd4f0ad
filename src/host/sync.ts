/**
 * Catches up: asks connected peers for what is missing, a piece at a time, no faster than the
 * writer takes it, and goes on until nothing is missing that somebody has. What to ask, of whom
 * and when again is decided by `sync-plan.ts`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import type { P2p } from '../p2p/p2p.ts'
import type { BlockOrigin, Verdict } from '../p2p/peers/verdict.ts'
import type { CompleteBranch } from './branch-pull.ts'
import { type Take, verdictOf } from './intake.ts'
import type { HostMetrics } from './metrics.ts'
import type { Outcome } from './outcome.ts'
import {
  nextChangeMs,
  nextPull,
  type PlanOptions,
  type PlanTime,
  type Pull,
  type Setback,
  type StoredHeights,
  withoutPeer,
  withoutSetback,
  withSetback,
} from './sync-plan.ts'

export interface SyncParts {
  readonly log: Logger
  readonly metrics: Pick<HostMetrics, 'pulled'>
  readonly p2p: Pick<P2p, 'peers' | 'pull' | 'judge' | 'onPeer'>
  /** What is stored now, and since when the highest block is. */
  readonly stored: () => StoredHeights | null
  readonly headSinceMs: () => number
  readonly take: Take
  readonly completeBranch: CompleteBranch
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface Sync {
  /** Says that something changed that may leave something to pull. */
  wake(): void
  /** Ends the running pull and waits for it. */
  close(): Promise<void>
}

/** Blocks of a pull that may be with the writer at a time. */
const maxWithWriter = 4
/**
 * How long a peer of whom everything was pulled is given to have more: one that catches up itself
 * has a new block every moment, and a stream for each would cost more than the blocks.
 */
const gatherMs = 150

/** Begins at once and runs until it is closed. */
export function openSync(options: PlanOptions, parts: SyncParts): Sync {
  const { log, p2p } = parts
  const closing = new AbortController()
  const { signal } = closing
  let setbacks: readonly Setback[] = []
  let woken = Promise.withResolvers<void>()
  let lastPull: Pull | null = null

  const wake = (): void => {
    woken.resolve()
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const time: PlanTime = { nowMs: Date.now(), headSinceMs: parts.headSinceMs() }
      const pull = nextPull(p2p.peers(), parts.stored(), setbacks, time, options)
      if (pull === null) await pause(nextChangeMs(setbacks, time, options))
      else await runPull(pull)
    }
  }

  const pause = async (untilMs: number | null): Promise<void> => {
    const timer = untilMs === null ? undefined : setTimeout(wake, untilMs - Date.now() + 1)
    await woken.promise
    clearTimeout(timer)
    woken = Promise.withResolvers<void>()
  }

  const runPull = async (pull: Pull): Promise<void> => {
    const piece = await pullPiece(pull, signal, parts)
    if (signal.aborted) return
    const result = resultOf(pull, piece)
    for (const height of piece.delivered) setbacks = withoutSetback(setbacks, pull.peer, height)
    if (result !== 'whole' || isRepeated(pull)) setbacks = withSetback(setbacks, pull, Date.now())
    lastPull = pull
    const facts = { ...pull, blocks: piece.delivered.size, result, err: piece.error ?? undefined }
    log[result === 'whole' ? 'info' : 'debug'](facts, 'missing blocks pulled')
    parts.metrics.pulled(result)
    if (result === 'whole' && isAllOf(pull))
      await delay(gatherMs, undefined, { signal }).catch(() => undefined)
  }

  const isAllOf = ({ peer, to }: Pull): boolean => {
    const announced = p2p.peers().find(({ id }) => id === peer)?.announced
    return to >= (announced?.head ?? to)
  }

  /** What was delivered is still missing: a store that is ahead of the plan, not a reason to spin. */
  const isRepeated = ({ peer, from, to }: Pull): boolean =>
    lastPull?.peer === peer && lastPull.from === from && lastPull.to === to

  const stopListening = p2p.onPeer(({ type, peer }) => {
    if (type === 'connected') setbacks = withoutPeer(setbacks, peer)
    wake()
  })
  const running = run().catch(parts.onFatal)
  return {
    wake,
    close: async () => {
      stopListening()
      closing.abort(new Error('the Host is closing'))
      wake()
      await running
    },
  }
}

interface Piece {
  /** Heights that the peer delivered and that are stored now. */
  readonly delivered: ReadonlySet<number>
  /** Why it ended before everything was asked for and taken; null where it did not. */
  readonly error: ServiceError | null
}

function resultOf(pull: Pull, { delivered, error }: Piece): 'whole' | 'partial' | 'failed' {
  if (error !== null) return 'failed'
  return delivered.size === pull.to - pull.from + 1 ? 'whole' : 'partial'
}

/** Pulls one piece. Throws only when the writer fails. */
async function pullPiece(pull: Pull, closing: AbortSignal, parts: SyncParts): Promise<Piece> {
  const delivered = new Set<number>()
  const stop = new AbortController()
  const signal = AbortSignal.any([closing, stop.signal])
  const from: BlockOrigin = { peer: pull.peer, via: 'pull' }
  const withWriter = new Set<Promise<void>>()

  const takeIn = async (bytes: Uint8Array): Promise<void> => {
    const outcome = await parts.completeBranch(
      await parts.take(bytes, from, pull.mayFloat),
      from,
      signal,
    )
    const verdict = verdictOf(outcome)
    if (verdict.action !== 'ignore') parts.p2p.judge(pull.peer, verdict)
    if (isStored(outcome)) delivered.add(outcome.height)
    if (verdict.action === 'reject') stop.abort(pieceFailed(verdict))
  }

  /** What goes wrong with one block ends the piece; it is told where the piece is awaited. */
  const begin = (bytes: Uint8Array): void => {
    const taken = takeIn(bytes)
      .catch((error: unknown) => stop.abort(error))
      .finally(() => withWriter.delete(taken))
    withWriter.add(taken)
  }

  try {
    for await (const bytes of parts.p2p.pull(pull.peer, pull.from, pull.to, signal)) {
      begin(bytes)
      if (withWriter.size >= maxWithWriter) await Promise.race(withWriter)
    }
    await Promise.all(withWriter)
    signal.throwIfAborted()
    return { delivered, error: null }
  } catch (thrown) {
    await Promise.all(withWriter)
    const error: unknown = stop.signal.aborted ? stop.signal.reason : thrown
    if (closing.aborted) return { delivered, error: null }
    if (error instanceof ServiceError && pieceErrors.has(error.code)) return { delivered, error }
    throw error
  }
}

/** Failures of a peer, after which another one is asked. */
const pieceErrors: ReadonlySet<string> = new Set(['P2P_PULL_FAILED', 'HOST_BLOCK_REJECTED'])

function pieceFailed(verdict: Extract<Verdict, { action: 'reject' }>): ServiceError {
  return new ServiceError('HOST_BLOCK_REJECTED', `a peer sent a bad block: ${verdict.reason}`)
}

function isStored(outcome: Outcome): outcome is Outcome & { height: number } {
  if (outcome.kind === 'stored' || outcome.kind === 'votes') return true
  return outcome.kind === 'breach' && outcome.rule === 'something-new'
}
