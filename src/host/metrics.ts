/** The Host's own metrics, and the same numbers in the form that older readers of `/metrics` expect. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { declareScrapedGauges } from '../scraped-gauge.ts'
import type { Counters } from '../service/health/health-report.ts'
import { createRecentCount } from '../service/recent-count.ts'
import type { Outcome, Stored, Timings } from './apply/outcome.ts'
import type { HeadOutcome } from './apply/signer-heads.ts'
import type { Breach } from './apply/verify.ts'

export interface HostMetrics {
  /** Counts one sealed block and what became of it. */
  message(via: 'gossip' | 'pull', outcome: Outcome, work: Timings): void
  /** Counts one gossiped head and what became of it. */
  head(outcome: HeadOutcome): void
  /** Counts blocks that were written. */
  stored(stored: Stored): void
  /** Counts seals that a comparison with a peer brought. */
  voteExchange(seals: number): void
  /** Counts statements about rows that a comparison with a peer brought. */
  rowVoteExchange(statements: number): void
  /** Counts a piece of a catch-up by how it ended. */
  pulled(result: 'whole' | 'partial' | 'failed'): void
  /** Messages that are with the writer. */
  readonly waiting: Gauge
  counters(): Counters
}

/** What the gauges show when they are read. */
export interface HostGauges {
  readonly head: () => number | null
  readonly lag: () => number | null
  readonly gapBlocks: () => number
  readonly standsStillSeconds: () => number
  readonly signers: () => number
  readonly countedSigners: () => number
  readonly siblings: () => number
  readonly waitingBlocks: () => number
  readonly waitingBytes: () => number
}

/** Declares the metrics in `registry`. */
export function createHostMetrics(registry: Registry, gauges: HostGauges): HostMetrics {
  const registers = [registry]
  const counter = <T extends string = never>(name: string, help: string, labelNames: T[] = []) =>
    new Counter<T>({ name: `viewmesh_host_${name}_total`, help, labelNames, registers })
  const seconds = (name: string, help: string): Histogram =>
    new Histogram({
      name: `viewmesh_host_${name}_seconds`,
      help,
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
      registers,
    })
  const totals = createTotals(counter)
  const verifySeconds = seconds('verify', 'Seconds to check one message and find its place.')
  const applySeconds = seconds(
    'apply',
    'Seconds until a message was on the disk, waiting included.',
  )
  let lastMs = 0
  const recentBlocks = createRecentCount(() => performance.now())
  declareGauges(registry, gauges)

  const stored = ({ taken, removed }: Stored): void => {
    const { blocks, transactions, logs, accessListEntries } = taken
    totals.blocks.inc(blocks)
    totals.transactions.inc(transactions)
    totals.logs.inc(logs)
    totals.entries.inc(accessListEntries)
    recentBlocks.add(blocks)
    if (removed === 0) return
    totals.reorgs.inc()
    totals.removed.inc(removed)
  }

  return {
    waiting: new Gauge({
      name: 'viewmesh_host_waiting_messages',
      help: 'Messages that wait for the writer thread.',
      registers,
    }),
    message: (via, outcome, work) => {
      totals.messages.inc({ via, outcome: labelOf(outcome) })
      if (outcome.kind !== 'breach') totals.seals.inc(outcome.seals)
      if (outcome.kind === 'breach') totals.breaches.inc({ rule: outcome.rule })
      verifySeconds.observe(work.verifyMs / 1_000)
      if (outcome.kind === 'block' && outcome.isStored) applySeconds.observe(work.applyMs / 1_000)
      lastMs = work.verifyMs + work.applyMs
    },
    head: (outcome) =>
      totals.heads.inc({ outcome: outcome.kind === 'newer' ? 'newer' : breachLabel(outcome) }),
    stored,
    voteExchange: (seals) => {
      totals.madeUp.inc(seals)
      totals.seals.inc(seals)
    },
    rowVoteExchange: (statements) => totals.rowStatements.inc(statements),
    pulled: (result) => totals.pieces.inc({ result }),
    counters: () => ({ ...toCounters(totals, lastMs), blocks_per_minute: recentBlocks.count() }),
  }
}

type MakeCounter = <T extends string = never>(
  name: string,
  help: string,
  labelNames?: T[],
) => Counter<T>

interface Totals {
  readonly messages: Tally<'via' | 'outcome'>
  readonly heads: Tally<'outcome'>
  readonly breaches: Tally<'rule'>
  readonly pieces: Tally<'result'>
  readonly blocks: Tally
  readonly transactions: Tally
  readonly logs: Tally
  readonly entries: Tally
  readonly seals: Tally
  readonly reorgs: Tally
  readonly removed: Tally
  readonly madeUp: Tally
  readonly rowStatements: Tally
}

