/**
 * The Generator, assembled: every part in the order in which it depends on others, closed in
 * reverse. This thread serves health, queries and peers; the writer thread reads the node and writes
 * the store.
 */
import type { Logger } from 'pino'
import { loadIdentity, openIdentity } from '../identity/identity.ts'
import type { P2p } from '../p2p/p2p.ts'
import { fromPlainError } from '../plain-error.ts'
import type { Head } from '../primitives/head.ts'
import { networkName } from '../primitives/names.ts'
import { openHealthServer } from '../service/health/health.ts'
import { type RegisteringNode, registrationRoute } from '../service/health/registration-route.ts'
import { openMetrics } from '../service/metrics.ts'
import { requireFree } from '../service/preflight.ts'
import type { Running } from '../service/run.ts'
import { tcpAddress } from '../service/settings/own-ports.ts'
import { openThread, type Thread, threadUrl } from '../service/threads/thread.ts'
import { readVersion } from '../service/version.ts'
import { requireUsableStore } from '../store/disk/store-directory.ts'
import { openVolumeWatch } from '../store/disk/volume-watch.ts'
import { openReader } from '../store/read/reader.ts'
import { openGeneratorApi } from './api.ts'
import { type GeneratorSettings, requiredChainId } from './config.ts'
import { defaultHeadTiming, type HeadTiming } from './head/timing.ts'
import { identityReplaced } from './ingest/former-identity.ts'
import { type GeneratorMesh, openMesh } from './mesh.ts'
import { openSchemaKeys, type SchemaKeys } from './schema/schema-keys.ts'
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
  const status = createGeneratorStatus(settings)
  const metrics = running.own('metrics', openMetrics({ thread: 'main' }))
  const { registry } = metrics
  let node: RegisteringNode | null = null
  declareGauges(status, registry)
  const { schemaApiKeys: keys, schemaApiKeysFile: file } = settings
  const schemaKeys = running.own('schema keys', openSchemaKeys({ keys, file }, { log }))
  const health = running.own(
    'health server',
    await openHealth(settings, network, { log, metrics, status, schemaKeys, node: () => node }),
  )
  const api = running.own('api', await openGeneratorApi({ settings, network }, { log, registry }))
  await requireFree({ address: tcpAddress(settings.p2pListen), setting: 'DB_P2P_LISTEN_ADDR' })
  const { keyPath, keyringSecret: secret } = settings
  const keyOptions = { keyPath, secret, program: 'generator' } as const
  const known = await loadIdentity(keyOptions)
  requireUsableStore(settings.storePath)
  const writer = running.own(
    'writer',
    await openWriterThread({ settings, network, timing, secrets }, running.fail),
  )
  const { signer, signerKey, peerSeed } = known ?? (await openIdentity(keyOptions))
  status.report({ identity: signer.identity })
  const former = await writer.request('ingest', signerKey)
  if (former !== null) {
    status.report({ former })
    log.warn({ err: identityReplaced(signer.identity, former) }, 'signs with another identity')
  }
  let mesh: GeneratorMesh | null = null
  metrics.addSource(writer.metrics)
  writer.on('upstream', status.onUpstream)
  writer.on('chainId', (chainId) => status.report({ chainId }))
  writer.on('genesis', (genesis) => status.report({ genesis }))
  writer.on('failed', (error) => running.fail(fromPlainError(error)))
  writer.on('sealed', (header) => {
    status.onSealed(header)
    api.notify(header.number)
    mesh?.addBlock(header.number)
  })
  const reader = running.own('reader', openReader({ path: settings.storePath }, { log, registry }))
  status.report({ reader })
  const volumeOf = { path: settings.storePath }
  const volume = running.own('volume watch', await openVolumeWatch(volumeOf, { log, registry }))
  status.report({ volume })
  api.serve(reader)
  running.own('queries', api)
  const onFoundHead = (head: Head): void =>
    void writer.request('foundHead', head).catch(running.fail)
  mesh = await openMesh(
    { settings, network, peerSeed, timing },
    { running, signer, reader, sourceHead: status.sourceHead, onFoundHead, log, registry },
  )
  const { p2p } = mesh
  node = { signer, self: p2p.self, announced: p2p.announced }
  writer.on('head', mesh.addHead)
  status.report({ p2p })
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
    readonly status: GeneratorStatusReporter
    readonly schemaKeys: SchemaKeys
    readonly node: () => RegisteringNode | null
  },
): ReturnType<typeof openHealthServer> {
  const { log, metrics, status, schemaKeys, node } = parts
  const auth = { mode: settings.schemaAuthMode, keys: schemaKeys.accepted }
  if (auth.mode === 'token' && settings.schemaApiKeys.length === 0)
    log.info('schema endpoint refuses every request: SCHEMA_API_KEYS is empty')
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
      routes: (server) => {
        registrationRoute(server, settings, { role: 'generator', node })
        return schemaRoutes(server, { network, auth })
      },
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
