/**
 * The reader thread: talks to the node and makes documents of its answers. Parsing and encoding are
 * most of what a block costs, and here they keep nobody else waiting.
 */
import { Histogram } from 'prom-client'
import type { Head } from '../../chain/block-reader.ts'
import { type ChainOptions, openChain } from '../../chain/chain.ts'
import { openLog } from '../../service/log.ts'
import type { LogLevel } from '../../service/log-level.ts'
import { openMetrics } from '../../service/metrics.ts'
import { movedAnswer, serveThread } from '../../service/serve-thread.ts'
import { createBlockFeed } from './block-feed.ts'
import type { EncodedBlock } from './encode-block.ts'
import { type UpstreamState, watchUpstream } from './upstream-state.ts'

/** What the thread is started with. */
export interface ReaderData {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly chain: ChainOptions
  readonly logLevel: LogLevel
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[]
}

/** What the writer thread asks for; see `BlockFeed`. */
export type ReaderRequests = {
  readonly genesis: () => Head
  /** Sends events until it is aborted. */
  readonly follow: () => void
  readonly head: () => Head
  readonly header: (height: number) => Head | null
  readonly block: (height: number) => EncodedBlock
}

export type ReaderEvents = {
  readonly head: Head
  /** Something of the upstream's state changed. */
  readonly upstream: UpstreamState
}

const backoff = { minMs: 200, maxMs: 10_000 }

await serveThread<ReaderRequests, ReaderEvents, ReaderData>(async ({ data, emit }) => {
  const log = openLog({ name: 'generator-reader', level: data.logLevel, secrets: data.secrets })
  const metrics = openMetrics({ thread: 'reader' })
  const { registry } = metrics
  const chain = openChain(data.chain, { log, registry })
  const upstream = watchUpstream(chain, (state) => emit('upstream', state))
  const encodeSeconds = new Histogram({
    name: 'viewmesh_generator_encode_seconds',
    help: 'Seconds to make the documents, CIDs and stored form of one block.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    registers: [registry],
  })
  const feed = createBlockFeed(
    { network: data.network, backoff },
    { chain, log, encodeSeconds, onTrouble: upstream.setTrouble },
  )
  const onHead = (head: Head): void => {
    emit('head', head)
    upstream.setHead(head.number)
  }
  return {
    requests: {
      genesis: (_, { signal }) => feed.genesis(signal),
      follow: (_, { signal }) => feed.follow(onHead, signal),
      head: (_, { signal }) => feed.head(signal),
      header: (height, { signal }) => feed.header(height, signal),
      block: async (height, { signal }) => {
        const block = await feed.block(height, signal)
        return movedAnswer(block, [block.body.buffer, block.raw.buffer, block.cids.buffer])
      },
    },
    metrics: () => metrics.snapshot(),
    close: async () => {
      upstream.close()
      metrics.close()
      await chain.close()
    },
  }
})
