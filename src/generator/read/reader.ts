/** The writer thread's end of the reader thread. */
import type { MetricsSnapshot } from '../../service/metrics.ts'
import { openThread, threadUrl } from '../../service/threads/thread.ts'
import type { BlockFeed } from './block-feed.ts'
import type { ReaderData, ReaderEvents, ReaderRequests } from './reader-thread.ts'
import type { UpstreamState } from './upstream-state.ts'

export interface ReaderThread extends BlockFeed {
  metrics(): Promise<MetricsSnapshot>
  close(): Promise<void>
}

interface ReaderParts {
  readonly onUpstream: (state: UpstreamState) => void
  /** The thread exited unexpectedly. */
  readonly onFatal: (error: unknown) => void
}

/** Room for the parsed responses of the blocks in flight; see the writer's limits. */
const resourceLimits = { maxYoungGenerationSizeMb: 30 }
const closeTimeoutMs = 2_000

/** Starts the thread. */
export async function openReaderThread(
  data: ReaderData,
  parts: ReaderParts,
): Promise<ReaderThread> {
  const url = threadUrl('./reader-thread', import.meta.url)
  const thread = await openThread<ReaderRequests, ReaderEvents>(
    { url, name: 'reader', data, closeTimeoutMs, resourceLimits },
    { onFatal: parts.onFatal },
  )
  thread.on('upstream', parts.onUpstream)
  return {
    async follow(onHead, signal) {
      const stop = thread.on('head', onHead)
      try {
        await thread.request('follow', null, { signal })
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        stop()
      }
    },
    chainId: (signal) => thread.request('chainId', null, { signal }),
    genesis: (signal) => thread.request('genesis', null, { signal }),
    head: (signal) => thread.request('head', null, { signal }),
    header: (height, signal) => thread.request('header', height, { signal }),
    block: (height, signal) => thread.request('block', height, { signal }),
    metrics: () => thread.metrics(),
    close: () => thread.close(),
  }
}
