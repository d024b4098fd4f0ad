/**
 * The Host, assembled: every part in the order in which it depends on others, closed in reverse.
 * The main thread moves bytes, answers health and queries; the writer thread verifies and stores.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { loadIdentity, openIdentity } from '../identity/identity.ts'
import type { DigestSigner } from '../identity/signature.ts'
import type { P2p } from '../p2p/p2p.ts'
import { networkName } from '../primitives/names.ts'
import { openFailureLog } from '../service/failure-log.ts'
import { openHealthServer } from '../service/health/health.ts'
import { type RegisteringNode, registrationRoute } from '../service/health/registration-route.ts'
import { openMetrics } from '../service/metrics.ts'
import { requireFree } from '../service/preflight.ts'
import type { Running } from '../service/run.ts'
import { type LineFile, openLineFile } from '../service/settings/line-file.ts'
import { tcpAddress } from '../service/settings/own-ports.ts'
import type { SettingKind } from '../service/settings/setting-kinds.ts'
import type { LoadedSettings } from '../service/settings/settings.ts'
import { readVersion } from '../service/version.ts'
import { hasStore, requireUsableStore } from '../store/disk/store-directory.ts'
import { openVolumeWatch } from '../store/disk/volume-watch.ts'
import { openReader } from '../store/read/reader.ts'
import type { StoreReader } from '../store/store.ts'
import { openHostApi, openHostGraphql } from './api.ts'
import { openWriterThread, type Writer } from './apply/writer.ts'
import {
  type HostSettings,
  hostIdentity,
  playgroundListen,
  retainedOf,
  signerIdentity,
  trustModeOf,
} from './config.ts'
import { openViewsFolder } from './folder/views-folder.ts'
import { type Followers, openFollowers } from './follow/followers.ts'
import { openHostMesh } from './mesh.ts'
import { createHostMetrics, type HostMetrics } from './metrics.ts'
import { type ChainNames, decideNames } from './network.ts'
import { openHostRegistry } from './registry/host-registry.ts'
import { materializedOf } from './row-votes/finished-leaves.ts'
import { createRowSignerMetrics } from './row-votes/metrics.ts'
import { openRowDisagreements } from './row-votes/row-disagreements.ts'
import { openRowSigner } from './row-votes/row-signer.ts'
import { openSchemaSync, type SchemaSync } from './schema/schema-sync.ts'
import { createHostStatus, type HostStatusReporter } from './status.ts'
import { openTrust, type Trust } from './trust/trust.ts'
import { openHostViews } from './views/host-views.ts'
import { isHosted } from './views/hosted-view.ts'
import { createViewChecker } from './views/view-checker.ts'

/** What a running Host can be reached at. */
export interface HostProgram {
  readonly healthPort: number
  readonly apiPort: number
  readonly playgroundPort: number
  readonly p2p: Pick<P2p, 'self' | 'peers'>
}

export interface HostParts {
  readonly log: Logger
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  readonly running: Pick<Running, 'own' | 'fail' | 'signal'>
}

