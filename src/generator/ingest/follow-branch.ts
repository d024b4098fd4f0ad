/** Brings our chain back to the node's where the two have parted. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Head } from '../../chain/block-reader.ts'
import type { BlockFeed } from '../read/block-feed.ts'
import type { EncodedBlock } from '../read/encode-block.ts'
import { chainChanged } from './chain-changed.ts'
import type { IngestMetrics } from './ingest-metrics.ts'
import type { OwnChain, StoredRange } from './own-chain.ts'
import { prepareBlock } from './prepare-block.ts'

export interface FollowBranchOptions {
  /** Between the two looks at the node that are taken before everything stored goes. */
  readonly secondLookMs: number
}

export interface FollowBranchParts {
  readonly feed: Pick<BlockFeed, 'head' | 'header'>
  /** The node's block at a height; null where the node left it meanwhile. */
  readonly block: (height: number) => Promise<EncodedBlock | null>
  readonly own: OwnChain
  /** Hash of block 0 of the stored chain; null where the store does not know it. */
  readonly genesisHash: string | null
  readonly log: Logger
  readonly metrics: Pick<IngestMetrics, 'reorganised'>
}

/**
 * `same`: stored blocks are the node's, and none is known to differ. `changed`: blocks differed and were
 * removed. `unknown`: the node did not say enough, so everything stays as it is.
 */
export type BranchVerdict = 'same' | 'changed' | 'unknown'

/**
 * Removes our blocks that the node has others for. A node that is merely behind has none, and what it
 * answers `null` for is unknown. Where even the lowest block differs, block 0 tells whether it is the same
 * chain: then the node's block takes its place. Throws GENERATOR_CHAIN_CHANGED where it is another.
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
  await own.cutAbove(common)
  metrics.reorganised(removed)
  const facts = { common, removed, height: stored.head }
  log.warn(facts, 'node changed branches, removed blocks it left')
  return 'changed'
}

/** What a node says about a block of ours; it is unknown where it has none at that height. */
export type Comparison = 'same' | 'different' | 'unknown'

function compare(block: Head | null, hash: string | undefined): Comparison {
  if (block === null || hash === undefined) return 'unknown'
  return block.hash === hash ? 'same' : 'different'
}

/**
 * The last of the heights at which both chains are the same, below all of them where none is; `same` where
 * none is known to differ. Equal blocks mean equal blocks below them, and different ones different blocks
 * above, so the number of questions grows with the logarithm of how far back the chains parted.
 */
export async function lastCommonHeight(
  { from, to }: HeightSpan,
  ask: (height: number) => Promise<Comparison>,
): Promise<number | 'same' | 'unknown'> {
  let { common, different } = await lookBack({ from, to }, ask)
  if (different > to) return common < from ? 'unknown' : 'same'
  if (common < from && different > from) return 'unknown'
  while (different - common > 1) {
    const middle = (common + different) >> 1
    const answer = await ask(middle)
    if (answer === 'unknown') return answer
    if (answer === 'same') common = middle
    else different = middle
  }
  return common
}

interface HeightSpan {
  readonly from: number
  readonly to: number
}

/** Asks from the end backwards, in steps that double, until a height is common; those not found lie outside. */
async function lookBack(
  { from, to }: HeightSpan,
  ask: (height: number) => Promise<Comparison>,
): Promise<{ common: number; different: number }> {
  let different = to + 1
  for (let step = 1, height = to; ; step *= 2) {
    const answer = await ask(height)
    if (answer === 'same') return { common: height, different }
    if (answer === 'different') different = height
    if (height === from) return { common: from - 1, different }
    height = Math.max(from, to - 2 * step + 1)
  }
}

/**
 * Puts the node's block in the place of the lowest stored one and of all above it, once the node has
 * named the same block 0 and the same head twice.
 */
async function beginAgain(
  { secondLookMs }: FollowBranchOptions,
  parts: FollowBranchParts,
  { stored, head }: { readonly stored: StoredRange; readonly head: Head },
  signal: AbortSignal,
): Promise<BranchVerdict> {
  const { feed, own, log, metrics } = parts
  if (!(await isSameChain(parts, stored, signal))) return 'unknown'
  await pause(secondLookMs, undefined, { signal })
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
 * Whether the node has block 0 of the stored chain; false where it does not say. Throws
 * GENERATOR_CHAIN_CHANGED where it has another one, or where the store does not know its own.
 */
async function isSameChain(
  { feed, genesisHash }: FollowBranchParts,
  stored: StoredRange,
  signal: AbortSignal,
): Promise<boolean> {
  if (genesisHash === null) throw chainChanged({ stored, genesisHash, nodeGenesisHash: null })
  const nodeGenesis = await feed.header(0, signal)
  if (nodeGenesis === null) return false
  if (nodeGenesis.hash === genesisHash) return true
  throw chainChanged({ stored, genesisHash, nodeGenesisHash: nodeGenesis.hash })
}
