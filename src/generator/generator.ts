/**
 * The Generator, assembled: every part in the order in which it depends on others, closed in
 * reverse. This thread serves health, queries and peers; the writer thread reads the node and writes
 * the store.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { type Identity, prepareIdentity } from '../identity/identity.ts'
import type { P2p } from '../p2p/p2p.ts'
import { fromPlainError } from '../plain-error.ts'
import type { Head } from '../primitives/head.ts'
import { networkName } from '../primitives/names.ts'
import { openHealthServer } from '../service/health/health.ts'
import { type RegisteringNode, registrationRoute } from '../service/health/registration-route.ts'
import { type Metrics, openMetrics } from '../service/metrics.ts'
import { requireFree } from '../service/preflight.ts'
import type { Running } from '../service/run.ts'
import { tcpAddress } from '../service/settings/own-ports.ts'
import { openThread, type Thread, threadUrl } from '../service/threads/thread.ts'
import { readVersion } from '../service/version.ts'
import { requireUsableStore } from '../store/disk/store-directory.ts'
import { openVolumeWatch } from '../store/disk/volume-watch.ts'
import { openReader } from '../store/read/reader.ts'
import type { StoreReader } from '../store/store.ts'
import { type GeneratorApi, openGeneratorApi } from './api.ts'
import { type GeneratorSettings, requiredChainId } from './config.ts'
import { defaultHeadTiming, type HeadTiming } from './head/timing.ts'
import { identityReplaced } from './ingest/former-identity.ts'
import { openMesh } from './mesh.ts'
import { openSchemaKeys } from './schema/schema-keys.ts'
import { schemaRoutes } from './schema/schema-routes.ts'
import { createGeneratorStatus, declareGauges, type GeneratorStatusReporter } from './status.ts'
import type { SealWriterData, SealWriterEvents, SealWriterRequests } from './writer-thread.ts'

export interface GeneratorOptions extends GeneratorSettings {
  /** Times of signed heads that differ from the usual ones. */
  readonly headTiming?: Partial<HeadTiming>
  /** The file that the schema keys were read from, if it was one. */
  readonly schemaApiKeysFile?: string | undefined
}

/** Where a running Generator can be reached. */
export interface GeneratorProgram {
  readonly healthPort: number
  readonly apiPort: number
  readonly p2p: Pick<P2p, 'self' | 'peers'>
}

export interface GeneratorParts {
  readonly log: Logger
  readonly running: Pick<Running, 'own' | 'fail'>
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[]
}

/** Time for the writer to finish its writes and to close the store. */
const writerCloseMs = 4_000
/**
 * What the writer builds from a block is short-lived. Measured with full blocks: a young generation of
 * the default size grows to 128 MB without being any faster.
 */
const writerLimits = { maxYoungGenerationSizeMb: 24 }

/** Opens everything and reports ready. Each part that is open is owned by `running`. */
export async function openGenerator(
  settings: GeneratorOptions,
  { log, running, secrets }: GeneratorParts,
): Promise<GeneratorProgram> {
  const network = networkName(settings.chainName, settings.chainNetwork)
  const timing = { ...defaultHeadTiming, ...settings.headTiming }
  const named = { settings, network, timing }
  const watch = await openWatch(named, { log, running })
  const program = { log, running, ...watch }
  const api = running.own('api', await openGeneratorApi(named, program))
  const openKey = await requireStartable(settings)
  const chain = await openChain({ ...named, secrets }, { ...program, openKey, api })
  const p2p = await joinMesh({ ...named, peerSeed: chain.peerSeed }, { ...program, ...chain })
  reportReady({ network, identity: chain.signer.identity }, { ...program, p2p })
  return { healthPort: watch.healthPort, apiPort: api.port, p2p }
}

/** A Generator's settings, with what follows from them. */
interface Named {
  readonly settings: GeneratorOptions
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly timing: HeadTiming
}

type ProgramParts = Pick<GeneratorParts, 'log' | 'running'> & Watch

/** What a Generator is watched by. */
interface Watch {
  readonly status: GeneratorStatusReporter
  readonly registry: Registry
  readonly healthPort: number
  /** Adds the metrics of another thread. */
  readonly addSource: Metrics['addSource']
  /** Answers `/registration` for this node from now on. */
  setNode(node: RegisteringNode): void
}

/** Before everything else, and closed last: a start may take long, and so may an end. */
async function openWatch(
  { settings, network }: Named,
  { log, running }: Pick<GeneratorParts, 'log' | 'running'>,
): Promise<Watch> {
  const { schemaApiKeys: keys, schemaApiKeysFile: file, schemaAuthMode: mode } = settings
  const status = createGeneratorStatus(settings)
  const metrics = running.own('metrics', openMetrics({ thread: 'main' }))
  const { registry, addSource } = metrics
  declareGauges(status, registry)
  const schemaKeys = running.own('schema keys', openSchemaKeys({ keys, file }, { log }))
  if (mode === 'token' && keys.length === 0)
    log.info('schema endpoint refuses every request: SCHEMA_API_KEYS is empty')
  let node: RegisteringNode | null = null
  const { healthAddress: address, publicHealthAddress: publicAddress } = settings
  const health = await openHealthServer(
    { address, publicAddress, program: 'generator', version: readVersion() },
    {
      log,
      metrics,
      state: status.state,
      counters: status.counters,
      routes: (server) => {
        registrationRoute(server, settings, { role: 'generator', node: () => node })
        return schemaRoutes(server, { network, auth: { mode, keys: schemaKeys.accepted } })
      },
    },
  )
  running.own('health server', health)
  const setNode = (opened: RegisteringNode): void => {
    node = opened
  }
  return { status, registry, healthPort: health.port, addSource, setNode }
}

