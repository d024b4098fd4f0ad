/**
 * The writer thread: the only one that writes the store. It reads blocks from the reader thread, which it
 * starts and stops.
 */
import { createSigner, type SignerKey } from '../identity/signature.ts'
import { type PlainError, toPlainError } from '../plain-error.ts'
import type { Head } from '../primitives/head.ts'
import { openLog } from '../service/log.ts'
import { openMetrics } from '../service/metrics.ts'
import { serveThread } from '../service/threads/serve-thread.ts'
import type { BlockHeader, StoreWriter } from '../store/store.ts'
import { openWriter, type StoreWriterParts } from '../store/write/writer.ts'
import { systemClock } from './head/clock.ts'
import type { HeadMessage } from './head/stored-head.ts'
import type { HeadTiming } from './head/timing.ts'
import type { RequiredChainId } from './ingest/chain-id.ts'
import { type FormerIdentity, findFormerIdentity } from './ingest/former-identity.ts'
import { type Ingest, startIngest } from './ingest/ingest.ts'
import { createIngestMetrics } from './ingest/ingest-metrics.ts'
import { createSealLog } from './ingest/seal-log.ts'
import type { StartHeight } from './ingest/start-height.ts'
import { openReaderThread, type ReaderThread } from './read/reader.ts'
import type { ReaderData } from './read/reader-thread.ts'
import { upstreamBackoff } from './read/upstream-backoff.ts'
import type { UpstreamState } from './read/upstream-state.ts'

/** What the thread is started with. */
export interface SealWriterData extends ReaderData {
  readonly storePath: string
  /** How many of the newest heights are kept; null keeps all. */
  readonly retainBlocks: number | null
  readonly requiredChainId: RequiredChainId | null
  readonly startHeight: StartHeight
  readonly logBlocks: boolean
  readonly headTiming: HeadTiming
}

/** Events for the main thread. */
export type SealWriterEvents = {
  /** A block and its seal are on the disk. */
  readonly sealed: BlockHeader
  /** A head to send, already on the disk. */
  readonly head: HeadMessage
  /** Block 0 of the stored chain is known. */
  readonly genesis: string
  /** The node said its chain ID. */
  readonly chainId: number
  /** Something of the upstream's state changed. */
  readonly upstream: UpstreamState
  /** Ingest cannot go on. */
  readonly failed: PlainError
}

/** Requests of the main thread. */
export type SealWriterRequests = {
  /** Starts ingest; called once. Returns who sealed the newest blocks, where that is another identity. */
  readonly ingest: (signerKey: SignerKey) => FormerIdentity | null
  /** A peer has this head, which the key signed. */
  readonly foundHead: (head: Head) => void
}

/** How long the start waits for the node before the store is opened without a comparison of block 0. */
const genesisWaitMs = 2_000
const fetchAhead = 3
const maxWrites = 6
const recheckMs = 3_000

await serveThread<SealWriterRequests, SealWriterEvents, SealWriterData>(
  async ({ data, emit, signal }) => {
    const { network, requiredChainId, startHeight, logLevel, secrets } = data
    const log = openLog({ name: 'generator-writer', level: logLevel, secrets })
    const metrics = openMetrics({ thread: 'writer' })
    const { registry } = metrics
    const onFailed = (error: unknown): void => emit('failed', toPlainError(error))
    let sourceHead: number | null = null
    const onUpstream = (state: UpstreamState): void => {
      sourceHead = state.head
      emit('upstream', state)
    }
    const readerData = { network, node: data.node, logLevel, secrets }
    const feed = await openReaderThread(readerData, { onUpstream, onFatal: onFailed })
    const genesisHash = await genesisHashOf(feed, signal)
    const store = await openStore(data, genesisHash, { log, registry })
    const sealLog = createSealLog(data, log)
    const ingestMetrics = createIngestMetrics(registry)
    let running: Ingest | null = null
    const ingest = (signerKey: SignerKey): FormerIdentity | null => {
      const signer = createSigner(signerKey)
      const former = store.reader.read((snapshot) => findFormerIdentity(snapshot, signer.identity))
      running = startIngest(
        {
          network,
          timing: data.headTiming,
          requiredChainId,
          startHeight,
          fetchAhead,
          maxWrites,
          backoff: upstreamBackoff,
          recheckMs,
        },
        {
          feed,
          store,
          log,
          metrics: ingestMetrics,
          signer,
          clock: systemClock,
          onChainId: (id) => emit('chainId', id),
          onGenesis: (hash) => emit('genesis', hash),
          onHead: (head) => emit('head', head),
          onSealed: (header) => {
            emit('sealed', header)
            sealLog(header, sourceHead)
          },
        },
        signal,
      )
      running.ended.catch(onFailed)
      return former
    }
    return {
      requests: { ingest, foundHead: (head) => running?.foundHead(head) },
      metrics: async () => [...(await metrics.snapshot()), ...(await feed.metrics())],
      close: async () => {
        await running?.ended.catch(() => undefined)
        await feed.close()
        metrics.close()
        await store.close()
      },
    }
  },
)

/** Throws what `openWriter` throws, STORE_FOREIGN also where the store knows another block 0 than the node. */
async function openStore(
  { storePath: path, network, retainBlocks }: SealWriterData,
  nodeGenesisHash: string | null,
  parts: StoreWriterParts,
): Promise<StoreWriter> {
  const store = await openWriter({ path, network, retainBlocks, program: 'generator' }, parts)
  try {
    if (nodeGenesisHash !== null && store.genesisHash() !== null)
      await store.adoptGenesis(nodeGenesisHash)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Null where the node does not respond soon: stored blocks are served meanwhile, and ingest keeps trying. */
async function genesisHashOf(
  feed: Pick<ReaderThread, 'genesis'>,
  signal: AbortSignal,
): Promise<string | null> {
  const late = AbortSignal.timeout(genesisWaitMs)
  try {
    return (await feed.genesis(AbortSignal.any([signal, late]))).hash
  } catch (error) {
    if (late.aborted && !signal.aborted) return null
    throw error
  }
}
