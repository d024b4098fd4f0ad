/**
 * The public contract: ports, paths, the container's user, the probes and the shape of `/health`. The
 * programs, the operator, the charts and the images all read these constants.
 */

/**
 * Default ports of both programs; the playground is the Host's only. Health alone, without metrics, is
 * served where a setting asks for it, as the operator does on a Host.
 */
export const ports = {
  health: 8080,
  api: 9181,
  playground: 9182,
  publicHealth: 9183,
  p2p: 9171,
} as const

/** Paths of the HTTP surfaces. */
export const paths = {
  health: '/health',
  ready: '/ready',
  metrics: '/metrics',
  registration: '/registration',
  schema: '/api/v1/schema',
  graphql: '/api/v0/graphql',
  views: '/api/v0/views',
} as const

/** User and group the container images run as; owner of the data directories. */
export const containerUser = { uid: 1001, gid: 1001 } as const

/** Directory below the user's home that holds keys and stores. */
export const homeDirectory = '.viewmesh'

/** Environment names an orchestrator sets; the rest of the table is in the programs' settings. */
export const environment = {
  keyringSecretFile: 'DB_KEYRING_SECRET_FILE',
  bootstrapPeersFile: 'BOOTSTRAP_PEERS_FILE',
  announceFile: 'P2P_ANNOUNCE_FILE',
  trustedSignersFile: 'HOST_TRUSTED_SIGNERS_FILE',
  siblingsFile: 'HOST_SIBLINGS_FILE',
  viewsDir: 'HOST_VIEWS_DIR',
  readyMinBlocks: 'HOST_READY_MIN_BLOCKS',
  readyMaxLag: 'HOST_READY_MAX_LAG',
  publicHealthAddress: 'HEALTH_PUBLIC_ADDR',
  keyPath: 'DB_KEY_PATH',
  storePath: 'DB_STORE_PATH',
} as const

/**
 * Startup and liveness check that the port accepts connections; readiness checks `/health` of a Generator for a 200, and
 * `/ready` of a Host, which says whether it has data as well.
 */
export const probes = {
  startup: { tcpPort: 8080 },
  liveness: { tcpPort: 8080 },
  readiness: { httpPort: 8080, path: { generator: '/health', host: '/ready' } },
} as const

/**
 * Node's options for a program: a small young generation of the main thread, which would otherwise hold
 * tens of megabytes of dead message buffers. Costs no measurable time. Other threads have limits of
 * their own, see `openThread`.
 */
export const nodeOptions = ['--max-semi-space-size=4'] as const

/** The same for the operator, which is less busy: a young generation of 4 MiB would cost it 25 MB. */
export const operatorNodeOptions = ['--max-semi-space-size=1'] as const

/** Longest time a program takes to stop after SIGTERM. */
export const stopTimeoutMs = 30_000

export type ProgramName = 'generator' | 'host'

/** How a Generator receives new heads; `offline` when no upstream responds. */
export type UpstreamMode = 'websocket' | 'http' | 'offline'

/**
 * The state of a Host's schema: `embedded` copy in use, `current` = fetched and equal,
 * `different` = fetched, with fields that differ from ours.
 */
export type SchemaState = 'embedded' | 'current' | 'different'

/** A peer as `/health` shows it. */
interface PeerReport {
  /** Its peer ID. */
  readonly id: string
  /** Its multiaddrs, without `/p2p/<id>`. */
  readonly addresses: readonly string[]
  /** Hex of the Ed25519 key inside the peer ID; not the signing identity. */
  readonly public_key?: string
}

/** A failure as `/health` shows it; nothing in it is a secret. */
export interface FailureReport {
  /** Stays the same from version to version; see the errors. */
  readonly code: string
  /** What happened, with the facts of the case. */
  readonly message: string
  /** What to do, in one sentence; left out where the message says it. */
  readonly remedy?: string
  /** P2P_PEER_ID_MISMATCH: the expected peer ID, in whose place another one responded. */
  readonly expected_peer?: string
}

