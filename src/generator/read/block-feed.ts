/**
 * The source of the ingest loop: heads, and complete, encoded blocks. It retries after every failure of
 * the node; a response that cannot be turned into documents is one of them.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Histogram } from 'prom-client'
import type { ChainHead } from '../../chain/block-reader.ts'
import type { NodeClient } from '../../chain/node-client.ts'
import { ServiceError } from '../../errors.ts'
import { type Backoff, backoffMs } from '../../primitives/backoff.ts'
import { type EncodedBlock, encodeBlock } from './encode-block.ts'

export interface BlockFeed {
  /** The newest head, whenever it changes; resolves when `signal` is aborted. */
  follow(onHead: (head: ChainHead) => void, signal: AbortSignal): Promise<void>
  /** The chain ID; null where the node does not say it. Waits for the node. */
  chainId(signal: AbortSignal): Promise<number | null>
  /** Block 0; waits for the node. */
  genesis(signal: AbortSignal): Promise<ChainHead>
  /** The newest head, read now. */
  head(signal: AbortSignal): Promise<ChainHead>
  /** Null when the node has no block at this height. */
  header(height: number, signal: AbortSignal): Promise<ChainHead | null>
  /** Waits for a height that the node does not have yet. */
  block(height: number, signal: AbortSignal): Promise<EncodedBlock>
}

interface BlockFeedOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Between attempts after a response that cannot be turned into documents. */
  readonly backoff: Backoff
}

interface BlockFeedParts {
  readonly node: Pick<NodeClient, 'heads' | 'chainId' | 'genesis' | 'head' | 'header' | 'block'>
  readonly log: Logger
  /** Seconds to make documents, CIDs and body of one block. */
  readonly encodeSeconds: Histogram
  /** Called with the error of an unusable response, and with null once it is over. */
  readonly onUnusable: (error: ServiceError | null) => void
}

/** A feed over a node client of this thread. */
export function createBlockFeed(options: BlockFeedOptions, parts: BlockFeedParts): BlockFeed {
  const { node } = parts
  return {
    async follow(onHead, signal) {
      for await (const head of node.heads(signal)) onHead(head)
    },
    chainId: (signal) => node.chainId(signal),
    genesis: (signal) => node.genesis(signal),
    head: (signal) => node.head(signal),
    header: (height, signal) => node.header(height, signal),
    block: (height, signal) => readBlock(height, options, parts, signal),
  }
}

async function readBlock(
  height: number,
  { network, backoff }: BlockFeedOptions,
  { node, log, encodeSeconds, onUnusable }: BlockFeedParts,
  signal: AbortSignal,
): Promise<EncodedBlock> {
  for (let failures = 1; ; failures++) {
    const whole = await node.block(height, signal)
    const stop = encodeSeconds.startTimer()
    try {
      const block = encodeBlock(network, whole)
      if (failures > 1) onUnusable(null)
      return block
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      if (failures === 1) log.warn({ height, err: error }, 'block cannot be read, retries')
      onUnusable(error)
    } finally {
      stop()
    }
    await pause(backoffMs(backoff, failures, Math.random()), undefined, { signal })
  }
}
