/** The state of a program, and the `/health` and JSON `/metrics` bodies made from it. */
import type { ServiceError } from '../../errors.ts'
import type {
  FailureReport,
  GapReport,
  HealthReport,
  ProgramName,
  ReadyReport,
  RegistryHealthReport,
  SchemaState,
  SignerReport,
  TrustMode,
  UnreadyReport,
  UpstreamMode,
  ViewHealthReport,
} from '../contract.ts'

/** A peer, or the node itself; addresses without `/p2p/<id>`. */
interface PeerState {
  readonly id: string
  readonly addresses: readonly string[]
  /** Hex of the Ed25519 key inside the peer ID. */
  readonly publicKey?: string
}

/** The current state of a program. Made for each request; must not wait or throw. */
export interface HealthState {
  /** True from the moment everything is open until the program stops. */
  readonly ready: boolean
  /** Why a program that is open lacks data; null for a Generator, and for a Host that has enough. */
  readonly unready: UnreadyReport | null
  readonly chain: string
  readonly network: string
  readonly storeOpen: boolean
  /** Lowest and highest visible height; null in an empty store. */
  readonly tail: number | null
  readonly head: number | null
  /** When the head was stored, in milliseconds since 1970. */
  readonly lastProcessedMs: number | null
  /** Chain ID of the execution node; null before it is known, and on a Host. */
  readonly chainId: number | null
  /** Hash of block 0; null before it is known. */
  readonly genesis: string | null
  /** The public key this node signs with; null before it is open. */
  readonly identity: string | null
  /** Generator: the execution node's head. Host: the height that most counted signers have reached. */
  readonly sourceHead: number | null
  /** When the execution node's head came, in milliseconds since 1970; null before the first, and on a Host. */
  readonly sourceHeadSinceMs: number | null
  /** Null on a Host. */
  readonly upstreamMode: UpstreamMode | null
  readonly gaps: readonly GapReport[]
  /** Null on a Generator. */
  readonly trust: TrustMode | null
  /** Null on a Generator. */
  readonly signers: readonly SignerReport[] | null
  /** Null on a Generator. */
  readonly schema: { readonly state: SchemaState; readonly differing: readonly string[] } | null
  /** Null on a Generator. */
  readonly views: readonly ViewHealthReport[] | null
  /** Null without one, and on a Generator. */
  readonly registry: RegistryHealthReport | null
  /** The current failures, the worst first. */
  readonly errors: readonly FailureReport[]
  readonly p2p: { readonly self: PeerState | null; readonly peers: readonly PeerState[] }
}

/** The state before anything is open. */
export function startingState(chain: string, network: string): HealthState {
  return {
    ready: false,
    unready: null,
    chain,
    network,
    storeOpen: false,
    tail: null,
    head: null,
    lastProcessedMs: null,
    chainId: null,
    genesis: null,
    identity: null,
    sourceHead: null,
    sourceHeadSinceMs: null,
    upstreamMode: null,
    gaps: [],
    trust: null,
    signers: null,
    schema: null,
    views: null,
    registry: null,
    errors: [],
    p2p: { self: null, peers: [] },
  }
}

/** A failure as `/health` reports it. */
export function toFailureReport({ code, message, remedy }: ServiceError): FailureReport {
  return { code, message, ...(remedy === undefined ? {} : { remedy }) }
}

/** Most failures of peers that `/health` reports. */
const maxPeerFailures = 10

/** Lasting failures of peers as `/health` reports them: which peer, and at which addresses. */
export function toPeerFailureReports(errors: readonly ServiceError[]): FailureReport[] {
  return errors.slice(0, maxPeerFailures).map((error) => {
    const report = toFailureReport(error)
    const { peer, address, causes } = error.facts
    if (error.code === 'P2P_PEER_ID_MISMATCH')
      return { ...report, message: `${report.message}, at ${address}`, expected_peer: `${peer}` }
    if (error.code === 'P2P_ALL_DIALS_FAILED')
      return { ...report, message: `${report.message} to the peer ${peer}: ${causes}` }
    return report
  })
}

export interface ReportContext {
  readonly program: ProgramName
  readonly version: string
  readonly startedMs: number
  readonly nowMs: number
}

const initializing: UnreadyReport = {
  reason: 'initializing',
  message: 'The program starts or stops.',
}

