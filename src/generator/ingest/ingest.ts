/**
 * The ingest loop: takes blocks in order with some prefetched, stores and seals each, and follows
 * the node when it changes branches. Its state is in the store and the node, so that it can be killed
 * at any moment and resumes where it was.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ChainHead } from '../../chain/block-reader.ts'
import { type Backoff, backoffMs } from '../../primitives/backoff.ts'
import type { Head as SignedHead } from '../../primitives/head.ts'
import {
  createHeadSigner,
  type HeadSigner,
  type HeadSignerOptions,
  type HeadSignerParts,
} from '../head/signer.ts'
import type { BlockFeed } from '../read/block-feed.ts'
import type { EncodedBlock } from '../read/encode-block.ts'
import { createHeadTracker } from '../read/head-tracker.ts'
import { type RequiredChainId, requireChainId } from './chain-id.ts'
import { createFetchAhead } from './fetch-ahead.ts'
import { type FollowBranchOptions, followBranch } from './follow-branch.ts'
import { createGenesis, type Genesis, type GenesisParts } from './genesis.ts'
import type { IngestMetrics } from './ingest-metrics.ts'
import {
  type OwnChain,
  type OwnChainOptions,
  type OwnChainParts,
  openOwnChain,
} from './own-chain.ts'
import { prepareBlock } from './prepare-block.ts'
import { createSealer } from './sealer.ts'
import { firstHeight, type StartHeight } from './start-height.ts'

export interface IngestOptions
  extends Omit<OwnChainOptions, 'identity'>,
    FollowBranchOptions,
    HeadSignerOptions {
  /** The chain ID that the node has to have; null where any will do. */
  readonly requiredChainId: RequiredChainId | null
  /** Where an empty store starts. */
  readonly startHeight: StartHeight
  /** Heights prefetched ahead of the one that is stored. */
  readonly fetchAhead: number
  /** Between retries while the node's blocks are not consecutive. */
  readonly backoff: Backoff
}

interface IngestParts
  extends Omit<OwnChainParts, 'heads' | 'seal' | 'onFailure'>,
    Pick<GenesisParts, 'onGenesis'>,
    Pick<HeadSignerParts, 'signer' | 'clock' | 'onHead'> {
  readonly feed: BlockFeed
  readonly log: Logger
  readonly metrics: IngestMetrics
  /** Called with the chain ID of the node. */
  readonly onChainId: (id: number) => void
}

export interface Ingest {
  /** A peer has this head, which our key signed. */
  readonly foundHead: (head: SignedHead) => void
  /**
   * Resolves once the signal is aborted. Rejects with the error that ends it otherwise: a failed write,
   * another chain than the configured or the stored one, or a key that runs twice.
   */
  readonly ended: Promise<void>
}

/** Runs until `signal` is aborted. */
export function startIngest(
  options: IngestOptions,
  parts: IngestParts,
  signal: AbortSignal,
): Ingest {
  const { feed, signer, clock } = parts
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  const onFailure = (error: unknown): void => failed.abort(error)
  const node = createHeadTracker()
  const ahead = createFetchAhead(options.fetchAhead, async (height, cancelled) => {
    const block = await feed.block(height, AbortSignal.any([stop, cancelled]))
    return { block, returnedMs: clock.nowMs() }
  })
  const onNodeHead = (head: ChainHead): void => {
    heads.setNodeHeight(head.number)
    ahead.cancelAbove(head.number)
    node.set(head)
  }
  const heads = createHeadSigner(options, {
    ...parts,
    onFailure,
    onHead(head) {
      parts.metrics.headSigned()
      parts.onHead(head)
    },
    askNode: (height) => feed.header(height, stop),
    onDiffers: () => void feed.head(stop).then(onNodeHead, onFailure),
  })
  const seal = createSealer(options.network, { signer, nowMs: clock.unixMs })
  const own = openOwnChain(
    { ...options, identity: signer.identity },
    { ...parts, heads, seal, onFailure },
  )
  const onGenesis = (hash: string): void => {
    heads.setGenesis(hash)
    parts.onGenesis(hash)
  }
  const genesis = createGenesis({ ...parts, onGenesis, onFailure })
  const run = async (): Promise<void> => {
    const following = feed.follow(onNodeHead, stop).catch(onFailure).finally(node.end)
    const fetchingGenesis = genesis.fetch(stop).catch(onFailure)
    try {
      await requireChainId(options.requiredChainId, parts, stop)
      await ingest({ options, parts, own, heads, genesis, node, ahead, stop })
    } catch (error) {
      onFailure(error)
    } finally {
      failed.abort()
      await Promise.allSettled([following, fetchingGenesis, own.drain()])
      await heads.close()
    }
    if (!signal.aborted) throw failed.signal.reason
  }
  return { foundHead: heads.found, ended: run() }
}

