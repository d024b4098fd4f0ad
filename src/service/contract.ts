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
  metrics: '/metrics',
  schema: '/api/v1/schema',
  graphql: '/api/v0/graphql',
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
  publicHealthAddress: 'HEALTH_PUBLIC_ADDR',
  keyPath: 'DB_KEY_PATH',
  storePath: 'DB_STORE_PATH',
} as const

/** Startup and liveness check that the port accepts connections; readiness checks `/health` for a 200. */
export const probes = {
  startup: { tcpPort: 8080 },
  liveness: { tcpPort: 8080 },
  readiness: { httpPort: 8080, path: '/health' },
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

/** A peer as `/health` shows it; addresses are multiaddrs without `/p2p/<id>`. */
interface PeerReport {
  readonly id: string
  readonly addresses: readonly string[]
  /** Hex of the Ed25519 key inside the peer ID; not the signing identity. */
  readonly public_key?: string
}

/** A failure as `/health` shows it; nothing in it is a secret. */
export interface FailureReport {
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
  readonly head: { readonly number: number; readonly hash: string } | null
  /** Height of its node's head, as that head reports. */
  readonly node_height: number | null
  /** RFC 3339 time at which its last newer head arrived; null before the first since the start. */
  readonly last_heard: string | null
  /** Whether its head counts now. */
  readonly counted: boolean
}

/** Missing heights between stored ones, both ends included. */
export interface GapReport {
  readonly from: number
  readonly to: number
}

/** The JSON body of `GET /health`. Names in snake case are what existing probes read. */
export interface HealthReport {
  /** `healthy` comes with HTTP 200, `unhealthy` with 503. */
  readonly status: 'healthy' | 'unhealthy'
  /** RFC 3339, UTC. */
  readonly timestamp: string
  /** Newest stored height; left out before the first. */
  readonly current_block?: number
  /** RFC 3339 time at which `current_block` was stored; left out before the first. */
  readonly last_processed?: string
  /** True while the embedded store is open. */
  readonly defradb_connected: boolean
  /** Like `1h2m3.456s`. */
  readonly uptime: string
  readonly uptime_seconds: number
  readonly p2p: {
    readonly enabled: boolean
    readonly self?: PeerReport
    readonly peers: readonly PeerReport[]
  }
  readonly program: ProgramName
  readonly version: string
  readonly chain: string
  readonly network: string
  readonly tail: number | null
  readonly head: number | null
  /** Hash of block 0; null before it is known. */
  readonly genesis: string | null
  /** The public key this node signs with, in hex; null before it is open. */
  readonly identity: string | null
  /** Generator: the execution node's head. Host: the height that most counted signers have reached. */
  readonly source_head: number | null
  /** `source_head - head`, never below 0; null while either is unknown, or the node is offline. */
  readonly lag: number | null
  /** Null on a Host. */
  readonly upstream_mode: UpstreamMode | null
  readonly gaps: readonly GapReport[]
  /** Whom the Host trusts; null on a Generator. */
  readonly trust: TrustMode | null
  /** The accepted signers; null on a Generator. */
  readonly signers: readonly SignerReport[] | null
  /** Null on a Generator, whose schema is the original. */
  readonly schema: { readonly state: SchemaState; readonly differing: readonly string[] } | null
  /** The most important failure; null when there is none. No failure makes a program unhealthy. */
  readonly error: FailureReport | null
  /** All failures, the worst first. */
  readonly errors: readonly FailureReport[]
}
