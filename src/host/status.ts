/**
 * What the Host reports about itself at this moment, in `/health` and in gauges. Its parts report to it;
 * nothing decides by what it holds.
 */
import { newestSealMs } from '../mesh/sealed-blocks.ts'
import type { P2p } from '../p2p/p2p.ts'
import type {
  FailureReport,
  GapReport,
  RegistryHealthReport,
  SignerReport,
  ViewHealthReport,
} from '../service/contract.ts'
import {
  blocksBehind,
  type HealthState,
  startingState,
  toFailureReport,
  toPeerFailureReports,
} from '../service/health/health-report.ts'
import type { VolumeWatch } from '../store/disk/volume-watch.ts'
import type { StoreReader } from '../store/store.ts'
import type { FollowState, SignerState } from './apply/outcome.ts'
import type { HostSettings } from './config.ts'
import type { ViewsFolder } from './folder/views-folder.ts'
import type { HostMesh } from './mesh.ts'
import type { HostGauges } from './metrics.ts'
import { type ReadyFacts, type ReadySettings, unreadyReport } from './readiness.ts'
import type { HostRegistry } from './registry/host-registry.ts'
import type { RowDisagreements } from './row-votes/row-disagreements.ts'
import type { SchemaSync } from './schema/schema-sync.ts'
import { type StoredRange, storedHead, storedRange } from './stored-range.ts'
import type { Trust } from './trust/trust.ts'
import type { HostViews } from './views/views.ts'

/** Parts that are reported while they are open; null for those that are not. */
interface ReportedParts {
  readonly schema: Pick<SchemaSync, 'report' | 'failure'> | null
  readonly reader: StoreReader | null
  readonly p2p: Pick<P2p, 'self' | 'peers' | 'failures'> | null
  /** Peer IDs of the other replicas of this Host. */
  readonly siblings: HostMesh['siblings'] | null
  readonly volume: Pick<VolumeWatch, 'failure'> | null
  readonly trust: Pick<Trust, 'mode' | 'sources' | 'failures'> | null
  readonly views: Pick<HostViews, 'list'> | null
  readonly folder: Pick<ViewsFolder, 'failures'> | null
  readonly rows: Pick<RowDisagreements, 'failures'> | null
  readonly registry: Pick<HostRegistry, 'report' | 'failures'> | null
}

