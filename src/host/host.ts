/**
 * The Host, assembled: every part in the order in which it depends on others, closed in reverse.
 * The main thread moves bytes, answers health and queries; the writer thread verifies and stores.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Graphql } from '../graphql/graphql.ts'
import { type Identity, prepareIdentity } from '../identity/identity.ts'
import type { DigestSigner } from '../identity/signature.ts'
import type { P2p } from '../p2p/p2p.ts'
import { networkName } from '../primitives/names.ts'
import { openFailureLog } from '../service/failure-log.ts'
import { openHealthServer } from '../service/health/health.ts'
import { type RegisteringNode, registrationRoute } from '../service/health/registration-route.ts'
import { type Metrics, openMetrics } from '../service/metrics.ts'
import { requireFree } from '../service/preflight.ts'
import type { Running } from '../service/run.ts'
import { tcpAddress } from '../service/settings/own-ports.ts'
import type { LoadedSettings } from '../service/settings/settings.ts'
import { readVersion } from '../service/version.ts'
import { requireUsableStore } from '../store/disk/store-directory.ts'
import { openVolumeWatch } from '../store/disk/volume-watch.ts'
import { openReader } from '../store/read/reader.ts'
import type { StoreReader } from '../store/store.ts'
import { openHostGraphql } from './api.ts'
import { openWriterThread, type Writer } from './apply/writer.ts'
import { type HostSettings, playgroundListen, retainedOf } from './config.ts'
import { discoverNames } from './discover-names.ts'
import { type Followers, openFollowers } from './follow/followers.ts'
import { openHostTrust } from './host-trust.ts'
import { openHostMesh } from './mesh.ts'
import { createHostMetrics, type HostMetrics } from './metrics.ts'
import type { ChainNames } from './network.ts'
import { openServedViews } from './served-views.ts'
import { createHostStatus, type HostStatusReporter } from './status.ts'
import type { Trust } from './trust/trust.ts'

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
  const watch = await openWatch(settings, { log, running })
  const program = { log, running, ...watch }
  const openKey = await requireStartable(settings)
  const { names, schema } = await discoverNames(loaded, program)
  const chain = await openChain({ settings, names, secrets }, { ...program, openKey })
  const { network, writer, reader, signer, peerSeed } = chain
  const own = signer.identity
  schema.use(network)
  const stored = { ...program, writer, reader, signer, onFatal: running.fail }
  const trust = await openHostTrust({ settings, network, own }, stored)
  watch.status.report({ trust })
  const graphql = openHostGraphql({ settings, network }, stored)
  const followers = openFollowers({ own }, stored)
  const served = { ...stored, trust, graphql, followers }
  const api = await openServedViews({ settings, network, environment }, served)
  const p2p = await joinMesh({ settings, network, peerSeed }, served)
  reportReady({ network, identity: own }, { ...program, p2p })
  const { port: apiPort, playgroundPort } = api
  return { healthPort: watch.healthPort, apiPort, playgroundPort, p2p }
}

type ProgramParts = Pick<HostParts, 'log' | 'running'> & Watch

/** What a Host is watched by. */
interface Watch {
  readonly status: HostStatusReporter
  readonly registry: Registry
  readonly hostMetrics: HostMetrics
  readonly healthPort: number
  /** Adds the metrics of another thread. */
  readonly addSource: Metrics['addSource']
  /** Answers `/registration` for this node from now on. */
  setNode(node: RegisteringNode): void
}

/** Before everything else, and closed last: a start may take long, and so may an end. */
async function openWatch(
  settings: HostSettings,
  { log, running }: Pick<HostParts, 'log' | 'running'>,
): Promise<Watch> {
  const metrics = running.own('metrics', openMetrics({ thread: 'main' }))
  const { registry } = metrics
  const status = createHostStatus(settings)
  const hostMetrics = createHostMetrics(registry, status.gauges)
  let node: RegisteringNode | null = null
  const { healthAddress: address, publicHealthAddress: publicAddress } = settings
  const health = await openHealthServer(
    { address, publicAddress, program: 'host', version: readVersion() },
    {
      log,
      metrics,
      state: status.state,
      counters: hostMetrics.counters,
      routes: (server) => registrationRoute(server, settings, { role: 'host', node: () => node }),
    },
  )
  running.own('health server', health)
  const setNode = (opened: RegisteringNode): void => {
    node = opened
  }
  const { addSource } = metrics
  return { status, registry, hostMetrics, healthPort: health.port, addSource, setNode }
}

