/** The Host's settings: the common ones, and what only a Host has. */
import { type CommonSettings, commonSettings } from '../service/common-settings.ts'
import { commonListeners, portCollisions } from '../service/own-ports.ts'
import type { ListenAddress } from '../service/port-unavailable.ts'
import type { SettingsTable } from '../service/setting.ts'
import {
  type Address,
  kind,
  list,
  type SettingKind,
  scalarText,
  secretText,
  url,
} from '../service/setting-kinds.ts'
import {
  type LoadedSettings,
  loadSettingsWithOrigins,
  type SettingSources,
} from '../service/settings.ts'

export interface HostSettings extends CommonSettings {
  /** Health port of a Generator whose schema is compared with ours; null compares with nobody's. */
  readonly schemaUrl: string | null
  readonly schemaAuthToken: string | null
  readonly registryRpcUrl: string | null
  readonly registryLcdUrl: string | null
  readonly adminToken: string | null
  /** Identities that may vote; empty lets everybody. */
  readonly trustedSigners: readonly string[]
}

/** A public key as `signatureIdentity` shows it. */
const signerIdentity: SettingKind<string> = kind(
  'a signer’s public key in hex, as BlockSignature.signatureIdentity shows it',
  (value) => {
    const found = scalarText(value)?.toLowerCase()
    return found !== undefined && /^(?:0[23])?[0-9a-f]{64}$/.test(found) ? found : undefined
  },
)

/** The table from which settings, help and README are made. */
export const hostSettings: SettingsTable<HostSettings> = {
  ...commonSettings('host'),
  schemaUrl: {
    key: 'schema.url',
    env: 'GENERATOR_SCHEMA_URL',
    kind: url('http', 'https'),
    doc: 'Health port of a Generator, whose schema is compared with the embedded one and decides the prefix while chain.name and chain.network are not set.',
  },
  schemaAuthToken: {
    key: 'schema.auth_token',
    env: 'GENERATOR_SCHEMA_AUTH_TOKEN',
    kind: secretText,
    secret: true,
    doc: 'One of that Generator’s SCHEMA_API_KEYS. Its file is read again each time the Generator is asked.',
  },
  registryRpcUrl: {
    key: 'registry.rpc_url',
    env: 'REGISTRY_RPC_URL',
    kind: url('http', 'https', 'ws', 'wss'),
    doc: 'Consensus RPC of the registry chain. Has no effect until Views are served.',
  },
  registryLcdUrl: {
    key: 'registry.lcd_url',
    env: 'REGISTRY_LCD_URL',
    kind: url('http', 'https'),
    doc: 'LCD of the registry chain. Has no effect until Views are served.',
  },
  adminToken: {
    key: 'host.admin_token',
    env: 'HOST_ADMIN_TOKEN',
    kind: secretText,
    secret: true,
    doc: 'Opens the administrative routes. Has no effect until Views are served.',
  },
  trustedSigners: {
    key: 'host.trusted_signers',
    env: 'HOST_TRUSTED_SIGNERS',
    kind: list(signerIdentity),
    default: [],
    doc: 'Generators whose seals count. Without any, every valid seal counts, and whoever can seal can bring blocks in.',
  },
}

/** Reads and checks all settings. Throws CONFIG_INVALID. */
export function loadHostSettings(sources: SettingSources): LoadedSettings<HostSettings> {
  return loadSettingsWithOrigins(hostSettings, sources, { check: checkSettings })
}

function checkSettings(settings: HostSettings): readonly string[] {
  const { port } = settings.apiAddress
  if (port === maxPort)
    return [`db.url (DB_API_ADDR): found port ${port}, accepted is a lower one: ${aboveApi}`]
  const playground = playgroundListen(settings.apiAddress).address
  return portCollisions([
    ...commonListeners(settings),
    ['the playground (one port above db.url, DB_API_ADDR)', playground],
  ])
}

const maxPort = 65_535
const aboveApi = 'the playground is served one port above it'

/** Where the playground is served: one port above the API. */
export function playgroundListen({ host, port }: Address): ListenAddress {
  const address = { host, port: port === 0 ? 0 : port + 1 }
  return { address, setting: 'DB_API_ADDR', derivation: aboveApi }
}