/** Whom a Host trusts: listed signers, bootstrap peers that prove a Generator's identity, or anyone. */
export const trustModes = ['signers', 'bootstrap', 'anyone'] as const
export type TrustMode = (typeof trustModes)[number]

/** A Generator that a Host trusts. */
export interface SignerReport {
  /** Its public key in hex, as `signatureIdentity` of a seal shows it. */
  readonly identity: string
  /** Why it counts: HOST_TRUSTED_SIGNERS, its file, a bootstrap peer that proved it, or HOST_TRUST=anyone. */
  readonly source: 'setting' | 'file' | 'bootstrap' | 'anyone'
  /** The bootstrap peer that proved this identity; null without one. */
  readonly peer: string | null
  /** The block of its newest head; null before the first. */
  readonly head: {
    /** Its height. */
    readonly number: number
    /** Its hash. */
    readonly hash: string
  } | null
  /** Height of its node's head, as that head reports. */
  readonly node_height: number | null
  /** RFC 3339 time at which its last newer head arrived; null before the first since the start. */
  readonly last_heard: string | null
  /** Whether its head counts now. */
  readonly counted: boolean
}

/** Missing heights between stored ones, both ends included. */
export interface GapReport {
  /** The first height. */
  readonly from: number
  /** The last height. */
  readonly to: number
}

/**
 * How a View stands: `waiting` for its modules or its first block, `backfilling` stored blocks while the head goes on,
 * `live` with all of them done, `lagging` where blocks come faster than it gets done, `failed` where blocks failed and
 * no others are left, or none went well, `quarantined` after too many failures, `foreign` for a View of another chain.
 */
export type ViewStateName =
  | 'waiting'
  | 'backfilling'
  | 'live'
  | 'lagging'
  | 'failed'
  | 'quarantined'
  | 'foreign'

/** A View as `/health` shows it; the route of Views has more. */
export interface ViewHealthReport {
  /** Its long ID. */
  readonly id: string
  /** The ID of the registry chain. */
  readonly address: string
  /** Its name in GraphQL; null for a View of another chain. */
  readonly name: string | null
  /** How it stands. */
  readonly state: ViewStateName
  /** Stored blocks that are not done and did not fail. */
  readonly blocks_left: number
  /** Back-filled blocks in a second, lately; null while nothing is back-filled. */
  readonly blocks_per_second: number | null
  /** Seconds that these blocks take at that rate; null without one. */
  readonly seconds_left: number | null
}

/**
 * How a Host stands to the registry chain: `connecting` before the first list, `live` where the chain tells of each new
 * View, `polling` where only lists do, `away` where not even a list can be had; what is known is served all the same.
 */
export type RegistryStateName = 'connecting' | 'live' | 'polling' | 'away'

/** The registry chain as `/health` shows it. */
export interface RegistryHealthReport {
  /** How the Host stands to it. */
  readonly state: RegistryStateName
  /** RFC 3339 time of the last whole list; null before the first. */
  readonly last_listed: string | null
  /** Views in that list. */
  readonly listed: number
  /** Registered Views that this Host serves. */
  readonly served: number
  /** Registered Views for which no place is left. */
  readonly over_limit: number
  /** Registered Views that are denied here. */
  readonly denied: number
  /** Registered Views that cannot be served: their bytes are wrong, or not to be had. */
  readonly refused: number
  /** Registered Views of other chains. */
  readonly foreign: number
}

/**
 * It starts or stops, or a Host has too few blocks, is too far behind its signers, or behind another replica of the same
 * Host.
 */
export const unreadyReasons = [
  'initializing',
  'too-few-blocks',
  'lagging',
  'behind-sibling',
] as const
export type UnreadyReason = (typeof unreadyReasons)[number]

/** Why a program should not be asked for data yet. */
export interface UnreadyReport {
  /** It starts or stops; or a Host has too few blocks, or is too far behind its signers or another replica. */
  readonly reason: UnreadyReason
  /** The facts of the case, in one sentence. */
  readonly message: string
}

