/**
 * Where sealed blocks enter on the main thread: their bytes go to the writer, and what became of
 * them is counted, logged and turned into a verdict on the sender.
 */
import type { Logger } from 'pino'
import type { BlockOrigin, Verdict } from '../p2p/peers/verdict.ts'
import type { HostMetrics } from './metrics.ts'
import type { Applier, Outcome } from './outcome.ts'

export interface IntakeParts {
  readonly log: Logger
  readonly metrics: Pick<HostMetrics, 'message' | 'waiting'>
  /** Gives the bytes away to the writer. Rejects when the store failed. */
  readonly apply: Applier['receive']
  readonly onStored: (outcome: Extract<Outcome, { kind: 'stored' }>) => void
  readonly onTooDeep: (height: number) => void
}

/** Hands one message to the writer; see `Applier.receive` for `mayFloat`, false by default. */
export type Take = (bytes: Uint8Array, from: BlockOrigin, mayFloat?: boolean) => Promise<Outcome>

/** The function that takes messages in. */
export function createIntake(parts: IntakeParts): Take {
  const { log, metrics } = parts
  return async (bytes, from, mayFloat = false) => {
    metrics.waiting.inc()
    const { outcome, work } = await parts
      .apply(bytes, mayFloat)
      .finally(() => metrics.waiting.dec())
    metrics.message(from.via, outcome, work)
    tell(outcome, from, log)
    if (outcome.kind === 'stored') parts.onStored(outcome)
    if (outcome.kind === 'too-deep') parts.onTooDeep(outcome.height)
    return outcome
  }
}

function tell(outcome: Outcome, { peer, via }: BlockOrigin, log: Logger): void {
  if (outcome.kind === 'stored') {
    const { height, taken, removed } = outcome
    const facts = { height, transactions: taken.transactions, logs: taken.logs, via, peer }
    log[via === 'gossip' ? 'info' : 'debug'](facts, 'block stored')
    if (removed > 0)
      log.info({ height: outcome.top, removed, added: taken.blocks }, 'reorganisation followed')
  } else if (outcome.kind === 'breach') {
    const { rule, detail, height, action } = outcome
    log[action === 'reject' ? 'warn' : 'debug'](
      { peer, via, rule, detail, height },
      `block ${action}ed`,
    )
  } else log.debug({ peer, via, ...outcome }, 'block received')
}

/** What the sender of a message deserves, where nothing more can be found out about it. */
export function verdictOf(outcome: Outcome): Verdict {
  switch (outcome.kind) {
    case 'stored':
    case 'votes':
    case 'announced':
      return { action: 'accept', height: outcome.height }
    case 'held':
      return { action: 'ignore', reason: 'what is stored is as long' }
    case 'detached':
      return { action: 'ignore', reason: 'the blocks below it are not stored yet' }
    case 'too-deep':
      return { action: 'ignore', reason: 'its branch begins too far below' }
    case 'incomplete':
      return { action: 'reject', reason: 'wrong parent: the sender does not have its chain' }
    case 'breach':
      return { action: outcome.action, reason: `${outcome.rule}: ${outcome.detail}` }
  }
}
