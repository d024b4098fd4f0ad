/** Brings our chain back to the node's where the two have parted. */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { BlockFeed } from '../read/block-feed.ts'
import { findCommonHeight } from './common-height.ts'
import type { IngestMetrics } from './ingest-metrics.ts'
import type { OwnChain } from './own-chain.ts'

export interface FollowBranchOptions {
  /** Hash of block 0 of the chain that is stored; null where the node has not told it. */
  readonly genesisHash: string | null
}

export interface FollowBranchParts {
  readonly feed: Pick<BlockFeed, 'head' | 'header'>
  readonly own: OwnChain
  readonly log: Logger
  readonly metrics: Pick<IngestMetrics, 'reorganised'>
}

/**
 * Removes our blocks that the node has others for; answers whether there were any. A node that is
 * merely behind has none. Throws GENERATOR_CHAIN_CHANGED when no block is common to both; of a node that
 * is below everything stored, block 0 tells.
 */
export async function followBranch(
  { genesisHash }: FollowBranchOptions,
  parts: FollowBranchParts,
  signal: AbortSignal,
): Promise<boolean> {
  const { feed, own, log, metrics } = parts
  await own.drain()
  const tip = own.tip()
  if (tip === null) return false
  const head = await feed.head(signal)
  const heights = own.heights(Math.min(tip.number, head.number))
  if (heights.length === 0) {
    const genesis = genesisHash === null ? null : await feed.header(0, signal)
    if (genesis !== null && genesis.hash !== genesisHash) {
      throw chainChanged(own.heights(tip.number), tip)
    }
    const facts = { head: head.number, height: tip.number }
    log.warn(facts, 'execution node is behind everything stored, waits until it has caught up')
    return false
  }
  const common = await findCommonHeight(heights, async (height) => {
    const block = await feed.header(height, signal)
    return block?.hash === own.hashAt(height)
  })
  if (common === null) throw chainChanged(heights, tip)
  if (common === heights.at(-1)) return false
  const removed = tip.number - common
  await own.cutAbove(common)
  metrics.reorganised(removed)
  log.warn({ common, removed, height: tip.number }, 'node changed branches, removed blocks it left')
  return true
}

function chainChanged(
  heights: readonly number[],
  tip: { readonly number: number; readonly hash: string },
): ServiceError {
  const [tail] = heights
  return new ServiceError(
    'GENERATOR_CHAIN_CHANGED',
    `Genesis changed: the execution node has none of the stored blocks ${tail} to ${tip.number}, so it follows another chain.`,
    {
      facts: { tail: tail ?? null, head: tip.number, hash: tip.hash },
      remedy:
        'Set NODE_RPC_URL to a node of the chain that the store was made from, or begin with an empty directory in DB_STORE_PATH.',
    },
  )
}
