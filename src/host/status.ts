/** What the Host knows about itself at this moment, for `/health` and for the gauges. */

import { newestSealMs } from '../mesh/sealed-blocks.ts'
import type { P2p } from '../p2p/p2p.ts'
import type { FailureReport, GapReport, SignerReport } from '../service/contract.ts'
import {
  blocksBehind,
  type HealthState,
  startingState,
  toFailureReport,
  toPeerFailureReports,
} from '../service/health-report.ts'
import type { Snapshot, StoreReader } from '../store/store.ts'
import type { VolumeWatch } from '../store/volume-watch.ts'
import type { FollowState, SignerState } from './apply/outcome.ts'
import type { HostSettings } from './config.ts'
import type { HostGauges } from './metrics.ts'
import type { SchemaSync } from './schema/schema-sync.ts'
import type { Trust } from './trust/trust.ts'

/** Parts that are known while they are open. */
export interface StatusParts {
  schema: Pick<SchemaSync, 'report' | 'failure'> | null
  reader: StoreReader | null
  p2p: Pick<P2p, 'self' | 'peers' | 'failures'> | null
  volume: Pick<VolumeWatch, 'failure'> | null
  trust: Pick<Trust, 'mode' | 'sources' | 'failures'> | null
}

/** What the store holds; null before the first block. */
export interface StoredHeights {
  readonly tail: number
  readonly head: number
  /** Missing heights between `tail` and `head`, ascending; the lowest ones where there are many. */
  readonly gaps: readonly GapReport[]
}

export interface Status {
  readonly parts: StatusParts
  readonly gauges: HostGauges
  /** What is wrong with the signers, which nobody else logs. */
  signerFailures(): readonly FailureReport[]
  state(): HealthState
  stored(): StoredHeights | null
  /** Blocks were stored now. */
  onStored(): void
  /** Where the Host stands among its signers now. */
  onFollow(follow: FollowState): void
  setNetwork(chain: string, network: string): void
  setIdentity(identity: string): void
  setReady(ready: boolean): void
  /** Whether the start waits for a Generator to say which chain this is. */
  setWaiting(isWaiting: boolean): void
  /** Called before the parts are closed: `/health` is asked until the very end. */
  close(): void
}

/** Gaps that `/health` lists. */
const maxGaps = 100

/** The status of a Host that is starting. */
export function createStatus(settings: HostSettings, nowMs: () => number = Date.now): Status {
  const parts: StatusParts = { schema: null, reader: null, p2p: null, volume: null, trust: null }
  let names = { chain: settings.chainName, network: settings.chainNetwork }
  let ready = false
  let isWaiting = false
  let identity: string | null = null
  let follow: FollowState | null = null
  let lastStoredMs: number | null = null

  const look = <T>(read: (snapshot: Snapshot) => T): T | null =>
    parts.reader === null ? null : parts.reader.read(read)
  const stored = (): StoredHeights | null =>
    look((snapshot) => {
      const range = snapshot.range()
      return range === null ? null : { ...range, gaps: snapshot.gaps(maxGaps) }
    })
  const reached = (): number | null => follow?.reached ?? null

  const signerFailures = (): FailureReport[] => [
    ...(parts.trust?.failures() ?? []),
    ...(follow?.failures ?? []),
  ]
  const errors = (): FailureReport[] => {
    const standing = [parts.schema?.failure() ?? null, parts.volume?.failure() ?? null]
    return [
      ...(isWaiting ? [networkUnknown] : []),
      ...(follow?.failures ?? []),
      ...toPeerFailureReports(parts.p2p?.failures() ?? []),
      ...(parts.trust?.failures() ?? []),
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
      genesis: follow?.genesis ?? null,
      identity,
      sourceHead: reached(),
      gaps: heights?.gaps ?? [],
      trust: parts.trust?.mode ?? null,
      signers: parts.trust === null ? null : signerReports(parts.trust, follow?.signers ?? []),
      schema: parts.schema?.report() ?? { state: 'embedded', differing: [] },
      p2p: { self: parts.p2p?.self() ?? null, peers: parts.p2p?.peers() ?? [] },
    }
  }

  return {
    parts,
    signerFailures,
    state,
    stored,
    gauges: {
      head: () => stored()?.head ?? null,
      lag: () => blocksBehind(stored()?.head ?? null, reached()),
      gapBlocks: () => countBlocks(stored()?.gaps ?? []),
      signers: () => follow?.signers.length ?? 0,
      countedSigners: () => follow?.signers.filter(({ isCounted }) => isCounted).length ?? 0,
      waitingBlocks: () => follow?.waiting.blocks ?? 0,
      waitingBytes: () => follow?.waiting.bytes ?? 0,
    },
    onStored: () => {
      lastStoredMs = nowMs()
    },
    onFollow: (next) => {
      follow = next
    },
    setNetwork: (chain, network) => {
      names = { chain, network }
    },
    setIdentity: (own) => {
      identity = own
    },
    setReady: (next) => {
      ready = next
    },
    setWaiting: (next) => {
      isWaiting = next
    },
    close: () => {
      ready = false
      parts.reader = null
    },
  }
}

const networkUnknown: FailureReport = {
  code: 'HOST_NETWORK_UNKNOWN',
  message:
    'Nobody has said yet which chain this Host is of: there is no schema of the Generator at GENERATOR_SCHEMA_URL.',
  remedy:
    'Start that Generator, correct the address or the token, or set CHAIN_NAME and CHAIN_NETWORK.',
}

/** The accepted signers with their sources; under `anyone` those that were heard. */
function signerReports(
  trust: Pick<Trust, 'mode' | 'sources'>,
  states: readonly SignerState[],
): SignerReport[] {
  const sources = new Map(trust.sources().map((each) => [each.identity, each]))
  const shown = states.filter(({ identity }) => trust.mode === 'anyone' || sources.has(identity))
  return shown.map(({ identity, head, heardAt, isCounted }) => {
    const known = sources.get(identity)
    return {
      identity,
      source: known?.source ?? 'anyone',
      peer: known?.peer ?? null,
      head: head === null ? null : { number: head.number, hash: head.hash },
      node_height: head?.nodeHeight ?? null,
      last_heard: heardAt === null ? null : new Date(heardAt).toISOString(),
      counted: isCounted,
    }
  })
}

function countBlocks(gaps: readonly GapReport[]): number {
  return gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0)
}