/**
 * Finds what would keep the Generator from starting before anything is made. Returns what opens its key, or makes
 * one: for that the store has to be ours first.
 */
async function requireStartable(settings: GeneratorOptions): Promise<() => Promise<Identity>> {
  const { p2pListen, keyPath, keyringSecret: secret, storePath } = settings
  await requireFree({ address: tcpAddress(p2pListen), setting: 'DB_P2P_LISTEN_ADDR' })
  const options = { keyPath, secret, program: 'generator' } as const
  const openKey = await prepareIdentity(options)
  requireUsableStore(storePath)
  return openKey
}

/** The store, which is written and queried from now on, and the key of this Generator. */
interface OpenChain extends Pick<Identity, 'signer' | 'peerSeed'> {
  readonly writer: Thread<SealWriterRequests, SealWriterEvents>
  readonly reader: StoreReader
}

async function openChain(
  options: Named & Pick<GeneratorParts, 'secrets'>,
  parts: ProgramParts & {
    readonly openKey: () => Promise<Identity>
    readonly api: GeneratorApi
  },
): Promise<OpenChain> {
  const { log, running, status, registry, addSource, openKey, api } = parts
  const path = options.settings.storePath
  const writer = running.own('writer', await openWriterThread(options, running.fail))
  const { signer, signerKey, peerSeed } = await openKey()
  status.report({ identity: signer.identity })
  const former = await writer.request('ingest', signerKey)
  if (former !== null) {
    status.report({ former })
    log.warn({ err: identityReplaced(signer.identity, former) }, 'signs with another identity')
  }
  addSource(writer.metrics)
  writer.on('upstream', status.onUpstream)
  writer.on('chainId', (chainId) => status.report({ chainId }))
  writer.on('genesis', (genesis) => status.report({ genesis }))
  writer.on('failed', (error) => running.fail(fromPlainError(error)))
  writer.on('sealed', (header) => {
    status.onSealed(header)
    api.notify(header.number)
  })
  const reader = running.own('reader', openReader({ path }, { log, registry }))
  status.report({ reader })
  const volume = running.own('volume watch', await openVolumeWatch({ path }, { log, registry }))
  status.report({ volume })
  api.serve(reader)
  // Owned once more, so that it is closed before the reader.
  running.own('queries', api)
  return { writer, reader, signer, peerSeed }
}

/** Last, as peers are served from the store. */
async function joinMesh(
  options: Named & Pick<Identity, 'peerSeed'>,
  parts: ProgramParts & OpenChain,
): Promise<P2p> {
  const { running, status, writer, signer } = parts
  const { sourceHead } = status
  const onFoundHead = (head: Head): void =>
    void writer.request('foundHead', head).catch(running.fail)
  const { p2p, addBlock, addHead } = await openMesh(options, { ...parts, sourceHead, onFoundHead })
  writer.on('sealed', ({ number }) => addBlock(number))
  writer.on('head', addHead)
  parts.setNode({ signer, self: p2p.self, announced: p2p.announced })
  status.report({ p2p })
  return p2p
}

/** No longer ready is what a Generator that ends says first. */
function reportReady(
  { network, identity }: { readonly network: string; readonly identity: string },
  { log, running, status, p2p }: ProgramParts & { readonly p2p: P2p },
): void {
  status.setReady(true)
  running.own('status', status)
  const { id, addresses } = p2p.self()
  const { head } = status.state()
  log.info({ network, peer: id, addresses, identity, head }, 'generator ready')
}

function openWriterThread(
  options: Named & Pick<GeneratorParts, 'secrets'>,
  onFatal: (error: unknown) => void,
): Promise<Thread<SealWriterRequests, SealWriterEvents>> {
  const { settings, network, timing, secrets } = options
  const { rpcUrls, wsUrl, apiKey, apiKeyHeader, verify, receipts } = settings
  const data: SealWriterData = {
    storePath: settings.storePath,
    network,
    retainBlocks: settings.prunerEnabled ? settings.prunerMaxBlocks : null,
    requiredChainId: requiredChainId(settings),
    startHeight: settings.startHeight,
    headTiming: timing,
    node: {
      rpcUrls,
      ...(wsUrl !== null && { wsUrl }),
      ...(apiKey !== null && { apiKey }),
      apiKeyHeader,
      verify,
      receipts,
    },
    logLevel: settings.logLevel,
    logBlocks: settings.logBlocks,
    secrets,
  }
  const url = threadUrl('./writer-thread', import.meta.url)
  return openThread(
    { url, name: 'writer', data, closeTimeoutMs: writerCloseMs, resourceLimits: writerLimits },
    { onFatal },
  )
}
