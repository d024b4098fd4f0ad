/**
 * The settings of `viewmesh devnet`. What a Generator or a Host reads from the environment beside
 * these (LOG_LEVEL, PRUNER_MAX_BLOCKS, ...) reaches them unchanged.
 */
import type { SettingsTable } from '../service/settings/setting.ts'
import {
  integerBetween,
  list,
  path,
  secretText,
  text,
  url,
} from '../service/settings/setting-kinds.ts'
import { loadSettings, type SettingSources } from '../service/settings/settings.ts'

export interface DevnetSettings {
  readonly path: string
  readonly listen: string
  readonly nodePort: number
  readonly generatorApiPort: number
  readonly generatorP2pPort: number
  readonly generatorHealthPort: number
  readonly hostApiPort: number
  readonly hostP2pPort: number
  readonly hostHealthPort: number
  readonly registryEvmPort: number
  readonly registryCometPort: number
  readonly registryLcdPort: number
  readonly registryRpcUrl: string | null
  readonly registryLcdUrl: string | null
  readonly rpcUrls: readonly string[]
  readonly wsUrl: string | null
  readonly apiKey: string | null
  readonly apiKeyType: string
  readonly chainName: string | null
  readonly chainNetwork: string | null
  readonly startHeight: string | null
}

const port = integerBetween(1, 65_535)

/** Everything that can be set, for reading, help and docs/reference/settings.md. */
export const devnetSettings: SettingsTable<DevnetSettings> = {
  path: {
    key: 'devnet.path',
    env: 'DEVNET_PATH',
    kind: path,
    default: '~/.viewmesh/dev',
    doc: 'Directory that holds a folder for each chain: keys, stores, logs and the chain itself.',
  },
  listen: {
    key: 'devnet.listen',
    env: 'DEVNET_LISTEN',
    kind: text('an IPv4 address', /^\d{1,3}(\.\d{1,3}){3}$/),
    default: '127.0.0.1',
    doc: 'Address that all ports of the Generator and the Host listen on; 0.0.0.0 opens them to other machines.',
  },
  nodePort: {
    key: 'devnet.node_port',
    env: 'DEVNET_NODE_PORT',
    kind: port,
    default: 8545,
    doc: 'Port of the execution node that comes with the development chain.',
  },
  generatorApiPort: {
    key: 'devnet.generator_api_port',
    env: 'DEVNET_GENERATOR_API_PORT',
    kind: port,
    default: 9191,
    doc: 'GraphQL of the Generator.',
  },
  generatorP2pPort: {
    key: 'devnet.generator_p2p_port',
    env: 'DEVNET_GENERATOR_P2P_PORT',
    kind: port,
    default: 9172,
    doc: 'libp2p of the Generator.',
  },
  generatorHealthPort: {
    key: 'devnet.generator_health_port',
    env: 'DEVNET_GENERATOR_HEALTH_PORT',
    kind: port,
    default: 8090,
    doc: 'Health, metrics and schema of the Generator.',
  },
  hostApiPort: {
    key: 'devnet.host_api_port',
    env: 'DEVNET_HOST_API_PORT',
    kind: integerBetween(1, 65_534),
    default: 9181,
    doc: 'GraphQL of the Host; the playground is on the next port.',
  },
  hostP2pPort: {
    key: 'devnet.host_p2p_port',
    env: 'DEVNET_HOST_P2P_PORT',
    kind: port,
    default: 9171,
    doc: 'libp2p of the Host.',
  },
  hostHealthPort: {
    key: 'devnet.host_health_port',
    env: 'DEVNET_HOST_HEALTH_PORT',
    kind: port,
    default: 8080,
    doc: 'Health and metrics of the Host.',
  },
  registryEvmPort: {
    key: 'devnet.registry_evm_port',
    env: 'DEVNET_REGISTRY_EVM_PORT',
    kind: port,
    default: 8645,
    doc: 'JSON-RPC of the registry chain that comes with the development chain, on 127.0.0.1 as its other ports are.',
  },
  registryCometPort: {
    key: 'devnet.registry_comet_port',
    env: 'DEVNET_REGISTRY_COMET_PORT',
    kind: port,
    default: 26_657,
    doc: 'Consensus RPC of that registry chain.',
  },
  registryLcdPort: {
    key: 'devnet.registry_lcd_port',
    env: 'DEVNET_REGISTRY_LCD_PORT',
    kind: port,
    default: 1317,
    doc: 'LCD of that registry chain.',
  },
  registryRpcUrl: {
    key: 'registry.rpc_url',
    env: 'REGISTRY_RPC_URL',
    kind: url('http', 'https', 'ws', 'wss'),
    doc: 'Consensus RPC of a registry chain to use instead of the one that comes with the development chain.',
  },
  registryLcdUrl: {
    key: 'registry.lcd_url',
    env: 'REGISTRY_LCD_URL',
    kind: url('http', 'https'),
    doc: 'LCD of that chain.',
  },
  rpcUrls: {
    key: 'node.rpc_url',
    env: 'NODE_RPC_URL',
    kind: list(url('http', 'https')),
    default: [],
    doc: 'An execution node to use instead of the one that comes with the development chain.',
  },
  wsUrl: {
    key: 'node.ws_url',
    env: 'NODE_WS_URL',
    kind: url('ws', 'wss'),
    doc: 'WebSocket of that node, for new heads; without it the Generator polls over HTTP.',
  },
  apiKey: {
    key: 'node.api_key',
    env: 'NODE_API_KEY',
    kind: secretText,
    secret: true,
    doc: 'API key of that node.',
  },
  apiKeyType: {
    key: 'node.api_key_type',
    env: 'NODE_API_KEY_TYPE',
    kind: text('the name of an HTTP header', /^[A-Za-z0-9-]+$/),
    default: 'Authorization',
    doc: 'Header that carries the key.',
  },
  chainName: {
    key: 'chain.name',
    env: 'CHAIN_NAME',
    kind: text('a name'),
    doc: 'First part of every type name; `Local` for the local chain, `Ethereum` for a given node.',
  },
  chainNetwork: {
    key: 'chain.network',
    env: 'CHAIN_NETWORK',
    kind: text('a name'),
    doc: 'Second part of every type name; `Devnet` for the local chain, `Mainnet` for a given node.',
  },
  startHeight: {
    key: 'generator.start_height',
    env: 'GENERATOR_START_HEIGHT',
    kind: text('latest, a height, or -N for N blocks behind the head', /^(latest|-?\d{1,15})$/),
    doc: 'Where the Generator starts on an empty store; the whole local chain, the head of a given node.',
  },
}

