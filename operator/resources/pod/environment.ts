/** The environment of the containers: what a spec says, as the programs' settings. */
import type { V1EnvVar, V1PodTemplateSpec } from '@kubernetes/client-node'
import { invariant } from '../../../src/errors.ts'
import { environment, ports } from '../../../src/service/contract.ts'
import { labels } from '../../api/annotations.ts'
import type { Start } from '../../api/generator-spec.ts'
import type { Generator, Host, Workload } from '../../api.ts'
import { schemaOrigin, serviceHost } from '../names/addresses.ts'
import { childNames, namesGenerators, programOf } from '../names/names.ts'
import {
  announceKey,
  bootstrapPeersKey,
  configPath,
  keyringPath,
  keysPath,
  secretFiles,
  secretsPath,
  siblingsKey,
  storePath,
  trustedSignersKey,
  viewsPath,
} from '../names/paths.ts'
import type { GeneratorContext, HostContext } from './context.ts'

type Values = Readonly<Record<string, string | undefined>>

/** The environment of a Generator. */
export function generatorEnvironment(generator: Generator, context: GeneratorContext): V1EnvVar[] {
  const { chain, upstream, start } = generator.spec
  const urls = upstreamUrls(generator, context.clusterDomain)
  return [
    ...commonEnvironment(generator),
    ...variables({
      CHAIN_ID: chain.id === undefined ? undefined : String(chain.id),
      NODE_RPC_URL: urls.http,
      NODE_WS_URL: urls.ws,
      NODE_API_KEY_FILE: upstream.auth && `${secretsPath}/${secretFiles.nodeApiKey}`,
      NODE_API_KEY_TYPE: upstream.auth?.header,
      [startSetting]: startHeight(start),
      SCHEMA_API_KEYS_FILE: `${secretsPath}/${secretFiles.schemaApiKeys}`,
    }),
  ]
}

/** The environment of a Host. */
export function hostEnvironment(host: Host, context: HostContext): V1EnvVar[] {
  const { registry, readiness, trustedSigners = [] } = host.spec
  const { schemaSource, clusterDomain } = context
  return [
    ...commonEnvironment(host),
    ...variables({
      [environment.publicHealthAddress]: `0.0.0.0:${ports.publicHealth}`,
      [environment.bootstrapPeersFile]: `${configPath}/${bootstrapPeersKey}`,
      [environment.viewsDir]: viewsPath,
      [environment.siblingsFile]: `${configPath}/${siblingsKey}`,
      [environment.readyMinBlocks]: numberText(readiness?.minBlocks),
      [environment.readyMaxLag]: numberText(readiness?.maxLag),
      [environment.trustedSignersFile]: namesGenerators(host)
        ? `${configPath}/${trustedSignersKey}`
        : undefined,
      GENERATOR_SCHEMA_URL: schemaSource ? schemaOrigin(schemaSource, clusterDomain) : undefined,
      GENERATOR_SCHEMA_AUTH_TOKEN_FILE: schemaSource
        ? `${secretsPath}/${secretFiles.schemaToken}`
        : undefined,
      REGISTRY_RPC_URL: registry.rpcUrl,
      REGISTRY_LCD_URL: registry.lcdUrl,
      HOST_ADMIN_TOKEN_FILE:
        registry.adminTokenSecretRef && `${secretsPath}/${secretFiles.adminToken}`,
      HOST_TRUSTED_SIGNERS: trustedSigners.length > 0 ? trustedSigners.join(',') : undefined,
    }),
  ]
}

/** POD_INDEX comes first, since what follows refers to it. */
function commonEnvironment(resource: Workload): V1EnvVar[] {
  const { chain, pruning } = resource.spec
  const podIndex = { fieldPath: `metadata.labels['${labels.podIndex}']` }
  return [
    { name: 'POD_INDEX', valueFrom: { fieldRef: podIndex } },
    ...variables({
      CHAIN_NAME: chain.name,
      CHAIN_NETWORK: chain.network,
      [environment.keyPath]: keysPath,
      [environment.storePath]: storePath(programOf(resource)),
      [environment.keyringSecretFile]: keyringPath,
      [environment.announceFile]: `${configPath}/${announceKey('$(POD_INDEX)')}`,
      PRUNER_ENABLED: String(pruning.enabled),
      PRUNER_MAX_BLOCKS: String(pruning.maxBlocks),
    }),
  ]
}

function variables(values: Values): V1EnvVar[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  )
}

/** Where a Generator with this pod template starts to fill an empty store, in the words of its setting. */
export function startHeightOf({ spec }: V1PodTemplateSpec): string {
  const env = spec?.containers.find(({ name }) => name === 'generator')?.env ?? []
  return env.find(({ name }) => name === startSetting)?.value ?? 'latest'
}

const startSetting = 'GENERATOR_START_HEIGHT'

function numberText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value)
}

/** `latest` is the program's own default. */
function startHeight(start: Start | undefined): string | undefined {
  if (start?.height !== undefined) return String(start.height)
  if (start?.behindHead === undefined) return undefined
  return start.behindHead === 0 ? 'latest' : `-${start.behindHead}`
}

/** Comma-separated HTTP addresses and the WebSocket address of the execution node. */
function upstreamUrls(
  generator: Generator,
  clusterDomain: string,
): { readonly http: string; readonly ws: string | undefined } {
  const { url, service, podSelector } = generator.spec.upstream
  if (url !== undefined) return { http: url.http.join(','), ws: url.ws }
  const ports = service ?? podSelector
  invariant(ports !== undefined, 'an upstream is one of three')
  const name = service?.name ?? childNames(generator).upstream
  const namespace = service?.namespace ?? generator.metadata.namespace
  const host = serviceHost(name, namespace, clusterDomain)
  return {
    http: `http://${host}:${ports.httpPort}`,
    ws: ports.wsPort === undefined ? undefined : `ws://${host}:${ports.wsPort}`,
  }
}
