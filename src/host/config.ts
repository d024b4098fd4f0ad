/** The Host's settings: the common ones, and what only a Host has. */
import { environment, type TrustMode, trustModes } from '../service/contract.ts'
import type { ListenAddress } from '../service/health/port-unavailable.ts'
import { type CommonSettings, commonSettings } from '../service/settings/common-settings.ts'
import { commonListeners, portCollisions } from '../service/settings/own-ports.ts'
import type { SettingsTable } from '../service/settings/setting.ts'
import {
  type Address,
  choice,
  integerBetween,
  kind,
  list,
  path,
  type SettingKind,
  scalarText,
  secretText,
  url,
} from '../service/settings/setting-kinds.ts'
import {
  type LoadedSettings,
  loadSettingsWithOrigins,
  type SettingSources,
} from '../service/settings/settings.ts'
import { viewAllowEntry, viewFilterEntry } from './registry/view-filter.ts'

export interface HostSettings extends CommonSettings {
  /** Health port of a Generator whose schema is compared with ours; null compares with none. */
  readonly schemaUrl: string | null
  readonly schemaAuthToken: string | null
  readonly registryRpcUrl: string | null
  readonly registryLcdUrl: string | null
  /** Entries of `viewFilterEntry`: registered Views that have a place before others. */
  readonly registryAllow: readonly string[]
  readonly registryAllowFile: string | null
  /** Registered Views that are not served. */
  readonly registryDeny: readonly string[]
  readonly registryDenyFile: string | null
  /** Most MB that rows of registered Views may take. */
  readonly registryMaxMb: number
  readonly adminToken: string | null
  /** Who is accepted as a signer; null where the list of signers decides: `signers` with one, else `bootstrap`. */
  readonly trust: TrustMode | null
  /** Identities of accepted signers. */
  readonly trustedSigners: readonly string[]
  /** File with one such identity a line, read again when it changes. */
  readonly trustedSignersFile: string | null
  /** Identities of other Hosts whose statements about rows count. */
  readonly trustedHosts: readonly string[]
  /** File with one such identity a line, read again when it changes. */
  readonly trustedHostsFile: string | null
  /** File with the address of another replica of this Host a line, read again when it changes. */
  readonly siblingsFile: string | null
  /** Fewest stored blocks with which `/ready` is 200. */
  readonly readyMinBlocks: number
  /** Views that are served at once. */
  readonly maxViews: number
  /** Folder with a file for each further View; null without one. */
  readonly viewsDir: string | null
  /** Newest blocks of which rows of Views are kept; null for those whose documents are. */
  readonly viewMaxBlocks: number | null
  /** What the rows of one View may take in the store. */
  readonly viewMaxBytes: number
  /** Threads that run lenses; null for one fewer than the machine has cores, at most four. */
  readonly lensThreads: number | null
  /** Most blocks behind its signers with which `/ready` is 200; null for any number. */
  readonly readyMaxLag: number | null
}

const mebibyte = 1024 * 1024

/** A public key as `signatureIdentity` shows it. */
export const signerIdentity: SettingKind<string> = kind(
  'a signer’s public key in hex: identity in the /health of a Generator, not its peer ID',
  publicKey,
)

/** The same of a Host. */
export const hostIdentity: SettingKind<string> = kind(
  'a Host’s public key in hex: identity in its /health, not its peer ID',
  publicKey,
)

function publicKey(value: unknown): string | undefined {
  const found = scalarText(value)?.toLowerCase()
  return found !== undefined && /^(?:0[23])?[0-9a-f]{64}$/.test(found) ? found : undefined
}

