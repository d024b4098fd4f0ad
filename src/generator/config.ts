/** The Generator's settings: the common ones, and what only a Generator has. */
import { knownChainId } from '../service/known-networks.ts'
import { type CommonSettings, commonSettings } from '../service/settings/common-settings.ts'
import { commonListeners, portCollisions } from '../service/settings/own-ports.ts'
import type { SettingsTable } from '../service/settings/setting.ts'
import type { SettingKind } from '../service/settings/setting-kinds.ts'
import {
  choice,
  integerBetween,
  kind,
  list,
  scalarText,
  secretText,
  text,
  url,
} from '../service/settings/setting-kinds.ts'
import {
  type LoadedSettings,
  loadSettingsWithOrigins,
  type SettingSources,
} from '../service/settings/settings.ts'
import type { RequiredChainId } from './ingest/chain-id.ts'
import { type StartHeight, startHeight } from './ingest/start-height.ts'

export interface GeneratorSettings extends CommonSettings {
  /** Chain ID that the execution node has to have; null where names alone say which chain it is. */
  readonly chainId: number | null
  /** At least one; the preferred one first. */
  readonly rpcUrls: readonly string[]
  readonly wsUrl: string | null
  readonly apiKey: string | null
  /** Name of the header that carries the key. */
  readonly apiKeyHeader: string
  readonly startHeight: StartHeight
  readonly verify: 'headers' | 'off'
  readonly receipts: 'per-transaction' | 'per-block'
  readonly schemaAuthMode: 'token' | 'none'
  readonly schemaApiKeys: readonly string[]
}

const verify: SettingKind<'headers' | 'off'> = kind(
  'headers or off (full does not exist yet)',
  (value) => {
    const found = scalarText(value)
    return found === 'headers' || found === 'off' ? found : undefined
  },
)

/** The table from which settings, help and docs/reference/settings.md are generated. */
export const generatorSettings: SettingsTable<GeneratorSettings> = {
  ...commonSettings('generator'),
  chainId: {
    key: 'chain.id',
    env: 'CHAIN_ID',
    kind: integerBetween(1),
    doc: 'Chain ID that the execution node must have. Without it, names of a known network require the ID of that network, and other names accept any.',
  },
  rpcUrls: {
    key: 'node.rpc_url',
    env: 'NODE_RPC_URL',
    kind: list(url('http', 'https')),
    required: true,
    doc: 'JSON-RPC addresses of the execution node; the next one is used while one does not respond.',
  },
  wsUrl: {
    key: 'node.ws_url',
    env: 'NODE_WS_URL',
    kind: url('ws', 'wss'),
    doc: 'WebSocket address for new heads; without it they are polled over HTTP.',
  },
  apiKey: {
    key: 'node.api_key',
    env: 'NODE_API_KEY',
    kind: secretText,
    secret: true,
    doc: 'Sent to the node unchanged: include the scheme (Bearer ...) where the node requires one.',
  },
  apiKeyHeader: {
    key: 'node.api_key_type',
    env: 'NODE_API_KEY_TYPE',
    kind: text('the name of an HTTP header', /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/),
    default: 'Authorization',
    doc: 'Name of the header that carries the key.',
  },
  startHeight: {
    key: 'generator.start_height',
    env: 'GENERATOR_START_HEIGHT',
    kind: startHeight,
    default: 'latest',
    doc: 'Where an empty store starts; a store with blocks continues after them.',
  },
  verify: {
    key: 'generator.verify',
    env: 'GENERATOR_VERIFY',
    kind: verify,
    default: 'headers',
    doc: 'Whether each block’s hash is recomputed from its header.',
  },
  receipts: {
    key: 'generator.receipts',
    env: 'GENERATOR_RECEIPTS',
    kind: choice(['per-transaction', 'per-block']),
    default: 'per-transaction',
    doc: 'Whether receipts are requested one by one (in batches), or with eth_getBlockReceipts.',
  },
  schemaAuthMode: {
    key: 'schema.auth_mode',
    env: 'SCHEMA_AUTH_MODE',
    kind: choice(['token', 'none']),
    default: 'token',
    doc: 'Whether the schema endpoint requires a key.',
  },
  schemaApiKeys: {
    key: 'schema.api_keys',
    env: 'SCHEMA_API_KEYS',
    kind: list(secretText),
    default: [],
    secret: true,
    doc: 'Keys the schema endpoint accepts; without any it refuses every request in token mode. Their file is read again when it changes; keys that are no longer in it are accepted for one more hour.',
  },
}

/** Reads and checks all settings. Throws CONFIG_INVALID. */
export function loadGeneratorSettings(sources: SettingSources): LoadedSettings<GeneratorSettings> {
  return loadSettingsWithOrigins(generatorSettings, sources, { check: checkSettings })
}

function checkSettings(settings: GeneratorSettings): readonly string[] {
  return [
    ...(settings.rpcUrls.length > 0
      ? []
      : ['node.rpc_url (NODE_RPC_URL) is required and empty; accepted is at least one URL']),
    ...chainContradictions(settings),
    ...portCollisions(commonListeners(settings)),
  ]
}

function chainContradictions({
  chainName,
  chainNetwork,
  chainId,
}: GeneratorSettings): readonly string[] {
  const known = knownChainId(chainName, chainNetwork)
  if (chainId === null || known === null || chainId === known) return []
  return [
    `chain.id (CHAIN_ID) is ${chainId}, and ${chainName} ${chainNetwork} has ${known}: correct it, or give the chain names of its own in chain.name and chain.network (CHAIN_NAME, CHAIN_NETWORK)`,
  ]
}

/** The chain ID that the execution node has to have, and whose it is; null where any will do. */
export function requiredChainId({
  chainName,
  chainNetwork,
  chainId,
}: Pick<GeneratorSettings, 'chainName' | 'chainNetwork' | 'chainId'>): RequiredChainId | null {
  if (chainId !== null) return { id: chainId, network: null }
  const id = knownChainId(chainName, chainNetwork)
  return id === null ? null : { id, network: `${chainName} ${chainNetwork}` }
}
