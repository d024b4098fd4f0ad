/** What the Generator knows about itself at this moment, for `/health`, counters and gauges. */
import type { Registry } from 'prom-client'
import { newestSealMs } from '../mesh/sealed-blocks.ts'
import type { P2p } from '../p2p/p2p.ts'
import { declareScrapedGauge } from '../scraped-gauge.ts'
import type { FailureReport } from '../service/contract.ts'
import {
  blocksBehind,
  type Counters,
  type HealthState,
  startingState,
  toFailureReport,
  toPeerFailureReports,
} from '../service/health-report.ts'
import type { BlockHeader, Snapshot, StoreReader } from '../store/store.ts'
import type { VolumeWatch } from '../store/volume-watch.ts'
import type { GeneratorSettings } from './config.ts'
import type { UpstreamState } from './read/upstream-state.ts'

export interface Status {
  state(): HealthState
  counters(): Counters
  /** Height of the execution node's head; null before it is known. */
  sourceHead(): number | null
  onSealed(header: BlockHeader): void
  onUpstream(state: UpstreamState): void
  /** What becomes known while the program starts. */
  readonly parts: {
    reader: StoreReader | null
    p2p: Pick<P2p, 'self' | 'peers' | 'failures'> | null
    volume: Pick<VolumeWatch, 'failure'> | null
    /** The public key that seals are signed with. */
    identity: string | null
    /** Hash of block 0. */
    genesis: string | null
  }
  setReady(isReady: boolean): void
  /** Called before the parts are closed: `/health` is asked until the very end. */
  close(): void
}

const maxGaps = 100
/** What `blocks_per_minute` looks back on. */
const minuteMs = 60_000

/** The status of a Generator that is starting. */
export function createStatus(
  settings: Pick<GeneratorSettings, 'chainName' | 'chainNetwork'>,
  nowMs: () => number = Date.now,
): Status {
  const parts: Status['parts'] = {
    reader: null,
    p2p: null,
    volume: null,
    identity: null,
    genesis: null,
  }
  const sealed = countSealed(nowMs)
  let upstream: UpstreamState | null = null
  let isReady = false

  const look = <T>(read: (snapshot: Snapshot) => T, otherwise: T): T =>
    parts.reader === null ? otherwise : parts.reader.read(read)

  const sourceHead = (): number | null => upstream?.head ?? null

  const errors = (): FailureReport[] => {
    const filling = parts.volume?.failure() ?? null
    return [
      ...(upstream?.error ? [upstream.error] : []),
      ...toPeerFailureReports(parts.p2p?.failures() ?? []),
      ...(filling === null ? [] : [toFailureReport(filling)]),
    ]
  }

  return {
    parts,
    sourceHead,
    state() {
      const range = look((snapshot) => snapshot.range(), null)
      return {
        ...startingState(settings.chainName, settings.chainNetwork),
        ready: isReady,
        storeOpen: parts.reader !== null,
        tail: range?.tail ?? null,
        head: range?.head ?? null,
        genesis: parts.genesis,
        identity: parts.identity,
        lastProcessedMs: sealed.lastMs() ?? look(newestSealMs, null),
        sourceHead: sourceHead(),
        upstreamMode: upstream?.mode ?? 'offline',
        gaps: look((snapshot) => snapshot.gaps(maxGaps), []),
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
      parts.reader = null
      parts.p2p = null
    },
  }
}

/** Counts what was sealed since the start. */
function countSealed(nowMs: () => number): {
  add(header: BlockHeader): void
  counters(): Counters
  /** When the last block was sealed; null before the first. */
  lastMs(): number | null
} {
  const totals = { blocks: 0, transactions: 0, logs: 0, entries: 0, lastMs: 0 }
  const lately: number[] = []
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
      lately.push(now)
      dropOld(lately, now - minuteMs)
    },
    counters() {
      dropOld(lately, nowMs() - minuteMs)
      return {
        blocks_processed: totals.blocks,
        blocks_received: totals.blocks,
        blocks_per_minute: lately.length,
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

function dropOld(times: number[], before: number): void {
  const kept = times.findIndex((time) => time >= before)
  times.splice(0, kept < 0 ? times.length : kept)
}

/** Gauges that are read from the status when they are scraped. */
export function declareGauges(status: Status, registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number | null): void =>
    declareScrapedGauge(registry, { name: `viewmesh_generator_${name}`, help, read })
  gauge('head_height', 'Height of the newest stored block.', () => status.state().head)
  gauge('tail_height', 'Height of the oldest visible block.', () => status.state().tail)
  gauge('lag_blocks', 'Blocks the newest stored one is behind the node’s head.', () => {
    const { head, sourceHead } = status.state()
    return blocksBehind(head, sourceHead)
  })
}