export interface HostStatusReporter {
  readonly gauges: HostGauges
  state(): HealthState
  /** What is wrong with the accepted signers: who is trusted, who is silent, where their chains part. */
  signerFailures(): readonly FailureReport[]
  /** Reports these parts from now on, or no longer where they are null. */
  report(parts: Partial<ReportedParts>): void
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

const noParts: ReportedParts = {
  schema: null,
  reader: null,
  p2p: null,
  siblings: null,
  volume: null,
  trust: null,
  views: null,
  folder: null,
  rows: null,
  registry: null,
}

/** What was reported so far. */
interface Reported {
  readonly settings: ReadySettings
  parts: ReportedParts
  names: { readonly chain: string; readonly network: string }
  isReady: boolean
  isWaiting: boolean
  identity: string | null
  follow: FollowState | null
  lastStoredMs: number | null
  /** The highest height that was stored since the start; -1 for none. */
  highest: number
}

/** The status of a Host that is starting. */
export function createHostStatus(
  settings: HostSettings,
  nowMs: () => number = Date.now,
): HostStatusReporter {
  const reported: Reported = {
    settings,
    parts: noParts,
    names: { chain: settings.chainName, network: settings.chainNetwork },
    isReady: false,
    isWaiting: false,
    identity: null,
    follow: null,
    lastStoredMs: null,
    highest: -1,
  }
  return {
    state: () => healthState(reported),
    gauges: gaugesOf(reported),
    signerFailures: () => {
      const { parts, follow } = reported
      return [...(parts.trust?.failures() ?? []), ...(follow?.failures ?? [])]
    },
    report: (parts) => {
      reported.parts = { ...reported.parts, ...parts }
      noteHighest(reported)
    },
    onStored: () => {
      reported.lastStoredMs = nowMs()
      noteHighest(reported)
    },
    onFollow: (follow) => {
      reported.follow = follow
    },
    setNetwork: (chain, network) => {
      reported.names = { chain, network }
    },
    setIdentity: (identity) => {
      reported.identity = identity
    },
    setReady: (isReady) => {
      reported.isReady = isReady
    },
    setWaiting: (isWaiting) => {
      reported.isWaiting = isWaiting
    },
    close: () => {
      reported.isReady = false
      reported.parts = { ...reported.parts, reader: null }
    },
  }
}

function healthState(reported: Reported): HealthState {
  const { parts, names, follow } = reported
  const { reader, schema, trust, p2p } = parts
  const range = rangeOf(reported)
  return {
    ...startingState(names.chain, names.network),
    ready: reported.isReady,
    unready: unreadyReport(reported.settings, readinessFacts(reported, range)),
    errors: errorsOf(reported),
    storeOpen: reader !== null,
    tail: range?.tail ?? null,
    head: range?.head ?? null,
    lastProcessedMs: reported.lastStoredMs ?? reader?.read(newestSealMs) ?? null,
    genesis: follow?.genesis ?? null,
    identity: reported.identity,
    sourceHead: follow?.reached ?? null,
    gaps: range?.gaps ?? [],
    trust: trust?.mode ?? null,
    signers: trust === null ? null : signerReports(trust, follow?.signers ?? []),
    schema: schema?.report() ?? { state: 'embedded', differing: [] },
    views: (parts.views?.list() ?? []).map(toViewHealth),
    registry: registryHealth(parts),
    p2p: { self: p2p?.self() ?? null, peers: p2p?.peers() ?? [] },
  }
}

/** The route of Views lists the others as well. */
function registryHealth({ registry }: ReportedParts): RegistryHealthReport | null {
  const report = registry?.report() ?? null
  if (report === null) return null
  const { others: _, ...health } = report
  return health
}

/** The most important facts of a View; its route has all. */
function toViewHealth(report: ViewHealthReport): ViewHealthReport {
  const { id, address, name, state, blocks_left, blocks_per_second, seconds_left } = report
  return { id, address, name, state, blocks_left, blocks_per_second, seconds_left }
}

function noteHighest(reported: Reported): void {
  const { reader } = reported.parts
  if (reader !== null) reported.highest = Math.max(reported.highest, storedHead(reader))
}

function readinessFacts(reported: Reported, range: StoredRange | null): ReadyFacts {
  const { follow, highest } = reported
  const heads = (follow?.signers ?? []).flatMap(({ head }) => head?.number ?? [])
  return {
    blocks: range === null ? 0 : range.head - range.tail + 1 - countBlocks(range.gaps),
    highest,
    lag: blocksBehind(range?.head ?? null, follow?.reached ?? null),
    signed: Math.max(-1, ...heads),
    siblings: connectedSiblings(reported).flatMap(
      ({ lastAnnouncement }) => lastAnnouncement?.head ?? [],
    ),
  }
}

function connectedSiblings({ parts: { p2p, siblings } }: Reported): ReturnType<P2p['peers']> {
  const known = siblings?.()
  return known === undefined ? [] : (p2p?.peers() ?? []).filter(({ id }) => known.has(id))
}

function rangeOf({ parts: { reader } }: Reported): StoredRange | null {
  return reader === null ? null : storedRange(reader)
}

function errorsOf({ parts, isWaiting, follow }: Reported): FailureReport[] {
  const standing = [parts.schema?.failure() ?? null, parts.volume?.failure() ?? null]
  return [
    ...(isWaiting ? [networkUnknown] : []),
    ...(follow?.failures ?? []),
    ...toPeerFailureReports(parts.p2p?.failures() ?? []),
    ...(parts.trust?.failures() ?? []),
    ...standing.filter((failure) => failure !== null).map(toFailureReport),
    ...(parts.folder?.failures() ?? []),
    ...(parts.rows?.failures() ?? []),
    ...(parts.registry?.failures() ?? []),
  ]
}

function gaugesOf(reported: Reported): HostGauges {
  const head = (): number | null => rangeOf(reported)?.head ?? null
  const signers = (): readonly SignerState[] => reported.follow?.signers ?? []
  return {
    head,
    lag: () => blocksBehind(head(), reported.follow?.reached ?? null),
    gapBlocks: () => countBlocks(rangeOf(reported)?.gaps ?? []),
    signers: () => signers().length,
    standsStillSeconds: () => (reported.follow?.standsStillMs ?? 0) / 1_000,
    siblings: () => connectedSiblings(reported).length,
    countedSigners: () => signers().filter(({ isCounted }) => isCounted).length,
    waitingBlocks: () => reported.follow?.waiting.blocks ?? 0,
    waitingBytes: () => reported.follow?.waiting.bytes ?? 0,
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