/** The table from which settings, help and docs/reference/settings.md are made. */
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
    doc: 'Consensus RPC (CometBFT) of the registry chain, which tells of each View as it is registered. Without it new Views are found every five minutes; without the LCD it has no effect.',
  },
  registryLcdUrl: {
    key: 'registry.lcd_url',
    env: 'REGISTRY_LCD_URL',
    kind: url('http', 'https'),
    doc: 'LCD (REST) of the registry chain. The Views that are registered there are served; without it only those that are posted to this Host.',
  },
  registryAllow: {
    key: 'registry.allow',
    env: 'REGISTRY_ALLOW',
    kind: list(viewAllowEntry),
    default: [],
    doc: 'Registered Views that have a place before all others, by the ID that the registry chain lists (the long one is not known before a View has a place and is fetched), by the address of their creator, or by the name of their type, which anybody may choose.',
  },
  registryAllowFile: {
    key: 'registry.allow_file',
    env: 'REGISTRY_ALLOW_FILE',
    kind: path,
    doc: 'File with one more such entry a line, read again when it changes.',
  },
  registryDeny: {
    key: 'registry.deny',
    env: 'REGISTRY_DENY',
    kind: list(viewFilterEntry),
    default: [],
    doc: 'Registered Views that are not served, written in the same way, or by the long ID; * is all that are not allowed. A View that is served ends with its rows.',
  },
  registryDenyFile: {
    key: 'registry.deny_file',
    env: 'REGISTRY_DENY_FILE',
    kind: path,
    doc: 'File with one more such entry a line, read again when it changes.',
  },
  registryMaxMb: {
    key: 'registry.max_mb',
    env: 'REGISTRY_MAX_MB',
    kind: integerBetween(0, 1_000_000_000),
    unit: 'MB',
    default: 10_000,
    doc: 'What rows of registered Views may take on the disk together. Beyond it those that would lose their place first are no longer served.',
  },
  adminToken: {
    key: 'host.admin_token',
    env: 'HOST_ADMIN_TOKEN',
    kind: secretText,
    secret: true,
    doc: 'Opens the routes that post, remove and retry Views, as a bearer token. Without it they return 503.',
  },
  maxViews: {
    key: 'views.max',
    env: 'MAX_VIEWS',
    kind: integerBetween(0, 1_000),
    unit: 'Views',
    default: 100,
    doc: 'Views that are served at once. Those that this Host has stay when it is lowered.',
  },
  viewsDir: {
    key: 'views.dir',
    env: environment.viewsDir,
    kind: path,
    doc: 'Folder with Views that are served as if they were posted, one a file, read again when it changes. Where it cannot be read, what was served stays; where this is no longer set, its Views end.',
  },
  viewMaxBlocks: {
    key: 'views.max_blocks',
    env: 'VIEW_MAX_BLOCKS',
    kind: integerBetween(1, 1_000_000_000),
    unit: 'blocks',
    doc: 'Of how many of the newest blocks rows of Views are kept, where pruning removes documents sooner. If this is not set, rows go with the documents of their block. Has no effect where PRUNER_ENABLED is false.',
  },
  viewMaxBytes: {
    key: 'views.max_bytes',
    env: 'VIEW_MAX_BYTES',
    kind: integerBetween(mebibyte, 2 ** 50),
    unit: 'bytes',
    default: 1024 * mebibyte,
    doc: 'What the rows of one View may take in the store, with their index. Of a View that takes more the rows of the oldest blocks go, and are not computed again until this is raised.',
  },
  lensThreads: {
    key: 'lens.threads',
    env: 'LENS_THREADS',
    kind: integerBetween(1, 64),
    doc: 'Threads that run lenses, all in one process of their own. If this is not set, one fewer than there are cores, at least one, as far as an eighth of the memory of machine or container has 64 MiB for each. A thread is started when it is first needed.',
  },
  trust: {
    key: 'host.trust',
    env: 'HOST_TRUST',
    kind: choice(trustModes),
    doc: 'Trusted signers: the listed signers, bootstrap peers that prove to be Generators (what holds without a list), or anyone, for experiments.',
  },
  trustedSigners: {
    key: 'host.trusted_signers',
    env: 'HOST_TRUSTED_SIGNERS',
    kind: list(signerIdentity),
    default: [],
    doc: 'Trusted Generators, by the identity in their /health; HOST_TRUST is signers then.',
  },
  trustedSignersFile: {
    key: 'host.trusted_signers_file',
    env: 'HOST_TRUSTED_SIGNERS_FILE',
    kind: path,
    doc: 'File with one more such identity a line, read again when it changes; where it is missing, empty or malformed, the last good list stays, also over a restart.',
  },
  trustedHosts: {
    key: 'host.trusted_hosts',
    env: 'HOST_TRUSTED_HOSTS',
    kind: list(hostIdentity),
    default: [],
    doc: 'Other Hosts whose statements about the rows of Views count, by the identity in their /health. Bootstrap peers that prove to be Hosts count as well.',
  },
  trustedHostsFile: {
    key: 'host.trusted_hosts_file',
    env: 'HOST_TRUSTED_HOSTS_FILE',
    kind: path,
    doc: 'File with one more such identity a line, read again when it changes; where it is missing, empty or malformed, the last good list stays, also over a restart.',
  },
  siblingsFile: {
    key: 'host.siblings_file',
    env: environment.siblingsFile,
    kind: path,
    doc: 'File with an address of another replica of this Host a line, read again when it changes. This Host stays connected with them as with bootstrap peers, counts their statements about the rows of Views once they prove to be Hosts, and never trusts them as signers.',
  },
  readyMinBlocks: {
    key: 'host.ready.min_blocks',
    env: environment.readyMinBlocks,
    kind: integerBetween(0, 1_000_000_000),
    unit: 'blocks',
    default: 1,
    doc: 'With fewer stored blocks `/ready` returns 503.',
  },
  readyMaxLag: {
    key: 'host.ready.max_lag',
    env: environment.readyMaxLag,
    kind: integerBetween(1, 1_000_000_000),
    unit: 'blocks',
    doc: 'Further behind its signers, or behind another replica, `/ready` returns 503. If this is not set, more than 64 blocks behind another replica are too many, and the one with most blocks is always ready.',
  },
}

