/** The settings both programs share: chain, embedded store, keys, P2P, health, pruning, limits. */
import { registryChainIds } from '../../registry/registry-chains.ts'
import type { ProgramName } from '../contract.ts'
import { type LogLevel, logLevels } from '../log-level.ts'
import { account } from './account.ts'
import { anyMultiaddr, listenMultiaddr, peerMultiaddr } from './multiaddr-kinds.ts'
import type { SettingsTable } from './setting.ts'
import {
  type Address,
  boolean,
  choice,
  hostAndPort,
  integerBetween,
  list,
  path,
  secretText,
  text,
  url,
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
  /** Multiaddrs announced to peers instead of the listening ones. */
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
  /** The account that registers this node on the registry chain; null where nobody may. */
  readonly registrationAddress: string | null
  readonly registrationChainId: number
  /** Where applications reach this node over HTTP, for the registration. */
  readonly registrationEndpoint: string | null
  readonly registrationMessage: 'bound' | 'constant'
  readonly prunerEnabled: boolean
  /** How many of the newest blocks pruning keeps. */
  readonly prunerMaxBlocks: number
  readonly logLevel: LogLevel
  /** Whether blocks have lines of level info in the log; else of level debug. */
  readonly logBlocks: boolean
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
    doc: 'Key directory: one encrypted file per program. Back it up, and the secret in another place.',
  },
  keyringSecret: {
    key: 'db.keyring_secret',
    env: 'DB_KEYRING_SECRET',
    kind: secretText,
    required: true,
    secret: true,
    doc: 'Decrypts the key file and determines the peer ID; must stay the same.',
  },
  apiAddress: {
    key: 'db.url',
    env: 'DB_API_ADDR',
    kind: hostAndPort,
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
    doc: 'Addresses announced to peers; without any, the listening ones.',
  },
  p2pAnnounceFile: {
    key: 'db.p2p.announce_file',
    env: 'P2P_ANNOUNCE_FILE',
    kind: path,
    doc: 'File with one such address per line, reloaded when it changes.',
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
    doc: 'File with one peer per line, reloaded when it changes.',
  },
  healthAddress: {
    key: 'health.addr',
    env: 'HEALTH_ADDR',
    kind: hostAndPort,
    default: '0.0.0.0:8080',
    doc: 'Where health and metrics are served.',
  },
  publicHealthAddress: {
    key: 'health.public_addr',
    env: 'HEALTH_PUBLIC_ADDR',
    kind: hostAndPort,
    doc: 'Where /health alone is served as well, for a public address.',
  },
  registrationAddress: {
    key: 'registration.address',
    env: 'REGISTRATION_ADDRESS',
    kind: account,
    doc: 'The account that registers this node on the registry chain. /registration signs for it and for nobody else; without it that returns 503.',
  },
  registrationChainId: {
    key: 'registration.chain_id',
    env: 'REGISTRATION_CHAIN_ID',
    kind: integerBetween(1),
    default: registryChainIds.testnet,
    doc: 'Chain ID of the registry chain, which is part of what /registration signs.',
  },
  registrationEndpoint: {
    key: 'registration.endpoint',
    env: 'REGISTRATION_ENDPOINT',
    kind: url('http', 'https'),
    doc: 'Where applications reach this node over HTTP, as the registry chain is to show it.',
  },
  registrationMessage: {
    key: 'registration.message',
    env: 'REGISTRATION_MESSAGE',
    kind: choice(['bound', 'constant']),
    default: 'bound',
    doc: 'What /registration signs: a message that only REGISTRATION_ADDRESS can use, or the constant one of older dashboards, with which anybody who sees it can register this node as his own.',
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
    kind: integerBetween(1, 1_000_000_000),
    unit: 'blocks',
    default: 1_000,
    doc: 'How many of the newest blocks are kept.',
  },
  logLevel: {
    key: 'log.level',
    env: 'LOG_LEVEL',
    kind: choice(logLevels),
    default: 'info',
    doc: 'The lowest level that is logged.',
  },
  logBlocks: {
    key: 'log.blocks',
    env: 'LOG_BLOCKS',
    kind: boolean,
    default: true,
    doc: 'Whether the line about each block is of level info; otherwise of debug.',
  },
  graphqlMaxDepth: {
    key: 'graphql.max_depth',
    env: 'GRAPHQL_MAX_DEPTH',
    kind: integerBetween(1, 100),
    unit: 'levels',
    default: 15,
    doc: 'Deepest nesting of a query.',
  },
  graphqlMaxConditions: {
    key: 'graphql.max_conditions',
    env: 'GRAPHQL_MAX_CONDITIONS',
    kind: integerBetween(1, 20_000),
    unit: 'names and objects',
    default: 2_000,
    doc: 'Most conditions in the filters, orders and selectors of one query, variables included.',
  },
  graphqlMaxCost: {
    key: 'graphql.max_cost',
    env: 'GRAPHQL_MAX_COST',
    kind: integerBetween(1),
    unit: 'documents read',
    default: 2_000_000,
    doc: 'Most documents one query may read; one counts again for every 8 conditions and keys.',
  },
  graphqlMaxRows: {
    key: 'graphql.max_rows',
    env: 'GRAPHQL_MAX_ROWS',
    kind: integerBetween(1),
    unit: 'rows',
    default: 10_000,
    doc: 'Most rows one query may return.',
  },
  graphqlMaxResultBytes: {
    key: 'graphql.max_result_bytes',
    env: 'GRAPHQL_MAX_RESULT_BYTES',
    kind: integerBetween(1_024, 1_073_741_824),
    unit: 'bytes',
    default: 67_108_864,
    doc: 'Largest response.',
  },
  graphqlMaxMs: {
    key: 'graphql.max_ms',
    env: 'GRAPHQL_MAX_MS',
    kind: integerBetween(1, 600_000),
    unit: 'ms',
    default: 20_000,
    doc: 'Longest time one query may run.',
  },
  graphqlMaxHeldBytes: {
    key: 'graphql.max_held_bytes',
    env: 'GRAPHQL_MAX_HELD_BYTES',
    kind: integerBetween(16_777_216, 68_719_476_736),
    unit: 'bytes',
    default: 268_435_456,
    doc: 'Most memory that all queries together use; one gets up to half of it.',
  },
}