/** The JSON body of `GET /ready`, which comes with HTTP 200 where `ready` is true, else with 503. */
export interface ReadyReport {
  /** Whether the program should be asked for data. */
  readonly ready: boolean
  /** Why it should not; null where it should. */
  readonly unready: UnreadyReport | null
}

/** The JSON body of `GET /health`. Names in snake case are what existing probes read. */
export interface HealthReport {
  /** `healthy` comes with HTTP 200, `unhealthy` with 503. */
  readonly status: 'healthy' | 'unhealthy'
  /** When this was written: RFC 3339, UTC. */
  readonly timestamp: string
  /** Newest stored height; left out before the first. */
  readonly current_block?: number
  /** RFC 3339 time at which `current_block` was stored; left out before the first. */
  readonly last_processed?: string
  /** True while the embedded store is open. */
  readonly defradb_connected: boolean
  /** Time since the start, like `1h2m3.456s`. */
  readonly uptime: string
  /** The same in whole seconds. */
  readonly uptime_seconds: number
  /** The node's own peer and those that it is connected to. */
  readonly p2p: {
    /** Always true: neither program runs without peers. */
    readonly enabled: boolean
    /** This node, with the addresses that it announces. */
    readonly self?: PeerReport
    /** Connected peers. */
    readonly peers: readonly PeerReport[]
  }
  /** Which program this is. */
  readonly program: ProgramName
  /** Its version. */
  readonly version: string
  /** `CHAIN_NAME`, such as `Ethereum`. */
  readonly chain: string
  /** `CHAIN_NETWORK`, such as `Mainnet`. */
  readonly network: string
  /** Oldest stored height; null before the first. */
  readonly tail: number | null
  /** Newest stored height; null before the first. */
  readonly head: number | null
  /** What the execution node says (EIP-155); null before it is known, where it does not say it, and on a Host. */
  readonly chain_id: number | null
  /** Hash of block 0; null before it is known. */
  readonly genesis: string | null
  /** The public key this node signs with, in hex; null before it is open. */
  readonly identity: string | null
  /** Generator: the execution node's head. Host: the height that most counted signers have reached. */
  readonly source_head: number | null
  /**
   * RFC 3339 time at which the execution node's head became what `source_head` says: a node that stands still shows
   * here. Null before the first head, and on a Host.
   */
  readonly source_head_since: string | null
  /** `source_head - head`, never below 0; null while either is unknown, or the node is offline. */
  readonly lag: number | null
  /** How new heads are received, `offline` while the execution node does not respond; null on a Host. */
  readonly upstream_mode: UpstreamMode | null
  /** Missing heights between stored ones, both ends included. */
  readonly gaps: readonly GapReport[]
  /** Whom the Host trusts; null on a Generator. */
  readonly trust: TrustMode | null
  /** The accepted signers; null on a Generator. */
  readonly signers: readonly SignerReport[] | null
  /** The Host's schema beside the Generator's; null on a Generator, whose schema is the original. */
  readonly schema: {
    /** `embedded` copy in use, `current` = fetched and equal, `different` = fetched, with other fields than ours. */
    readonly state: SchemaState
    /** The fields that differ, by type. */
    readonly differing: readonly string[]
  } | null
  /** The Views that the Host has; null on a Generator. */
  readonly views: readonly ViewHealthReport[] | null
  /** The registry chain; null where none is set, and on a Generator. */
  readonly registry: RegistryHealthReport | null
  /** Why `/ready` returns 503; null where it returns 200. */
  readonly unready: UnreadyReport | null
  /** The most important failure; null when there is none. No failure makes a program unhealthy. */
  readonly error: FailureReport | null
  /** All failures, the worst first. */
  readonly errors: readonly FailureReport[]
}

/** `kind` of the terms on which a View is registered, as one Job of the operator says them to the next. */
export const registrationTerms = 'viewmesh/registration-terms/1'
