/** Starts Generator and Host as a user would: `viewmesh generator` and `viewmesh host`, set up by environment. */
import { fileURLToPath } from 'node:url'
import { nodeOptions, type ProgramName, ports } from '../service/contract.ts'
import type { ProgramFolder } from './chain-folder.ts'
import type { ChainSource } from './chain-source.ts'
import type { Child, Children } from './children.ts'
import type { DevnetSettings } from './config.ts'

export interface ProgramPorts {
  readonly api: number
  readonly p2p: number
  readonly health: number
}

/** Ports of the Generator as the settings have them. */
export function generatorPorts(settings: DevnetSettings): ProgramPorts {
  const { generatorApiPort: api, generatorP2pPort: p2p, generatorHealthPort: health } = settings
  return { api, p2p, health }
}

/** Ports of the Host as the settings have them. */
export function hostPorts(settings: DevnetSettings): ProgramPorts {
  const { hostApiPort: api, hostP2pPort: p2p, hostHealthPort: health } = settings
  return { api, p2p, health }
}

/** The playground's port: the one after the Host's GraphQL. */
export function playgroundPort(host: ProgramPorts): number {
  return host.api + ports.playground - ports.api
}

interface ProgramOptions {
  readonly settings: DevnetSettings
  readonly source: ChainSource
  readonly folder: ProgramFolder
  readonly ports: ProgramPorts
  /** The environment we were started with: other settings pass through. */
  readonly env: NodeJS.ProcessEnv
}

/** The environment of both programs; empty values override inherited ones. */
export function programEnvironment(options: ProgramOptions): NodeJS.ProcessEnv {
  const { settings, source, folder, ports, env } = options
  const { listen } = settings
  return {
    ...env,
    CHAIN_NAME: source.chain,
    CHAIN_NETWORK: source.network,
    DB_STORE_PATH: folder.storePath,
    DB_KEY_PATH: folder.keyPath,
    DB_KEYRING_SECRET: '',
    DB_KEYRING_SECRET_FILE: folder.secretPath,
    DB_API_ADDR: `${listen}:${ports.api}`,
    DB_P2P_LISTEN_ADDR: `/ip4/${listen}/tcp/${ports.p2p}`,
    HEALTH_ADDR: `${listen}:${ports.health}`,
    BOOTSTRAP_PEERS: '',
    BOOTSTRAP_PEERS_FILE: '',
  }
}

/** What the Generator gets in addition: the node and where to start. */
export function devnetGeneratorEnvironment(
  settings: DevnetSettings,
  source: ChainSource,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  return {
    NODE_RPC_URL: source.rpcUrls.join(','),
    NODE_WS_URL: source.wsUrl ?? '',
    NODE_API_KEY: settings.apiKey ?? '',
    NODE_API_KEY_FILE: '',
    NODE_API_KEY_TYPE: settings.apiKeyType,
    GENERATOR_START_HEIGHT: settings.startHeight ?? source.startHeight,
    ...schemaAccess(env),
  }
}

/** Where the registry chain of the development chain is. */
interface RegistryUrls {
  readonly cometUrl: string
  readonly lcdUrl: string
}

/**
 * What the Host gets in addition: its peer, the registry chain unless the user gave one, and a token for the routes that
 * change its Views.
 */
export function devnetHostEnvironment(
  folder: ProgramFolder,
  generator: string,
  registry: RegistryUrls | null,
): NodeJS.ProcessEnv {
  return {
    ...(registry !== null && {
      REGISTRY_RPC_URL: registry.cometUrl,
      REGISTRY_LCD_URL: registry.lcdUrl,
    }),
    BOOTSTRAP_PEERS: generator,
    HOST_ADMIN_TOKEN: '',
    HOST_ADMIN_TOKEN_FILE: folder.adminTokenPath,
  }
}

/** The schema endpoint is open on a developer's machine, unless the user configures it. */
function schemaAccess(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['SCHEMA_AUTH_MODE', 'SCHEMA_API_KEYS', 'SCHEMA_API_KEYS_FILE']
  return names.some((name) => (env[name] ?? '') !== '') ? {} : { SCHEMA_AUTH_MODE: 'none' }
}

/** Starts a program; `onLine` gets each line of its log. */
export function startProgram(
  name: ProgramName,
  options: { readonly folder: ProgramFolder; readonly env: NodeJS.ProcessEnv },
  parts: { readonly children: Children; readonly onLine: (line: string) => void },
): Child {
  const main = import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js'
  return parts.children.start({
    name,
    command: process.execPath,
    args: [...nodeOptions, fileURLToPath(new URL(main, import.meta.url)), name],
    env: options.env,
    logPath: options.folder.logPath,
    onLine: parts.onLine,
  })
}
