/**
 * The gossip validators, and where pulled blocks enter on the main thread: their bytes go to the writer, and
 * the outcome is counted, logged and turned into a verdict on the sender.
 */
import type { Logger } from 'pino'
import type { BlockOrigin, OnMessage, PeerVerdict } from '../../p2p/peers/verdict.ts'
import type { Outcome } from '../apply/outcome.ts'
import type { HeadOutcome } from '../apply/signer-heads.ts'
import type { Breach } from '../apply/verify.ts'
import type { Writer } from '../apply/writer.ts'
import type { HostMetrics } from '../metrics.ts'

interface IntakeParts {
  readonly log: Logger
  readonly metrics: Pick<HostMetrics, 'message' | 'head' | 'waiting'>
  readonly writer: Pick<Writer, 'receive' | 'receiveHead'>
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

/** Hands one sealed block to the writer, its bytes with it. Rejects when the store failed. */
export type Take = (bytes: Uint8Array, from: BlockOrigin) => Promise<Outcome>

export interface Intake {
  readonly take: Take
  /** Validates a gossiped block: what accepted signers sealed and the writer has checked is forwarded. */
  readonly onBlock: OnMessage
  /** Validates a gossiped head: the newest of an accepted signer is forwarded. */
  readonly onHead: OnMessage
}

/** The functions that take messages in. */
export function createIntake(parts: IntakeParts): Intake {
  const { log, metrics, writer } = parts
  const take: Take = async (bytes, from) => {
    metrics.waiting.inc()
    const { outcome, timings } = await writer
      .receive(bytes, from.via === 'gossip')
      .finally(() => metrics.waiting.dec())
    metrics.message(from.via, outcome, timings)
    logOutcome(outcome, from, log)
    return outcome
  }
  const validated = async (verdict: Promise<PeerVerdict>): Promise<PeerVerdict> => {
    try {
      return await verdict
    } catch (error) {
      parts.onFatal(error)
      return { action: 'ignore', reason: 'the Host is closing' }
    }
  }
  return {
    take,
    onBlock: (bytes, from) => validated(take(bytes, from).then(verdictOf)),
    onHead: (bytes, from) =>
      validated(
        writer.receiveHead(bytes).then((outcome) => {
          metrics.head(outcome)
          if (outcome.kind === 'breach') logBreach(outcome, from, log, 'head')
          return headVerdict(outcome)
        }),
      ),
  }
}

function logOutcome(outcome: Outcome, from: BlockOrigin, log: Logger): void {
  if (outcome.kind === 'breach') logBreach(outcome, from, log, 'block')
  else log.debug({ ...from, ...outcome }, 'block received')
}

function logBreach(
  { rule, detail, height, action }: Breach,
  from: BlockOrigin,
  log: Logger,
  what: 'block' | 'head',
): void {
  const facts = { ...from, rule, detail, height }
  if (action === 'reject') log.warn(facts, `${what} rejected`)
  else log.debug(facts, `${what} ignored`)
}

/** What the sender of a sealed block deserves. */
export function verdictOf(outcome: Outcome): PeerVerdict {
  if (outcome.kind === 'breach') return breachVerdict(outcome)
  return { action: 'accept', height: outcome.height }
}

/** What the sender of a head deserves; it is taken to have the block, or to have it soon. */
export function headVerdict(outcome: HeadOutcome): PeerVerdict {
  if (outcome.kind === 'breach') return breachVerdict(outcome)
  return { action: 'accept', height: outcome.height }
}

function breachVerdict({ action, rule, detail }: Breach): PeerVerdict {
  return { action, reason: `${rule}: ${detail}` }
}
