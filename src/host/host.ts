/**
 * The Host, assembled: every part in the order in which it depends on others, closed in reverse.
 * The main thread moves bytes, answers health and queries; the writer thread verifies and stores.
 */
import type { Logger } from 'pino'
import { openIdentity, readIdentity } from '../identity/identity.ts'
import type { P2p } from '../p2p/p2p.ts'
import { networkName } from '../primitives/names.ts'
import { openHealthServer } from '../service/health.ts'
import { openMetrics } from '../service/metrics.ts'
import { requireFree, requireWritable, tcpAddress } from '../service/preflight.ts'
import type { Running } from '../service/run.ts'
import type { LoadedSettings } from '../service/settings.ts'
import { readVersion } from '../service/version.ts'
import { openReader } from '../store/reader.ts'
import { openVolumeWatch } from '../store/volume-watch.ts'
import { openApi } from './api.ts'
import { openWriterThread } from './apply/writer.ts'
import { type HostSettings, playgroundListen } from './config.ts'
import { openMesh } from './mesh.ts'
import { createHostMetrics } from './metrics.ts'
import { decideNames } from './network.ts'
import { openSchemaSync } from './schema/schema-sync.ts'
import { createStatus } from './status.ts'

/** What a running Host can be reached at. */
export interface Host {
  readonly healthPort: number
  readonly apiPort: number
  readonly playgroundPort: number
  readonly p2p: Pick<P2p, 'self' | 'peers'>
}

export interface HostParts {
  readonly log: Logger
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[]
  readonly running: Pick<Running, 'own' | 'fail' | 'signal'>
}

/** Opens everything and reports ready. Each part that is open is owned by `running`. */
export async function openHost(
  { settings, origins, secretFiles }: LoadedSettings<HostSettings>,
  { log, running, secrets }: HostParts,
): Promise<Host> {
  const metrics = running.own('metrics', openMetrics({ thread: 'main' }))
  const { registry } = metrics
  const { fail: onFatal, signal } = running
  const status = createStatus(settings)
  const hostMetrics = createHostMetrics(metrics.registry, status.gauges)
  const health = running.own(
    'health server',
    await openHealthServer(
      {
        address: settings.healthAddress,
        publicAddress: settings.publicHealthAddress,
        program: 'host',
        version: readVersion(),
      },
      { log, metrics, state: status.state, counters: hostMetrics.counters },
    ),
  )
  await requireUsable(settings)
  const retainBlocks = settings.prunerEnabled ? settings.prunerMaxBlocks : null
  const { keyPath, keyringSecret: secret } = settings
  const keyOptions = { keyPath, secret, program: 'host' } as const
  const known = await readIdentity(keyOptions)
  const schema = running.own(
    'schema',
    await openSchemaSync(
      { source: sourceOf(settings), tokenFile: secretFiles.schemaAuthToken },
      { log, registry, signal },
    ),
  )
  status.parts.schema = schema
  const wanted = decideNames(settings, origins, schema.fetchedNetwork)
  const trustedSigners = settings.trustedSigners.length === 0 ? null : settings.trustedSigners
  const { writer, names } = await openWriterThread(
    {
      storePath: settings.storePath,
      logLevel: settings.logLevel,
      secrets,
      applier: { trustedSigners, retainBlocks },
    },
    wanted,
    { onFatal },
  )
  running.own('writer', writer)
  const { peerSeed } = known ?? (await openIdentity(keyOptions))
  metrics.addSource(writer.metrics)
  const network = networkName(names.chain, names.network)
  status.setNetwork(names.chain, names.network)
  schema.use(network)
  const reader = openReader({ path: settings.storePath }, { log, registry })
  running.own('reader', reader)
  status.parts.reader = reader
  const volumeOf = { path: settings.storePath }
  const volume = running.own('volume watch', await openVolumeWatch(volumeOf, { log, registry }))
  status.parts.volume = volume
  running.own('status', {
    close: () => {
      status.parts.reader = null
    },
  })
  const api = running.own('api', await openApi({ settings, network }, { log, reader, registry }))
  const mesh = running.own(
    'mesh',
    await openMesh(
      { settings, network, retainBlocks, peerSeed },
      { log, registry, metrics: hostMetrics, status, writer, reader, notify: api.notify, onFatal },
    ),
  )
  status.setReady(true)
  running.own('readiness', { close: () => status.setReady(false) })
  const { id, addresses } = mesh.p2p.self()
  log.info({ network, peer: id, addresses, head: status.stored()?.head ?? null }, 'host ready')
  return {
    healthPort: health.port,
    apiPort: api.port,
    playgroundPort: api.playgroundPort,
    p2p: mesh.p2p,
  }
}

async function requireUsable(settings: HostSettings): Promise<void> {
  const { apiAddress, p2pListen } = settings
  await requireFree({ address: apiAddress, setting: 'DB_API_ADDR' })
  await requireFree(playgroundListen(apiAddress))
  await requireFree({ address: tcpAddress(p2pListen), setting: 'DB_P2P_LISTEN_ADDR' })
  await requireWritable(settings.storePath)
}

function sourceOf({
  schemaUrl: url,
  schemaAuthToken: token,
}: HostSettings): { url: string; token: string | null } | null {
  return url === null ? null : { url, token }
}