/** The body of `GET /ready`. */
export function toReadyReport({
  ready: isOpen,
  unready: lack,
}: Pick<HealthState, 'ready' | 'unready'>): ReadyReport {
  const unready = isOpen ? lack : initializing
  return { ready: unready === null, unready }
}

/** The body of `GET /health`. */
export function toHealthReport(state: HealthState, context: ReportContext): HealthReport {
  const { head, sourceHead } = state
  const uptimeMs = context.nowMs - context.startedMs
  return {
    status: state.ready ? 'healthy' : 'unhealthy',
    timestamp: new Date(context.nowMs).toISOString(),
    ...(head !== null && { current_block: head }),
    ...(state.lastProcessedMs !== null && {
      last_processed: new Date(state.lastProcessedMs).toISOString(),
    }),
    defradb_connected: state.storeOpen,
    uptime: uptimeText(uptimeMs),
    uptime_seconds: uptimeMs / 1_000,
    p2p: {
      enabled: true,
      ...(state.p2p.self !== null && { self: toPeerReport(state.p2p.self) }),
      peers: state.p2p.peers.map(toPeerReport),
    },
    program: context.program,
    version: context.version,
    chain: state.chain,
    network: state.network,
    tail: state.tail,
    head,
    chain_id: state.chainId,
    genesis: state.genesis,
    identity: state.identity,
    source_head: sourceHead,
    source_head_since: timeText(state.sourceHeadSinceMs),
    // The last reported head of an offline node is stale.
    lag: state.upstreamMode === 'offline' ? null : blocksBehind(head, sourceHead),
    upstream_mode: state.upstreamMode,
    gaps: state.gaps,
    trust: state.trust,
    signers: state.signers,
    schema: state.schema,
    views: state.views,
    registry: state.registry,
    unready: toReadyReport(state).unready,
    error: state.errors[0] ?? null,
    errors: state.errors,
  }
}

function timeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

function toPeerReport(peer: PeerState): HealthReport['p2p']['peers'][number] {
  return {
    id: peer.id,
    addresses: peer.addresses,
    ...(peer.publicKey !== undefined && { public_key: peer.publicKey }),
  }
}

/** Never below 0; null while either height is unknown. */
export function blocksBehind(head: number | null, sourceHead: number | null): number | null {
  return head === null || sourceHead === null ? null : Math.max(0, sourceHead - head)
}

/** A duration as `1h2m3.456s`, leading zero units left out. */
export function uptimeText(ms: number): string {
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = `${(ms % 60_000) / 1_000}s`
  if (hours > 0) return `${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}

/** Counters that readers of the JSON form of `/metrics` expect; those a program lacks are 0. */
export const counterNames = [
  'access_lists_processed',
  'attestation_errors',
  'attestations_created',
  'batch_sig_events_received',
  'batch_signatures_processed',
  'block_sig_events_received',
  'block_signatures_processed',
  'blocks_per_minute',
  'blocks_processed',
  'blocks_received',
  'documents_dropped',
  'documents_processed',
  'documents_received',
  'last_processing_time_ms',
  'logs_processed',
  'processing_queue_size',
  'signature_failures',
  'signature_verifications',
  'transactions_processed',
  'unique_access_lists',
  'unique_blocks',
  'unique_logs',
  'unique_transactions',
  'view_queue_size',
  'views_active',
  'views_registered',
] as const

export type Counters = Partial<Readonly<Record<(typeof counterNames)[number], number>>>

/** The JSON form of `/metrics`: every counter under `metrics` and once more at the root. */
export function toMetricsJson(
  state: HealthState,
  counters: Counters,
  context: ReportContext,
): Readonly<Record<string, unknown>> {
  const uptimeMs = context.nowMs - context.startedMs
  const lastProcessed = timeText(state.lastProcessedMs)
  const metrics = {
    ...Object.fromEntries(counterNames.map((name) => [name, counters[name] ?? 0])),
    most_recent_block: state.head ?? 0,
    start_time: new Date(context.startedMs).toISOString(),
    last_document_time: lastProcessed,
  }
  return {
    ...metrics,
    metrics,
    current_block: state.head ?? 0,
    timestamp: Math.floor(context.nowMs / 1_000),
    last_processed_time: lastProcessed,
    uptime: uptimeText(uptimeMs),
    uptime_human: uptimeText(uptimeMs),
    uptime_seconds: uptimeMs / 1_000,
  }
}
