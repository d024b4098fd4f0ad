/** Returns to the node's branch where our chain has diverged from it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ChainHead } from '../../chain/block-reader.ts'
import type { BlockFeed } from '../read/block-feed.ts'
import type { EncodedBlock } from '../read/encode-block.ts'
import { chainChanged } from './chain-changed.ts'
import type { IngestMetrics } from './ingest-metrics.ts'
import type { OwnChain, OwnRange } from './own-chain.ts'
import { prepareBlock } from './prepare-block.ts'

export interface FollowBranchOptions {
  /** Between the two checks of the node before everything stored is replaced. */
  readonly recheckMs: number
}

interface FollowBranchParts {
  readonly feed: Pick<BlockFeed, 'head' | 'header'>
  /** The node's block at a height; null where the node abandoned it meanwhile. */
  readonly block: (height: number) => Promise<EncodedBlock | null>
  readonly own: OwnChain
  /** Hash of block 0 of the stored chain; null where the store does not know it. */
  readonly genesisHash: string | null
  readonly log: Logger
  readonly metrics: Pick<IngestMetrics, 'reorganised'>
}

/**
 * `same`: stored blocks are the node's, and none is known to differ. `changed`: blocks differed and were
 * removed. `unknown`: the node did not return enough to decide, so nothing changes.
 */
type BranchVerdict = 'same' | 'changed' | 'unknown'

/**
 * Removes our blocks where the node has others. A node that is merely behind has none, and heights for
 * which it returns `null` are unknown. Where even the lowest block differs, block 0 decides whether it is
 * the same chain: then the node's block takes its place. Throws GENERATOR_CHAIN_CHANGED where it is another.
 */
export async function followBranch(
  options: FollowBranchOptions,
  parts: FollowBranchParts,
  signal: AbortSignal,
): Promise<BranchVerdict> {
  const { feed, own, log, metrics } = parts
  await own.drain()
  const stored = own.range()
  if (stored === null) return 'same'
  const head = await feed.head(signal)
  if (head.number < stored.tail) {
    if (parts.genesisHash !== null) await isSameChain(parts, stored, signal)
    const facts = { head: head.number, height: stored.head }
    log.warn(facts, 'execution node is behind everything stored, waits until it has caught up')
    return 'unknown'
  }
  const common = await lastCommonHeight(
    { from: stored.tail, to: Math.min(stored.head, head.number) },
    async (height) => compare(await feed.header(height, signal), own.hashAt(height)),
  )
  if (typeof common === 'string') return common
  if (common < stored.tail) return await beginAgain(options, parts, { stored, head }, signal)
  const removed = stored.head - common
  await own.truncateAbove(common)
  metrics.reorganised(removed)
  const facts = { common, removed, height: stored.head }
  log.warn(facts, 'node changed branches, removed blocks it left')
  return 'changed'
}

/** The node's block compared with ours; unknown where it has none at that height. */
export type Comparison = 'same' | 'different' | 'unknown'

function compare(block: ChainHead | null, hash: string | undefined): Comparison {
  if (block === null || hash === undefined) return 'unknown'
  return block.hash === hash ? 'same' : 'different'
}

/**
 * The last of the heights at which both chains are the same, below all of them where none is; `same` where
 * none is known to differ. Equal blocks mean equal blocks below them, and different ones different blocks
 * above, so the number of requests grows with the logarithm of how far back the chains diverged.
 */
export async function lastCommonHeight(
  { from, to }: HeightSpan,
  ask: (height: number) => Promise<Comparison>,
): Promise<number | 'same' | 'unknown'> {
  let { common, different } = await searchBack({ from, to }, ask)
  if (different > to) return common < from ? 'unknown' : 'same'
  if (common < from && different > from) return 'unknown'
  while (different - common > 1) {
    const middle = (common + different) >> 1
    const found = await ask(middle)
    if (found === 'unknown') return found
    if (found === 'same') common = middle
    else different = middle
  }
  return common
}

interface HeightSpan {
  readonly from: number
  readonly to: number
}

/** Searches from the end backwards, in doubling steps, until a height is common; heights not found lie outside. */
async function searchBack(
  { from, to }: HeightSpan,
  ask: (height: number) => Promise<Comparison>,
): Promise<{ common: number; different: number }> {
  let different = to + 1
  for (let step = 1, height = to; ; step *= 2) {
    const found = await ask(height)
    if (found === 'same') return { common: height, different }
    if (found === 'different') different = height
    if (height === from) return { common: from - 1, different }
    height = Math.max(from, to - 2 * step + 1)
  }
}

/**
 * Replaces the lowest stored block and all above it by the node's block, once the node has returned the
 * same block 0 and the same head twice.
 */
async function beginAgain(
  { recheckMs }: FollowBranchOptions,
  parts: FollowBranchParts,
  { stored, head }: { readonly stored: OwnRange; readonly head: ChainHead },
  signal: AbortSignal,
): Promise<BranchVerdict> {
  const { feed, own, log, metrics } = parts
  if (!(await isSameChain(parts, stored, signal))) return 'unknown'
  await pause(recheckMs, undefined, { signal })
  const again = await feed.header(head.number, signal)
  if (again?.hash !== head.hash || !(await isSameChain(parts, stored, signal))) return 'unknown'
  const block = await parts.block(stored.tail)
  if (block === null || block.header.hash === own.hashAt(stored.tail)) return 'unknown'
  await own.beginAgain(prepareBlock(block))
  const removed = stored.head - stored.tail + 1
  metrics.reorganised(removed)
  const facts = { from: stored.tail, removed, head: head.number }
  log.warn(facts, 'node changed branches below everything stored, begins again')
  return 'changed'
}

/**
 * Whether the node has block 0 of the stored chain; false where it returns none. Throws
 * GENERATOR_CHAIN_CHANGED where it has another one, or where the store does not know its own.
 */
async function isSameChain(
  { feed, genesisHash }: FollowBranchParts,
  stored: OwnRange,
  signal: AbortSignal,
): Promise<boolean> {
  if (genesisHash === null) throw chainChanged({ stored, genesisHash, nodeGenesisHash: null })
  const nodeGenesis = await feed.header(0, signal)
  if (nodeGenesis === null) return false
  if (nodeGenesis.hash === genesisHash) return true
  throw chainChanged({ stored, genesisHash, nodeGenesisHash: nodeGenesis.hash })
}
