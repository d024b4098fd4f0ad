/** The settings both programs share: chain, embedded store, keys, P2P, health, pruning, limits. */
import type { ProgramName } from './contract.ts'
import { type LogLevel, logLevels } from './log-level.ts'
import { anyMultiaddr, listenMultiaddr, peerMultiaddr } from './multiaddr-kinds.ts'
import type { SettingsTable } from './setting.ts'
import {
  type Address,
  address,
  boolean,
  choice,
  integer,
  list,
  path,
  secretText,
  text,
} from './setting-kinds.ts'

export interface CommonSettings {
  /** First and second part of every type name's prefix, `Ethereum__Mainnet`. */
  readonly chainName: string
  readonly chainNetwork: string
  /** Directory of the embedded store. */
  readonly storePath: string
  /** Directory of the encrypted node key. */
  readonly keyPath: string
  readonly keyringSecret: string
  /** Where GraphQL is served. */
  readonly apiAddress: Address
  /** Multiaddr libp2p listens on. */
  readonly p2pListen: string
  /** Multiaddrs told to peers instead of the listening ones. */
  readonly p2pAnnounce: readonly string[]
  /** File with one announced multiaddr a line, read again when it changes. */
  readonly p2pAnnounceFile: string | null
  /** Multiaddrs that end in `/p2p/<peer id>`. */
  readonly bootstrapPeers: readonly string[]
  /** File with one bootstrap peer a line, read again when it changes. */
  readonly bootstrapPeersFile: string | null
  readonly healthAddress: Address
  /** Where `/health` is served and nothing else; null for nowhere. */
  readonly publicHealthAddress: Address | null
  readonly prunerEnabled: boolean
  /** Newest blocks that stay when pruning. */
  readonly prunerMaxBlocks: number
  readonly logLevel: LogLevel
  readonly graphqlMaxDepth: number
  readonly graphqlMaxConditions: number
  readonly graphqlMaxCost: number
  readonly graphqlMaxRows: number
  readonly graphqlMaxResultBytes: number
  readonly graphqlMaxMs: number
  readonly graphqlMaxHeldBytes: number
}

const chainPart = text('letters and digits, beginning with a letter', /^[A-Za-z][A-Za-z0-9]*$/)

/** The table for one program; only the store's default path differs. */
export function commonSettings(program: ProgramName): SettingsTable<CommonSettings> {
  return {
    storePath: {
      key: 'db.store.path',
      env: 'DB_STORE_PATH',
      kind: path,
      default: `~/.viewmesh/${program}`,
      doc: 'Directory of the embedded store.',
    },
    ...common,
  }
}