function createTotals(counter: MakeCounter): Totals {
  return {
    messages: tally(
      counter('messages', 'Sealed blocks received, by way and by what became of them.', [
        'via',
        'outcome',
      ]),
    ),
    heads: tally(
      counter('heads', 'Gossiped heads of signers, by what became of them.', ['outcome']),
    ),
    breaches: tally(
      counter('broken_rules', 'Messages ignored or rejected, by the rule they broke.', ['rule']),
    ),
    pieces: tally(
      counter('pulled_pieces', 'Pieces of missing blocks asked of peers, by result.', ['result']),
    ),
    blocks: tally(counter('blocks_processed', 'Blocks verified and stored.')),
    transactions: tally(counter('transactions_processed', 'Transactions stored.')),
    logs: tally(counter('logs_processed', 'Logs stored.')),
    entries: tally(counter('access_list_entries_processed', 'Access list entries stored.')),
    seals: tally(counter('block_signatures_processed', 'Seals verified and stored.')),
    reorgs: tally(counter('reorganisations', 'Times stored blocks gave way to another branch.')),
    removed: tally(counter('removed_blocks', 'Stored blocks that gave way to another branch.')),
    madeUp: tally(
      counter('made_up_seals', 'Seals that gossip did not bring and a comparison with a peer did.'),
    ),
    rowStatements: tally(
      counter(
        'row_statements_taken',
        'Statements of accepted Hosts about rows that a comparison with a peer brought.',
      ),
    ),
  }
}

/** A counter whose sum can be read without waiting. */
interface Tally<T extends string = never> {
  inc(labels: Partial<Record<T, string>>): void
  inc(value?: number): void
  sum(): number
  /** The sum for one label value. */
  of(value: string): number
}

function tally<T extends string>(counter: Counter<T>): Tally<T> {
  let sum = 0
  const byLabel = new Map<string, number>()
  return {
    inc: (by: number | Partial<Record<T, string>> = 1) => {
      if (typeof by === 'number') {
        sum += by
        counter.inc(by)
        return
      }
      sum += 1
      for (const value of Object.values<string | undefined>(by))
        if (value !== undefined) byLabel.set(value, (byLabel.get(value) ?? 0) + 1)
      counter.inc(by, 1)
    },
    sum: () => sum,
    of: (value) => byLabel.get(value) ?? 0,
  }
}

function labelOf(outcome: Outcome): string {
  if (outcome.kind === 'breach') return breachLabel(outcome)
  if (outcome.kind === 'seals') return 'seals'
  return outcome.isStored ? 'stored' : 'waiting'
}

function breachLabel({ action }: Breach): string {
  return action === 'ignore' ? 'ignored' : 'rejected'
}

function toCounters(totals: Totals, lastMs: number): Counters {
  const blocks = totals.blocks.sum()
  const documents = blocks + totals.transactions.sum() + totals.logs.sum() + totals.entries.sum()
  const failures = totals.breaches.of('valid-signature')
  return {
    attestations_created: totals.seals.sum(),
    attestation_errors: totals.messages.of('rejected'),
    signature_verifications: totals.seals.sum() + failures,
    signature_failures: failures,
    documents_received: documents,
    documents_processed: documents,
    blocks_received: totals.messages.sum(),
    blocks_processed: blocks,
    unique_blocks: blocks,
    transactions_processed: totals.transactions.sum(),
    unique_transactions: totals.transactions.sum(),
    logs_processed: totals.logs.sum(),
    unique_logs: totals.logs.sum(),
    access_lists_processed: totals.entries.sum(),
    unique_access_lists: totals.entries.sum(),
    block_signatures_processed: totals.seals.sum(),
    batch_signatures_processed: totals.seals.sum(),
    block_sig_events_received: totals.messages.sum(),
    batch_sig_events_received: totals.messages.sum(),
    last_processing_time_ms: lastMs,
  }
}

function declareGauges(registry: Registry, gauges: HostGauges): void {
  const orNaN = (read: () => number | null) => () => read() ?? Number.NaN
  declareScrapedGauges(registry, 'viewmesh_host_', [
    ['head_height', 'Highest stored height; NaN before the first block.', orNaN(gauges.head)],
    [
      'lag_blocks',
      'Blocks between the height that most counted signers have reached and ours; NaN while unknown.',
      orNaN(gauges.lag),
    ],
    [
      'gap_blocks',
      'Blocks missing between the lowest and the highest stored one.',
      gauges.gapBlocks,
    ],
    [
      'stands_still_seconds',
      'Seconds for which heads of signers have gone on while nothing was stored.',
      gauges.standsStillSeconds,
    ],
    ['signers', 'Accepted signers.', gauges.signers],
    ['siblings', 'Connected replicas of the same Host; they are among the peers.', gauges.siblings],
    ['counted_signers', 'Accepted signers whose heads count now.', gauges.countedSigners],
    [
      'waiting_blocks',
      'Verified blocks that wait until most signers stand on them.',
      gauges.waitingBlocks,
    ],
    ['waiting_bytes', 'Bytes of the blocks that wait.', gauges.waitingBytes],
  ])
}
