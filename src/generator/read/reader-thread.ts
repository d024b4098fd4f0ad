/**
 * The reader thread: reads from the node and turns its responses into documents. Parsing and encoding
 * are most of what a block costs, and here they block no other thread.
 */
import type { ChainHead } from '../../chain/block-reader.ts'
import { type NodeClientOptions, openNodeClient } from '../../chain/node-client.ts'
import { openLog } from '../../service/log.ts'
import type { LogLevel } from '../../service/log-level.ts'
import { openMetrics } from '../../service/metrics.ts'
import { movedResult, serveThread } from '../../service/threads/serve-thread.ts'
import { createBlockFeed } from './block-feed.ts'
import type { EncodedBlock } from './encode-block.ts'
import { createEncodeSeconds } from './encode-seconds.ts'
import { upstreamBackoff } from './upstream-backoff.ts'
import { type UpstreamState, watchUpstream } from './upstream-state.ts'

/** What the thread is started with. */
export interface ReaderData {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly node: NodeClientOptions
  readonly logLevel: LogLevel
  /** Values that must not appear in the log. */
  readonly secrets: readonly string[]
}

/** Requests of the writer thread; see `BlockFeed`. */
export type ReaderRequests = {
  readonly chainId: () => number | null
  readonly genesis: () => ChainHead
  /** Sends events until it is aborted. */
  readonly follow: () => void
  readonly head: () => ChainHead
  readonly header: (height: number) => ChainHead | null
  readonly block: (height: number) => EncodedBlock
}

export type ReaderEvents = {
  readonly head: ChainHead
  /** Something of the upstream's state changed. */
  readonly upstream: UpstreamState
}

await serveThread<ReaderRequests, ReaderEvents, ReaderData>(async ({ data, emit }) => {
  const log = openLog({ name: 'generator-reader', level: data.logLevel, secrets: data.secrets })
  const metrics = openMetrics({ thread: 'reader' })
  const { registry } = metrics
  const node = openNodeClient(data.node, { log, registry })
  const upstream = watchUpstream(node, { log, report: (state) => emit('upstream', state) })
  const encodeSeconds = createEncodeSeconds(registry)
  const feed = createBlockFeed(
    { network: data.network, backoff: upstreamBackoff },
    { node, log, encodeSeconds, onUnusable: upstream.setFailure },
  )
  const onHead = (head: ChainHead): void => {
    emit('head', head)
    upstream.setHead(head.number)
  }
  return {
    requests: {
      chainId: (_, { signal }) => feed.chainId(signal),
      genesis: (_, { signal }) => feed.genesis(signal),
      follow: (_, { signal }) => feed.follow(onHead, signal),
      head: (_, { signal }) => feed.head(signal),
      header: (height, { signal }) => feed.header(height, signal),
      block: async (height, { signal }) => {
        const block = await feed.block(height, signal)
        return movedResult(block, [block.body.buffer, block.raw.buffer, block.cids.buffer])
      },
    },
    metrics: () => metrics.snapshot(),
    close: async () => {
      upstream.close()
      metrics.close()
      await node.close()
    },
  }
})