/** Opens everything and reports ready. Each part that is open is owned by `running`. */
export async function openHost(
  loaded: LoadedSettings<HostSettings>,
  { log, running, secrets, environment }: HostParts,
): Promise<HostProgram> {
  const { settings } = loaded
  const metrics = running.own('metrics', openMetrics({ thread: 'main' }))
  const { registry } = metrics
  const status = createHostStatus(settings)
  let node: RegisteringNode | null = null
  const hostMetrics = createHostMetrics(registry, status.gauges)
  const health = running.own(
    'health server',
    await openHealth(settings, { log, metrics, status, hostMetrics, node: () => node }),
  )
  await requireFreePorts(settings)
  const { keyPath, keyringSecret: secret, storePath } = settings
  const keyOptions = { keyPath, secret, program: 'host' } as const
  const known = await loadIdentity(keyOptions)
  requireUsableStore(storePath)
  const { names: wanted, schema } = await discoverNames(loaded, { log, running, status, registry })
  const retained = retainedOf(settings)
  const { writer, names } = await openWriterThread(
    { storePath, logLevel: settings.logLevel, secrets, ...retained },
    wanted,
    { onFatal: running.fail },
  )
  running.own('writer', writer)
  const { peerSeed, signer } = known ?? (await openIdentity(keyOptions))
  metrics.addSource(writer.metrics)
  const network = networkName(names.chain, names.network)
  status.setNetwork(names.chain, names.network)
  status.setIdentity(signer.identity)
  schema.use(network)
  const reader = running.own('reader', openReader({ path: storePath }, { log, registry }))
  const volume = await openVolumeWatch({ path: storePath }, { log, registry })
  status.report({ reader, volume: running.own('volume watch', volume) })
  running.own('status', { close: status.close })
  const shared = { log, registry, writer, reader, onFatal: running.fail }
  const trust = await openTrustOf(
    { settings, network, own: signer.identity },
    { log, running, writer, reader },
  )
  status.report({ trust })
  const graphql = openHostGraphql({ settings, network }, shared)
  const followers = openFollowers({ own: signer.identity }, shared)
  const api = await openServedViews(
    { settings, network, environment },
    { ...shared, graphql, running, status, signer, trust, followers },
  )
  const { onStored, onFollow } = status
  const reports = { metrics: hostMetrics, notify: graphql.notify, onStored, onFollow }
  const meshParts = { ...reports, ...shared, trust, signer, followers }
  const meshOptions = { settings, network, peerSeed }
  const mesh = running.own('mesh', await openHostMesh(meshOptions, meshParts))
  node = { signer, self: mesh.p2p.self, announced: mesh.p2p.announced }
  status.report({ p2p: mesh.p2p, siblings: mesh.siblings })
  running.own('report of peers', { close: () => status.report({ p2p: null, siblings: null }) })
  running.own('failure log', openFailureLog({}, { log, failures: status.signerFailures }))
  status.setReady(true)
  running.own('readiness', { close: () => status.setReady(false) })
  const { id, addresses } = mesh.p2p.self()
  const { head } = status.state()
  log.info({ network, peer: id, addresses, identity: signer.identity, head }, 'host ready')
  return {
    healthPort: health.port,
    apiPort: api.port,
    playgroundPort: api.playgroundPort,
    p2p: mesh.p2p,
  }
}

/** The Views, posted and registered, and the API that serves them. */
async function openServedViews(
  {
    settings,
    network,
    environment,
  }: Pick<HostParts, 'environment'> & {
    readonly settings: HostSettings
    readonly network: string
  },
  parts: Parameters<typeof openHostViews>[1] &
    Pick<Parameters<typeof openHostApi>[1], 'graphql'> &
    Pick<HostParts, 'running'> & {
      readonly followers: Followers
      readonly status: HostStatusReporter
      readonly signer: DigestSigner
      readonly trust: Pick<Trust, 'hosts'>
    },
): ReturnType<typeof openHostApi> {
  const { registry, running, status, followers } = parts
  const options = { ...settings, network, environment }
  const signerParts = { ...parts, metrics: createRowSignerMetrics(registry) }
  const rowSigner = openRowSigner(options, { ...signerParts, writer: followers.writer })
  const views = running.own('views', openHostViews(options, { ...parts, writer: rowSigner.writer }))
  running.own('row signer', rowSigner).begin(() => materializedOf(views.kept()))
  followers.begin(views)
  const folderParts = { ...parts, views, checker: createViewChecker({ network }) }
  const folder = running.own('views folder', await openViewsFolder(settings, folderParts))
  const rows = openRowDisagreements(
    { own: parts.signer.identity },
    {
      ...parts,
      hosts: () => parts.trust.hosts().map(({ identity }) => identity),
      nameOf: (view) =>
        views
          .kept()
          .filter(isHosted)
          .find(({ id }) => id === view)?.name ?? null,
    },
  )
  running.own('row disagreements', rows)
  running.own('log of rows', openFailureLog({}, { log: parts.log, failures: rows.failures }))
  const registryParts = { ...parts, views, folder }
  const hostRegistry = running.own('registry', await openHostRegistry(options, registryParts))
  status.report({ views, folder, rows, registry: hostRegistry })
  return running.own('api', await openHostApi(settings, { ...registryParts, hostRegistry }))
}

