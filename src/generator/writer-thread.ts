/** The writer thread: reads the node, and is the only one that writes the store. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Chain, type ChainOptions, openChain } from '../chain/chain.ts'
import { createSigner, type SignerKey } from '../identity/signature.ts'
import { openLog } from '../service/log.ts'
import type { LogLevel } from '../service/log-level.ts'
import { openMetrics } from '../service/metrics.ts'
import { type PlainError, toPlainError } from '../service/plain-error.ts'
import { serveThread } from '../service/serve-thread.ts'
import type { BlockHeader } from '../store/store.ts'
import { openWriter } from '../store/writer.ts'
import { runIngest } from './ingest.ts'
import { createIngestMetrics } from './ingest-metrics.ts'
import { createSealLog } from './seal-log.ts'
import { createSealer } from './sealer.ts'
import type { StartHeight } from './start-height.ts'

/** What the thread is started with. */
export interface WriterData {
  readonly storePath: string
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Newest heights that stay; null keeps all. */
  readonly retainBlocks: number | null
  readonly startHeight: StartHeight
  readonly chain: ChainOptions
  readonly signerKey: SignerKey
  readonly logLevel: LogLevel
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[]
}

/** What the upstream looks like from here. */
export interface UpstreamState {
  /** The node's head, null before it is known. */
  readonly head: number | null
  readonly mode: 'websocket' | 'http' | 'offline'
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Events for the main thread. */
export type WriterEvents = {
  /** A block and its seal are on the disk. */
  readonly sealed: BlockHeader
  /** Something of the upstream's state changed. */
  readonly upstream: UpstreamState
  /** Ingest cannot go on. */
  readonly failed: PlainError
}

/** It is asked for nothing. */
export type WriterRequests = Record<never, never>

/** How long the start waits for the node before the store is opened without its genesis hash. */
const genesisWaitMs = 2_000
const upstreamIntervalMs = 250
const fetchAhead = 3
const maxCommits = 12
const backoff = { minMs: 200, maxMs: 10_000 }

await serveThread<WriterRequests, WriterEvents, WriterData>(async ({ data, emit, signal }) => {
  const { network, retainBlocks, storePath: path, startHeight } = data
  const log = openLog({ name: 'generator-writer', level: data.logLevel, secrets: data.secrets })
  const metrics = openMetrics({ thread: 'writer' })
  const { registry } = metrics
  const chain = openChain(data.chain, { log, registry })
  const genesisHash = await genesisHashOf(chain, signal)
  const store = await openWriter(
    { path, network, retainBlocks, ...(genesisHash !== null && { genesisHash }) },
    { log, registry },
  )
  const signer = createSigner(data.signerKey)
  const upstream = watchUpstream(chain, (state) => emit('upstream', state))
  const ingestMetrics = createIngestMetrics(registry)
  const sealLog = createSealLog(log)
  const ingesting = runIngest(
    { network, startHeight, identity: signer.identity, fetchAhead, maxCommits, backoff },
    {
      chain,
      store,
      log,
      seal: createSealer(network, { signer, nowMs: Date.now }),
      metrics: ingestMetrics,
      onSealed: (header) => {
        emit('sealed', header)
        sealLog(header, upstream.head())
      },
      onHead: ({ number }) => upstream.setHead(number),
      onTrouble: upstream.setTrouble,
    },
    signal,
  ).catch((error: unknown) => emit('failed', toPlainError(error)))
  return {
    requests: {},
    metrics: () => metrics.snapshot(),
    close: async () => {
      await ingesting
      upstream.close()
      metrics.close()
      await chain.close()
      await store.close()
    },
  }
})

/**
 * Null where the node does not answer soon: what is stored is served meanwhile, and whether it is
 * the node's chain shows when blocks are compared.
 */
async function genesisHashOf(chain: Chain, signal: AbortSignal): Promise<string | null> {
  const waited = new AbortController()
  const timer = pause(genesisWaitMs, undefined, { signal: waited.signal }).then(
    () => waited.abort(),
    () => undefined,
  )
  try {
    return (await chain.genesis(AbortSignal.any([signal, waited.signal]))).hash
  } catch (error) {
    if (waited.signal.aborted && !signal.aborted) return null
    throw error
  } finally {
    waited.abort()
    await timer
  }
}

interface Upstream {
  head(): number | null
  setHead(height: number): void
  setTrouble(error: UpstreamState['error']): void
  close(): void
}

/** Reports the state when it has changed: heads at once, the rest within the interval. */
function watchUpstream(chain: Chain, report: (state: UpstreamState) => void): Upstream {
  let head: number | null = null
  let unreadable: UpstreamState['error'] = null
  let reported = ''
  const look = (): void => {
    const error = chain.trouble() ?? unreadable
    const state = { head, mode: chain.mode(), error }
    const text = JSON.stringify(state)
    if (text === reported) return
    reported = text
    report(state)
  }
  const timer = setInterval(look, upstreamIntervalMs)
  return {
    head: () => head,
    setHead(height) {
      head = height
      look()
    },
    setTrouble(error) {
      unreadable = error === null ? null : { code: error.code, message: error.message }
      look()
    },
    close: () => clearInterval(timer),
  }
}