type Key = Pick<Identity, 'signer' | 'peerSeed'>

/**
 * Finds what would keep the Host from starting before anything is made or waited for. Returns what opens its key, or
 * makes one: for that the store has to be ours first.
 */
async function requireStartable(settings: HostSettings): Promise<() => Promise<Key>> {
  const { apiAddress, p2pListen, keyPath, keyringSecret: secret, storePath } = settings
  await requireFree({ address: apiAddress, setting: 'DB_API_ADDR' })
  await requireFree(playgroundListen(apiAddress))
  await requireFree({ address: tcpAddress(p2pListen), setting: 'DB_P2P_LISTEN_ADDR' })
  const options = { keyPath, secret, program: 'host' } as const
  const openKey = await prepareIdentity(options)
  requireUsableStore(storePath)
  return openKey
}

/** The store, under the names that it was made with, and the key of this Host. */
interface OpenChain extends Key {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly writer: Writer
  readonly reader: StoreReader
}

async function openChain(
  {
    settings,
    names: wanted,
    secrets,
  }: Pick<HostParts, 'secrets'> & { readonly settings: HostSettings; readonly names: ChainNames },
  parts: ProgramParts & { readonly openKey: () => Promise<Key> },
): Promise<OpenChain> {
  const { log, running, status, registry, addSource, openKey } = parts
  const { storePath: path, logLevel } = settings
  const { writer, names } = await openWriterThread(
    { storePath: path, logLevel, secrets, ...retainedOf(settings) },
    wanted,
    { onFatal: running.fail },
  )
  running.own('writer', writer)
  addSource(writer.metrics)
  status.setNetwork(names.chain, names.network)
  const { signer, peerSeed } = await openKey()
  status.setIdentity(signer.identity)
  const reader = running.own('reader', openReader({ path }, { log, registry }))
  const volume = running.own('volume watch', await openVolumeWatch({ path }, { log, registry }))
  status.report({ reader, volume })
  // What is asked at `/health` while everything is closed no longer reads the store.
  running.own('status', { close: status.close })
  return { network: networkName(names.chain, names.network), writer, reader, signer, peerSeed }
}

/** Last, as what peers send and ask is for all other parts. */
async function joinMesh(
  options: Parameters<typeof openHostMesh>[0],
  parts: ProgramParts & {
    readonly writer: Writer
    readonly reader: StoreReader
    readonly signer: DigestSigner
    readonly trust: Trust
    readonly graphql: Pick<Graphql, 'notify'>
    readonly followers: Followers
    readonly onFatal: (error: unknown) => void
  },
): Promise<P2p> {
  const { running, status, hostMetrics: metrics, graphql, signer } = parts
  const { onStored, onFollow } = status
  const reports = { metrics, notify: graphql.notify, onStored, onFollow }
  const mesh = running.own('mesh', await openHostMesh(options, { ...parts, ...reports }))
  const { p2p, siblings } = mesh
  parts.setNode({ signer, self: p2p.self, announced: p2p.announced })
  status.report({ p2p, siblings })
  running.own('report of peers', { close: () => status.report({ p2p: null, siblings: null }) })
  return p2p
}

/** No longer ready is what a Host that ends says first. */
function reportReady(
  { network, identity }: { readonly network: string; readonly identity: string },
  { log, running, status, p2p }: ProgramParts & { readonly p2p: P2p },
): void {
  running.own('failure log', openFailureLog({}, { log, failures: status.signerFailures }))
  status.setReady(true)
  running.own('readiness', { close: () => status.setReady(false) })
  const { id, addresses } = p2p.self()
  const { head } = status.state()
  log.info({ network, peer: id, addresses, identity, head }, 'host ready')
}