function openHealth(
  settings: HostSettings,
  parts: Pick<HostParts, 'log'> & {
    readonly metrics: Parameters<typeof openHealthServer>[1]['metrics']
    readonly status: HostStatusReporter
    readonly hostMetrics: HostMetrics
    readonly node: () => RegisteringNode | null
  },
): ReturnType<typeof openHealthServer> {
  const { healthAddress: address, publicHealthAddress: publicAddress } = settings
  const { log, metrics, status, hostMetrics, node } = parts
  return openHealthServer(
    { address, publicAddress, program: 'host', version: readVersion() },
    {
      log,
      metrics,
      state: status.state,
      counters: hostMetrics.counters,
      routes: (server) => registrationRoute(server, settings, { role: 'host', node }),
    },
  )
}

interface NameParts extends Pick<HostParts, 'log' | 'running'> {
  readonly status: HostStatusReporter
  readonly registry: Registry
}

/**
 * Which chain this Host is of. Where only its Generator knows, and nothing is stored yet, it waits for that
 * one: a store keeps the name that it was made with.
 */
async function discoverNames(
  { settings, origins, secretFiles }: LoadedSettings<HostSettings>,
  { log, running, status, registry }: NameParts,
): Promise<{ names: ChainNames; schema: SchemaSync }> {
  const { signal } = running
  const schema = await openSchemaSync(
    { source: sourceOf(settings), tokenFile: secretFiles.schemaAuthToken },
    { log, registry, signal },
  )
  running.own('schema', schema)
  status.report({ schema })
  const names = decideNames(settings, origins, schema.fetchedNetwork())
  if (!names.isGuess || settings.schemaUrl === null || hasStore(settings.storePath))
    return { names, schema }
  log.warn({ url: settings.schemaUrl }, 'waits for the Generator to say which chain this is')
  status.setWaiting(true)
  const fetched = await schema.awaitNetwork()
  status.setWaiting(false)
  return { names: decideNames(settings, origins, fetched), schema }
}

/** The lists of accepted signers and Hosts, with the files that add to them. */
async function openTrustOf(
  {
    settings,
    network,
    own,
  }: { readonly settings: HostSettings; readonly network: string; readonly own: string },
  parts: Pick<HostParts, 'log' | 'running'> & {
    readonly writer: Writer
    readonly reader: StoreReader
  },
): Promise<Trust> {
  const { log, running, writer, reader } = parts
  const open = async (
    setting: string,
    path: string | null,
    kind: SettingKind<string>,
    onChange: () => void,
  ): Promise<LineFile<string> | null> => {
    if (path === null) return null
    const options = { path, setting, kind, isWhole: true }
    const file = await openLineFile(options, { log, onChange })
    running.own(`file of ${setting}`, file)
    return file
  }
  const { trustedSignersFile, trustedHostsFile } = settings
  const file = await open('HOST_TRUSTED_SIGNERS_FILE', trustedSignersFile, signerIdentity, () =>
    trust.onFile(),
  )
  const hostsFile = await open('HOST_TRUSTED_HOSTS_FILE', trustedHostsFile, hostIdentity, () =>
    trust.onHostsFile(),
  )
  const { trustedSigners: listed, trustedHosts: listedHosts } = settings
  const trust = openTrust(
    { mode: trustModeOf(settings), listed, listedHosts, own, network },
    { log, writer, reader, file, hostsFile, onFatal: running.fail },
  )
  return running.own('trust', trust)
}

async function requireFreePorts(settings: HostSettings): Promise<void> {
  const { apiAddress, p2pListen } = settings
  await requireFree({ address: apiAddress, setting: 'DB_API_ADDR' })
  await requireFree(playgroundListen(apiAddress))
  await requireFree({ address: tcpAddress(p2pListen), setting: 'DB_P2P_LISTEN_ADDR' })
}

function sourceOf({
  schemaUrl: url,
  schemaAuthToken: token,
}: HostSettings): { url: string; token: string | null } | null {
  return url === null ? null : { url, token }
}