/** Reads and checks all settings. Throws CONFIG_INVALID. */
export function loadHostSettings(sources: SettingSources): LoadedSettings<HostSettings> {
  return loadSettingsWithOrigins(hostSettings, sources, { check: checkSettings })
}

function checkSettings(settings: HostSettings): readonly string[] {
  const contradictions = [
    ...trustContradictions(settings),
    ...readyContradictions(settings),
    ...viewContradictions(settings),
  ]
  if (contradictions.length > 0) return contradictions
  const { port } = settings.apiAddress
  if (port === maxPort)
    return [`db.url (DB_API_ADDR): found port ${port}, accepted is a lower one: ${aboveApi}`]
  const playground = playgroundListen(settings.apiAddress).address
  return portCollisions([
    ...commonListeners(settings),
    ['the playground (one port above db.url, DB_API_ADDR)', playground],
  ])
}

function readyContradictions({
  readyMinBlocks,
  prunerEnabled,
  prunerMaxBlocks,
}: HostSettings): readonly string[] {
  if (!prunerEnabled || readyMinBlocks <= prunerMaxBlocks) return []
  return [
    `host.ready.min_blocks (HOST_READY_MIN_BLOCKS): found ${readyMinBlocks}, accepted is no more than are kept: ${prunerMaxBlocks} (PRUNER_MAX_BLOCKS)`,
  ]
}

function viewContradictions({
  viewMaxBlocks,
  prunerEnabled,
  prunerMaxBlocks,
}: HostSettings): readonly string[] {
  if (!prunerEnabled || viewMaxBlocks === null || viewMaxBlocks >= prunerMaxBlocks) return []
  return [
    `views.max_blocks (VIEW_MAX_BLOCKS): found ${viewMaxBlocks}, accepted is at least as many as are kept: ${prunerMaxBlocks} (PRUNER_MAX_BLOCKS)`,
  ]
}

function trustContradictions({
  trust,
  trustedSigners,
  trustedSignersFile,
}: HostSettings): readonly string[] {
  const isListed = trustedSigners.length > 0
  if (isListed && trust !== null && trust !== 'signers')
    return [
      `host.trust (HOST_TRUST): found ${trust} beside host.trusted_signers (HOST_TRUSTED_SIGNERS), accepted is signers, or nothing`,
    ]
  if (trust === 'signers' && !isListed && trustedSignersFile === null)
    return [
      'host.trust (HOST_TRUST): found signers, accepted is that with host.trusted_signers (HOST_TRUSTED_SIGNERS) or host.trusted_signers_file (HOST_TRUSTED_SIGNERS_FILE)',
    ]
  return []
}

/** Who is trusted with these settings. */
export function trustModeOf({ trust, trustedSigners }: HostSettings): TrustMode {
  return trust ?? (trustedSigners.length > 0 ? 'signers' : 'bootstrap')
}

/** What the store keeps; see `StoreWriterOptions`. */
interface Retained {
  readonly retainBlocks: number | null
  readonly retainRows: number | null
  readonly maxViewBytes: number
}

/** How many of the newest heights keep documents, and rows of Views. */
export function retainedOf(settings: HostSettings): Retained {
  return {
    retainBlocks: settings.prunerEnabled ? settings.prunerMaxBlocks : null,
    retainRows: settings.viewMaxBlocks,
    maxViewBytes: settings.viewMaxBytes,
  }
}

const maxPort = 65_535
const aboveApi = 'the playground is served one port above it'

/** Where the playground is served: one port above the API. */
export function playgroundListen({ host, port }: Address): ListenAddress {
  const address = { host, port: port === 0 ? 0 : port + 1 }
  return { address, setting: 'DB_API_ADDR', derivation: aboveApi }
}