/** A block, and when the node returned it. */
interface ReadBlock {
  readonly block: EncodedBlock
  readonly returnedMs: number
}

interface Ingesting {
  readonly options: IngestOptions
  readonly parts: IngestParts
  readonly own: OwnChain
  readonly heads: HeadSigner
  readonly genesis: Genesis
  readonly node: ReturnType<typeof createHeadTracker>
  readonly ahead: ReturnType<typeof createFetchAhead<ReadBlock>>
  readonly stop: AbortSignal
}

/** A node may need a moment to change branches; one that keeps doing this is several nodes. */
const misfitsBeforeWarning = 5
const misfitWarning = 'node returns blocks that do not follow one another, retries'

async function ingest(state: Ingesting): Promise<void> {
  const { options, own, node, ahead, stop } = state
  const first = await node.after(null)
  if (first === null) return
  const start = await begin(state, first)
  let misfits = 0
  let wasBelow = isBelow(own, first)
  while (!stop.aborted) {
    const head = node.latest() ?? first
    const tip = own.tip()
    const next = tip === null ? start : tip.number + 1
    if (head.number < next) {
      wasBelow = await waitForHead(state, head, wasBelow)
      continue
    }
    const read = await ahead.take(next, head.number)
    if (read === null) continue
    misfits = (await append(state, read)) ? 0 : misfits + 1
    if (misfits === misfitsBeforeWarning) state.parts.log.warn({ height: next }, misfitWarning)
    const waitMs = backoffMs(options.backoff, misfits, Math.random())
    if (misfits > 0) await pause(waitMs, undefined, { signal: stop })
  }
}

/**
 * Adds a block that continues ours; one that does not shows that the node is on another branch.
 * False when it continues nothing and the node says that ours is its branch: it is changing now.
 */
async function append(state: Ingesting, { block, returnedMs }: ReadBlock): Promise<boolean> {
  const tip = state.own.tip()
  if (tip !== null && block.header.parentHash !== tip.hash) {
    state.ahead.cancelAbove(-1)
    return await changeBranch(state)
  }
  state.genesis.confirm()
  const stop = state.parts.metrics.stageSeconds.startTimer({ stage: 'prepare' })
  const prepared = prepareBlock(block)
  stop()
  await state.own.add(prepared, returnedMs)
  await nextTurn()
  return true
}

/**
 * Repairs the state of an earlier run: removes blocks of an abandoned branch, and seals blocks without a
 * seal. Returns where an empty store starts.
 */
async function begin(state: Ingesting, head: ChainHead): Promise<number> {
  const { options, parts, own } = state
  const height = firstHeight(options.startHeight, head.number)
  if (own.tip() === null) {
    state.genesis.confirm()
    parts.log.info({ height }, 'store is empty, starts here')
    return height
  }
  await changeBranch(state)
  const sealed = await own.sealRest()
  state.heads.resume()
  parts.log.info({ height: own.tip()?.number, sealed }, 'continues after the last stored block')
  return height
}

/**
 * A head that is not above us may still be of another branch; then our chain is truncated. Returns whether
 * the head is below everything stored: only the first such head is checked.
 */
async function waitForHead(state: Ingesting, head: ChainHead, wasBelow: boolean): Promise<boolean> {
  const ours = state.own.hashAt(head.number)
  const below = isBelow(state.own, head)
  const mayDiffer = below ? !wasBelow : ours !== undefined && ours !== head.hash
  if (mayDiffer && (await changeBranch(state))) return below
  await state.node.after(head)
  return below
}

/** Whether a head is below everything stored. */
function isBelow(own: Ingesting['own'], { number }: ChainHead): boolean {
  const tip = own.tip()
  return tip !== null && number < tip.number && own.hashAt(number) === undefined
}

/** Follows the node where it is on another branch; returns whether blocks of ours were removed. */
async function changeBranch(state: Ingesting): Promise<boolean> {
  const { options, parts, own, heads, genesis, ahead, stop } = state
  heads.doubt()
  const verdict = await followBranch(
    options,
    {
      ...parts,
      own,
      block: async (height) => (await ahead.take(height, height))?.block ?? null,
      genesisHash: parts.store.genesisHash(),
    },
    stop,
  )
  if (verdict !== 'unknown') genesis.confirm()
  return verdict === 'changed'
}
