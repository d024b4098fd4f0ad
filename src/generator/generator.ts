/**
 * The Generator, assembled: every part in the order in which it depends on others, closed in
 * reverse. This thread answers health, queries and peers; the writer thread reads the node and
 * writes the store.
 */
import type { Logger } from 'pino'
import { openIdentity, readIdentity } from '../identity/identity.ts'
import type { P2p } from '../p2p/p2p.ts'
import type { Head } from '../primitives/head.ts'
import { networkName } from '../primitives/names.ts'
import { openHealthServer } from '../service/health.ts'
import { openMetrics } from '../service/metrics.ts'
import { fromPlainError } from '../service/plain-error.ts'
import { requireFree, requireWritable, tcpAddress } from '../service/preflight.ts'
import type { Running } from '../service/run.ts'
import { openThread, type Thread, threadUrl } from '../service/thread.ts'
import { readVersion } from '../service/version.ts'
import { openReader } from '../store/reader.ts'
import { openVolumeWatch } from '../store/volume-watch.ts'
import { openApi } from './api.ts'
import type { GeneratorSettings } from './config.ts'
import { defaultHeadTiming, type HeadTiming } from './head/timing.ts'
import { type Mesh, openMesh } from './mesh.ts'
import { schemaRoutes } from './schema/schema-routes.ts'
import { createStatus, declareGauges, type Status } from './status.ts'
import type { WriterData, WriterEvents, WriterRequests } from './writer-thread.ts'

export interface GeneratorOptions extends GeneratorSettings {
  /** Times of signed heads that differ from the usual ones. */
  readonly headTiming?: Partial<HeadTiming>
}

/** What a running Generator can be reached at. */
export interface Generator {
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

/** Time for the writer to write what it has and to close the store. */
const writerCloseMs = 4_000
/**
 * What the writer makes of a block is soon garbage. Measured with full blocks: a young generation of
 * the default size grows to 128 MB without being any faster.
 */
const writerLimits = { maxYoungGenerationSizeMb: 24 }

/** Opens everything and reports ready. Each part that is open is owned by `running`. */
export async function openGenerator(
  settings: GeneratorOptions,
  { log, running, secrets }: GeneratorParts,
): Promise<Generator> {
  const network = networkName(settings.chainName, settings.chainNetwork)
  const timing = { ...defaultHeadTiming, ...settings.headTiming }
  const status = createStatus(settings)
  const metrics = running.own('metrics', openMetrics({ thread: 'main' }))
  const { registry } = metrics
  declareGauges(status, registry)
  const health = running.own(
    'health server',
    await openHealth(settings, network, { log, metrics, status }),
  )
  const api = running.own('api', await openApi({ settings, network }, { log, registry }))
  await requireFree({ address: tcpAddress(settings.p2pListen), setting: 'DB_P2P_LISTEN_ADDR' })
  await requireWritable(settings.storePath)
  const { keyPath, keyringSecret: secret } = settings
  const keyOptions = { keyPath, secret, program: 'generator' } as const
  const known = await readIdentity(keyOptions)
  const writer = running.own(
    'writer',
    await openWriterThread({ settings, network, timing, secrets }, running.fail),
  )
  const { signer, signerKey, peerSeed } = known ?? (await openIdentity(keyOptions))
  status.parts.identity = signer.identity
  await writer.request('ingest', signerKey)
  let mesh: Mesh | null = null
  metrics.addSource(writer.metrics)
  writer.on('upstream', status.onUpstream)
  writer.on('genesis', (hash) => {
    status.parts.genesis = hash
  })
  writer.on('failed', (error) => running.fail(fromPlainError(error)))
  writer.on('sealed', (header) => {
    status.onSealed(header)
    api.notify(header.number)
    mesh?.addBlock(header.number)
  })
  const reader = running.own('reader', openReader({ path: settings.storePath }, { log, registry }))
  status.parts.reader = reader
  const volumeOf = { path: settings.storePath }
  const volume = running.own('volume watch', await openVolumeWatch(volumeOf, { log, registry }))
  status.parts.volume = volume
  api.serve(reader)
  running.own('queries', api)
  const onFoundHead = (head: Head): void =>
    void writer.request('foundHead', head).catch(running.fail)
  mesh = await openMesh(
    { settings, network, peerSeed, timing },
    { running, signer, reader, sourceHead: status.sourceHead, onFoundHead, log, registry },
  )
  const { p2p } = mesh
  writer.on('head', mesh.addHead)
  status.parts.p2p = p2p
  status.setReady(true)
  running.own('status', status)
  const { id, addresses } = p2p.self()
  const { head } = status.state()
  log.info({ network, peer: id, addresses, identity: signer.identity, head }, 'generator ready')
  return { healthPort: health.port, apiPort: api.port, p2p }
}

function openHealth(
  settings: GeneratorSettings,
  network: string,
  parts: {
    readonly log: Logger
    readonly metrics: ReturnType<typeof openMetrics>
    readonly status: Status
  },
): ReturnType<typeof openHealthServer> {
  const { log, metrics, status } = parts
  const auth = { mode: settings.schemaAuthMode, keys: settings.schemaApiKeys }
  if (auth.mode === 'token' && auth.keys.length === 0)
    log.info('schema endpoint refuses everybody: SCHEMA_API_KEYS is empty')
  return openHealthServer(
    {
      address: settings.healthAddress,
      publicAddress: settings.publicHealthAddress,
      program: 'generator',
      version: readVersion(),
    },
    {
      log,
      metrics,
      state: status.state,
      counters: status.counters,
      routes: (server) => schemaRoutes(server, { network, auth }),
    },
  )
}

function openWriterThread(
  options: {
    readonly settings: GeneratorSettings
    readonly network: string
    readonly timing: HeadTiming
    readonly secrets: readonly string[]
  },
  onFatal: (error: unknown) => void,
): Promise<Thread<WriterRequests, WriterEvents>> {
  const { settings, network, timing, secrets } = options
  const { rpcUrls, wsUrl, apiKey, apiKeyHeader, verify, receipts } = settings
  const data: WriterData = {
    storePath: settings.storePath,
    network,
    retainBlocks: settings.prunerEnabled ? settings.prunerMaxBlocks : null,
    startHeight: settings.startHeight,
    headTiming: timing,
    chain: {
      rpcUrls,
      ...(wsUrl !== null && { wsUrl }),
      ...(apiKey !== null && { apiKey }),
      apiKeyHeader,
      verify,
      receipts,
    },
    logLevel: settings.logLevel,
    secrets,
  }
  const url = threadUrl('./writer-thread', import.meta.url)
  return openThread(
    { url, name: 'writer', data, closeTimeoutMs: writerCloseMs, resourceLimits: writerLimits },
    { onFatal },
  )
}
