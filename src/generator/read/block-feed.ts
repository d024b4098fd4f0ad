/**
 * Where the ingest loop gets the chain from: heads, and blocks whole and encoded. It waits through
 * every failure of the node; an answer that no documents can be made of is one of them.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Histogram } from 'prom-client'
import { type Backoff, backoffMs } from '../../chain/backoff.ts'
import type { Head } from '../../chain/block-reader.ts'
import type { Chain } from '../../chain/chain.ts'
import { ServiceError } from '../../errors.ts'
import { type EncodedBlock, encodeBlock } from './encode-block.ts'

export interface BlockFeed {
  /** The newest head, whenever it changes; resolves when `signal` is aborted. */
  follow(onHead: (head: Head) => void, signal: AbortSignal): Promise<void>
  /** Block 0; waits for the node. */
  genesis(signal: AbortSignal): Promise<Head>
  /** The newest head, asked for now. */
  head(signal: AbortSignal): Promise<Head>
  /** Null when the node has no block at this height. */
  header(height: number, signal: AbortSignal): Promise<Head | null>
  /** Waits for a height that the node does not have yet. */
  block(height: number, signal: AbortSignal): Promise<EncodedBlock>
}

export interface BlockFeedOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Between attempts after an answer that no documents can be made of. */
  readonly backoff: Backoff
}

export interface BlockFeedParts {
  readonly chain: Pick<Chain, 'heads' | 'genesis' | 'head' | 'header' | 'block'>
  readonly log: Logger
  /** Seconds to make documents, CIDs and body of one block. */
  readonly encodeSeconds: Histogram
  /** An answer that cannot be used; null when that is over. */
  readonly onTrouble: (error: ServiceError | null) => void
}

/** A feed over a chain of this thread. */
export function createBlockFeed(options: BlockFeedOptions, parts: BlockFeedParts): BlockFeed {
  const { chain } = parts
  return {
    async follow(onHead, signal) {
      for await (const head of chain.heads(signal)) onHead(head)
    },
    genesis: (signal) => chain.genesis(signal),
    head: (signal) => chain.head(signal),
    header: (height, signal) => chain.header(height, signal),
    block: (height, signal) => readBlock(height, options, parts, signal),
  }
}

async function readBlock(
  height: number,
  { network, backoff }: BlockFeedOptions,
  { chain, log, encodeSeconds, onTrouble }: BlockFeedParts,
  signal: AbortSignal,
): Promise<EncodedBlock> {
  for (let failures = 1; ; failures++) {
    const whole = await chain.block(height, signal)
    const stop = encodeSeconds.startTimer()
    try {
      const block = encodeBlock(network, whole)
      if (failures > 1) onTrouble(null)
      return block
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      if (failures === 1) log.warn({ height, err: error }, 'block cannot be read, asks again')
      onTrouble(error)
    } finally {
      stop()
    }
    await pause(backoffMs(backoff, failures), undefined, { signal })
  }
}
