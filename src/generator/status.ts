/** The current state of the Generator, for `/health`, counters and gauges. */
import type { Registry } from 'prom-client'
import { newestSealMs } from '../mesh/sealed-blocks.ts'
import type { P2p } from '../p2p/p2p.ts'
import { declareScrapedGauges } from '../scraped-gauge.ts'
import type { FailureReport } from '../service/contract.ts'
import {
  blocksBehind,
  type Counters,
  type HealthState,
  startingState,
  toFailureReport,
  toPeerFailureReports,
} from '../service/health/health-report.ts'
import { createRecentCount } from '../service/recent-count.ts'
import type { VolumeWatch } from '../store/disk/volume-watch.ts'
import type { BlockHeader, Snapshot, StoreReader } from '../store/store.ts'
import type { GeneratorSettings } from './config.ts'
import { type FormerIdentity, identityReplaced, isAmongNewest } from './ingest/former-identity.ts'
import type { UpstreamState } from './read/upstream-state.ts'

/** What becomes known while the program starts. */
interface ReportedParts {
  readonly reader: StoreReader | null
  readonly p2p: Pick<P2p, 'self' | 'peers' | 'failures'> | null
  readonly volume: Pick<VolumeWatch, 'failure'> | null
  /** The public key that seals are signed with. */
  readonly identity: string | null
  /** Who sealed the newest blocks that were stored at the start, where that is another identity. */
  readonly former: FormerIdentity | null
  /** What the execution node says it is. */
  readonly chainId: number | null
  /** Hash of block 0. */
  readonly genesis: string | null
}

export interface GeneratorStatusReporter {
  state(): HealthState
  counters(): Counters
  /** Height of the execution node's head; null before it is known. */
  sourceHead(): number | null
  onSealed(header: BlockHeader): void
  onUpstream(state: UpstreamState): void
  /** Takes what became known while the program starts. */
  report(parts: Partial<ReportedParts>): void
  setReady(isReady: boolean): void
  /** Called before the parts are closed: `/health` is served until the very end. */
  close(): void
}

const maxGaps = 100

/** The status of a Generator that is starting. */
export function createGeneratorStatus(
  settings: Pick<GeneratorSettings, 'chainName' | 'chainNetwork'>,
  nowMs: () => number = Date.now,
): GeneratorStatusReporter {
  let parts: ReportedParts = {
    reader: null,
    p2p: null,
    volume: null,
    identity: null,
    former: null,
    chainId: null,
    genesis: null,
  }
  const sealed = countSealed(nowMs)
  let upstream: UpstreamState | null = null
  let isReady = false

  const readStore = <T>(read: (snapshot: Snapshot) => T, otherwise: T): T =>
    parts.reader === null ? otherwise : parts.reader.read(read)

  const sourceHead = (): number | null => upstream?.head ?? null

  const errors = (): FailureReport[] => {
    const filling = parts.volume?.failure() ?? null
    return [
      ...(upstream?.error ? [upstream.error] : []),
      ...replacedIdentity(
        parts,
        readStore((snapshot) => snapshot.range(), null),
      ),
      ...toPeerFailureReports(parts.p2p?.failures() ?? []),
      ...(filling === null ? [] : [toFailureReport(filling)]),
    ]
  }

  return {
    report(more) {
      parts = { ...parts, ...more }
    },
    sourceHead,
    state() {
      const range = readStore((snapshot) => snapshot.range(), null)
      return {
        ...startingState(settings.chainName, settings.chainNetwork),
        ready: isReady,
        storeOpen: parts.reader !== null,
        tail: range?.tail ?? null,
        head: range?.head ?? null,
        chainId: parts.chainId,
        genesis: parts.genesis,
        identity: parts.identity,
        lastProcessedMs: sealed.lastMs() ?? readStore(newestSealMs, null),
        sourceHead: sourceHead(),
        sourceHeadSinceMs: upstream?.headSinceMs ?? null,
        upstreamMode: upstream?.mode ?? 'offline',
        gaps: readStore((snapshot) => snapshot.gaps(maxGaps), []),
        errors: errors(),
        p2p: { self: parts.p2p?.self() ?? null, peers: parts.p2p?.peers() ?? [] },
      }
    },
    counters: sealed.counters,
    onSealed: sealed.add,
    onUpstream(state) {
      upstream = state
    },
    setReady(ready) {
      isReady = ready
    },
    close() {
      isReady = false
      parts = { ...parts, reader: null, p2p: null }
    },
  }
}

/** As long as one of the newest blocks is one that the former identity sealed. */
function replacedIdentity(
  { identity, former }: Pick<ReportedParts, 'identity' | 'former'>,
  range: ReturnType<Snapshot['range']>,
): FailureReport[] {
  if (identity === null || former === null || range === null) return []
  return isAmongNewest(former, range) ? [toFailureReport(identityReplaced(identity, former))] : []
}

/** Counts what was sealed since the start. */
function countSealed(nowMs: () => number): {
  add(header: BlockHeader): void
  counters(): Counters
  /** When the last block was sealed; null before the first. */
  lastMs(): number | null
} {
  const totals = { blocks: 0, transactions: 0, logs: 0, entries: 0, lastMs: 0 }
  const recentBlocks = createRecentCount(nowMs)
  let sealedMs: number | null = null
  return {
    lastMs: () => sealedMs,
    add({ sections }) {
      const now = nowMs()
      totals.blocks++
      totals.transactions += sections.Transaction
      totals.logs += sections.Log
      totals.entries += sections.AccessListEntry
      totals.lastMs = sealedMs === null ? 0 : now - sealedMs
      sealedMs = now
      recentBlocks.add(1)
    },
    counters() {
      return {
        blocks_processed: totals.blocks,
        blocks_received: totals.blocks,
        blocks_per_minute: recentBlocks.count(),
        unique_blocks: totals.blocks,
        transactions_processed: totals.transactions,
        unique_transactions: totals.transactions,
        logs_processed: totals.logs,
        unique_logs: totals.logs,
        access_lists_processed: totals.entries,
        unique_access_lists: totals.entries,
        block_signatures_processed: totals.blocks,
        batch_signatures_processed: totals.blocks,
        documents_processed: totals.blocks + totals.transactions + totals.logs + totals.entries,
        last_processing_time_ms: totals.lastMs,
      }
    },
  }
}

/** Gauges that are read from the status when they are scraped. */
export function declareGauges(status: GeneratorStatusReporter, registry: Registry): void {
  const headAge = (): number | null => {
    const { sourceHeadSinceMs: sinceMs } = status.state()
    return sinceMs === null ? null : Math.max(0, Date.now() - sinceMs) / 1_000
  }
  const lag = (): number | null => {
    const { head, sourceHead } = status.state()
    return blocksBehind(head, sourceHead)
  }
  declareScrapedGauges(registry, 'viewmesh_generator_', [
    ['head_height', 'Height of the newest stored block.', () => status.state().head],
    ['tail_height', 'Height of the oldest visible block.', () => status.state().tail],
    ['lag_blocks', 'Blocks the newest stored one is behind the node’s head.', lag],
    ['source_head_age_seconds', 'Seconds since another head of the node came.', headAge],
  ])
}
