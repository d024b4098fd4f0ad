/** What the Host knows about itself at this moment, for `/health` and for the gauges. */
import type { ServiceError } from '../errors.ts'
import type { P2p } from '../p2p/p2p.ts'
import type { FailureReport, GapReport } from '../service/contract.ts'
import {
  blocksBehind,
  type HealthState,
  startingState,
  toFailureReport,
} from '../service/health-report.ts'
import { newestSealMs } from '../store/sealed-blocks.ts'
import type { Snapshot, StoreReader } from '../store/store.ts'
import type { VolumeWatch } from '../store/volume-watch.ts'
import type { HostSettings } from './config.ts'
import type { HostGauges } from './metrics.ts'
import type { SchemaSync } from './schema/schema-sync.ts'
import type { StoredHeights } from './sync/sync-plan.ts'

/** Parts that are known while they are open. */
export interface StatusParts {
  schema: SchemaSync | null
  reader: StoreReader | null
  p2p: P2p | null
  volume: Pick<VolumeWatch, 'failure'> | null
}

export interface Status {
  readonly parts: StatusParts
  readonly gauges: HostGauges
  state(): HealthState
  stored(): StoredHeights | null
  /** When the highest block was stored, or this was made. */
  headSinceMs(): number
  onStored(): void
  setNetwork(chain: string, network: string): void
  setReady(ready: boolean): void
  /**
   * Says that peers are on another branch than what is stored, until what is stored goes on where it ends,
   * or is first interrupted, now: blocks far above that do not continue it are no answer.
   */
  setFork(error: FailureReport): void
}

/** Gaps that `/health` lists, and that the plan looks at. */
const maxGaps = 100
/** Peers that `/health` names because somebody else answers in their place. */
const maxMismatches = 10

/** The status of a Host that is starting. */
export function createStatus(settings: HostSettings, nowMs: () => number = Date.now): Status {
  const parts: StatusParts = { schema: null, reader: null, p2p: null, volume: null }
  let names = { chain: settings.chainName, network: settings.chainNetwork }
  let ready = false
  let fork: { readonly height: number | null; readonly error: FailureReport } | null = null
  let lastStoredMs: number | null = null
  const startedMs = nowMs()

  const look = <T>(read: (snapshot: Snapshot) => T): T | null =>
    parts.reader === null ? null : parts.reader.read(read)
  const stored = (): StoredHeights | null =>
    look((snapshot) => {
      const range = snapshot.range()
      return range === null ? null : { ...range, gaps: snapshot.gaps(maxGaps) }
    })
  const sourceHead = (): number | null => parts.p2p?.highestAnnounced() ?? null

  const errors = (): FailureReport[] => {
    const standing = [parts.schema?.refusal() ?? null, parts.volume?.failure() ?? null]
    return [
      ...(fork === null ? [] : [fork.error]),
      ...(parts.p2p?.mismatches() ?? []).slice(0, maxMismatches).map(mismatchReport),
      ...standing.filter((failure) => failure !== null).map(toFailureReport),
    ]
  }

  const state = (): HealthState => {
    const heights = stored()
    return {
      ...startingState(names.chain, names.network),
      ready,
      errors: errors(),
      storeOpen: parts.reader !== null,
      tail: heights?.tail ?? null,
      head: heights?.head ?? null,
      lastProcessedMs: lastStoredMs ?? look(newestSealMs),
      sourceHead: sourceHead(),
      gaps: heights?.gaps ?? [],
      schema: parts.schema?.report() ?? { state: 'embedded', differing: [] },
      p2p: { self: parts.p2p?.self() ?? null, peers: parts.p2p?.peers() ?? [] },
    }
  }

  return {
    parts,
    state,
    stored,
    gauges: {
      head: () => stored()?.head ?? null,
      lag: () => blocksBehind(stored()?.head ?? null, sourceHead()),
      gapBlocks: () => countBlocks(stored()?.gaps ?? []),
    },
    headSinceMs: () => lastStoredMs ?? startedMs,
    onStored: () => {
      lastStoredMs = nowMs()
      if (fork !== null && fork.height !== firstMissing(stored())) fork = null
    },
    setNetwork: (chain, network) => {
      names = { chain, network }
    },
    setReady: (next) => {
      ready = next
    },
    setFork: (error) => {
      fork = { height: firstMissing(stored()), error }
    },
  }
}

/** Both IDs are in the message; where it was is not. */
function mismatchReport(error: ServiceError): FailureReport {
  const report = toFailureReport(error)
  const { peer, address } = error.facts
  return { ...report, message: `${report.message}, at ${address}`, expected_peer: `${peer}` }
}

/** The lowest height above stored ones that is not stored; null before the first block. */
function firstMissing(heights: StoredHeights | null): number | null {
  return heights === null ? null : (heights.gaps[0]?.from ?? heights.head + 1)
}

function countBlocks(gaps: readonly GapReport[]): number {
  return gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0)
}