/** Reads the settings. Throws CONFIG_INVALID. */
export function loadDevnetSettings(sources: SettingSources): DevnetSettings {
  return loadSettings(devnetSettings, sources, { check: portsDiffer })
}

/** Every port that will be listened on, by the environment name of its setting. */
export function listeningPorts(settings: DevnetSettings): readonly (readonly [string, number])[] {
  const own = settings.rpcUrls.length === 0
  return [
    ...(own ? ([['DEVNET_NODE_PORT', settings.nodePort]] as const) : []),
    ['DEVNET_GENERATOR_API_PORT', settings.generatorApiPort],
    ['DEVNET_GENERATOR_P2P_PORT', settings.generatorP2pPort],
    ['DEVNET_GENERATOR_HEALTH_PORT', settings.generatorHealthPort],
    ['DEVNET_HOST_API_PORT', settings.hostApiPort],
    ['DEVNET_HOST_API_PORT', settings.hostApiPort + 1],
    ['DEVNET_HOST_P2P_PORT', settings.hostP2pPort],
    ['DEVNET_HOST_HEALTH_PORT', settings.hostHealthPort],
    ...(hasOwnRegistry(settings)
      ? ([
          ['DEVNET_REGISTRY_EVM_PORT', settings.registryEvmPort],
          ['DEVNET_REGISTRY_COMET_PORT', settings.registryCometPort],
          ['DEVNET_REGISTRY_LCD_PORT', settings.registryLcdPort],
        ] as const)
      : []),
  ]
}

/** False where the user gave a registry chain. */
export function hasOwnRegistry({ registryRpcUrl, registryLcdUrl }: DevnetSettings): boolean {
  return registryRpcUrl === null && registryLcdUrl === null
}

function portsDiffer(settings: DevnetSettings): readonly string[] {
  const seen = new Map<number, string>()
  return listeningPorts(settings).flatMap(([name, number]) => {
    const other = seen.get(number)
    seen.set(number, name)
    return other === undefined ? [] : [`${name} and ${other} both need port ${number}`]
  })
}