const common: SettingsTable<Omit<CommonSettings, 'storePath'>> = {
  chainName: {
    key: 'chain.name',
    env: 'CHAIN_NAME',
    kind: chainPart,
    default: 'Ethereum',
    doc: 'First part of the prefix of every collection.',
  },
  chainNetwork: {
    key: 'chain.network',
    env: 'CHAIN_NETWORK',
    kind: chainPart,
    default: 'Mainnet',
    doc: 'Second part of the prefix of every collection.',
  },
  keyPath: {
    key: 'db.key_path',
    env: 'DB_KEY_PATH',
    kind: path,
    default: '~/.viewmesh/keys',
    doc: 'Key directory: one encrypted file a program. Back it up together with the secret.',
  },
  keyringSecret: {
    key: 'db.keyring_secret',
    env: 'DB_KEYRING_SECRET',
    kind: secretText,
    required: true,
    secret: true,
    doc: 'Opens the key directory and decides the peer ID; must stay the same.',
  },
  apiAddress: {
    key: 'db.url',
    env: 'DB_API_ADDR',
    kind: address,
    default: '0.0.0.0:9181',
    doc: 'Where GraphQL is served.',
  },
  p2pListen: {
    key: 'db.p2p.listen_addr',
    env: 'DB_P2P_LISTEN_ADDR',
    kind: listenMultiaddr,
    default: '/ip4/0.0.0.0/tcp/9171',
    doc: 'Where libp2p listens.',
  },
  p2pAnnounce: {
    key: 'db.p2p.announce',
    env: 'P2P_ANNOUNCE',
    kind: list(anyMultiaddr),
    default: [],
    doc: 'Addresses told to peers; without any, the listening ones.',
  },
  p2pAnnounceFile: {
    key: 'db.p2p.announce_file',
    env: 'P2P_ANNOUNCE_FILE',
    kind: path,
    doc: 'File with one such address a line, read again when it changes.',
  },
  bootstrapPeers: {
    key: 'db.p2p.bootstrap_peers',
    env: 'BOOTSTRAP_PEERS',
    kind: list(peerMultiaddr),
    default: [],
    doc: 'Peers to connect to.',
  },
  bootstrapPeersFile: {
    key: 'db.p2p.bootstrap_peers_file',
    env: 'BOOTSTRAP_PEERS_FILE',
    kind: path,
    doc: 'File with one peer a line, read again when it changes.',
  },
  healthAddress: {
    key: 'health.addr',
    env: 'HEALTH_ADDR',
    kind: address,
    default: '0.0.0.0:8080',
    doc: 'Where health and metrics are served.',
  },
  publicHealthAddress: {
    key: 'health.public_addr',
    env: 'HEALTH_PUBLIC_ADDR',
    kind: address,
    doc: 'Where /health is served once more and nothing beside it, for an address that everybody may reach.',
  },
  prunerEnabled: {
    key: 'pruner.enabled',
    env: 'PRUNER_ENABLED',
    kind: boolean,
    default: true,
    doc: 'Whether old blocks are removed.',
  },
  prunerMaxBlocks: {
    key: 'pruner.max_blocks',
    env: 'PRUNER_MAX_BLOCKS',
    kind: integer(1, 1_000_000_000),
    unit: 'blocks',
    default: 1_000,
    doc: 'How many of the newest blocks stay.',
  },
  logLevel: {
    key: 'log.level',
    env: 'LOG_LEVEL',
    kind: choice(logLevels),
    default: 'info',
    doc: 'The least serious line that is written.',
  },
  graphqlMaxDepth: {
    key: 'graphql.max_depth',
    env: 'GRAPHQL_MAX_DEPTH',
    kind: integer(1, 100),
    unit: 'levels',
    default: 15,
    doc: 'Deepest nesting of a query.',
  },
  graphqlMaxConditions: {
    key: 'graphql.max_conditions',
    env: 'GRAPHQL_MAX_CONDITIONS',
    kind: integer(1, 20_000),
    unit: 'names and objects',
    default: 2_000,
    doc: 'Most conditions in the filters, orders and selectors of one query, variables put in.',
  },
  graphqlMaxCost: {
    key: 'graphql.max_cost',
    env: 'GRAPHQL_MAX_COST',
    kind: integer(1),
    unit: 'documents read',
    default: 2_000_000,
    doc: 'Most documents one query may look at; one counts again for every 8 conditions and keys.',
  },
  graphqlMaxRows: {
    key: 'graphql.max_rows',
    env: 'GRAPHQL_MAX_ROWS',
    kind: integer(1),
    unit: 'rows',
    default: 10_000,
    doc: 'Most rows one query may answer.',
  },
  graphqlMaxResultBytes: {
    key: 'graphql.max_result_bytes',
    env: 'GRAPHQL_MAX_RESULT_BYTES',
    kind: integer(1_024, 1_073_741_824),
    unit: 'bytes',
    default: 67_108_864,
    doc: 'Largest answer.',
  },
  graphqlMaxMs: {
    key: 'graphql.max_ms',
    env: 'GRAPHQL_MAX_MS',
    kind: integer(1, 600_000),
    unit: 'ms',
    default: 20_000,
    doc: 'Longest time one query may run.',
  },
  graphqlMaxHeldBytes: {
    key: 'graphql.max_held_bytes',
    env: 'GRAPHQL_MAX_HELD_BYTES',
    kind: integer(16_777_216, 68_719_476_736),
    unit: 'bytes',
    default: 268_435_456,
    doc: 'Most that all queries together hold in memory; one gets up to half of it.',
  },
}
