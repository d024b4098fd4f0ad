/** What the writer thread knows and works with: the parts that follow the chain, and what follows from all of them. */
import type { Logger } from 'pino'
import type { Seal } from '../../primitives/seal.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { BlockRef } from '../fork-choice/block-ref.ts'
import { fitsBelow } from '../fork-choice/decision.ts'
import { type AcceptedSigners, createAcceptedSigners } from './accepted-signers.ts'
import { type ChainWriter, createChainWriter } from './chain-writer.ts'
import { createFollower, type Follower } from './follower.ts'
import { bestRoot } from './known-blocks.ts'
import type { Stored } from './outcome.ts'
import { createSealBook, type SealBook } from './seal-book.ts'
import { createSignerHeads, type SignerHeads } from './signer-heads.ts'
import { watchStandStill } from './stand-still.ts'
import { createWaitingBlocks, type WaitingBlocks } from './waiting-blocks.ts'
import { maxAhead, maxWindow, type Window, windowOf } from './window.ts'

export interface ChainOptions {
  readonly network: string
  /** Newest heights that are kept; null keeps all. */
  readonly retainBlocks: number | null
  /** Bytes one block's documents may unpack to. */
  readonly maxRawBytes: number
  /** Bytes of the blocks that wait beside the chain. Default 64 MiB. */
  readonly maxWaitingBytes?: number
}

export interface ChainParts {
  readonly store: StoreWriter
  readonly log: Logger
  /** Monotonic, in milliseconds. */
  readonly nowMs: () => number
  readonly onStored: (stored: Stored) => void
  /** The store failed; nothing can be written any more. */
  readonly onFailure: (error: unknown) => void
}

export interface ChainState {
  readonly options: ChainOptions
  readonly parts: ChainParts
  readonly startedMs: number
  readonly heads: SignerHeads
  readonly signers: AcceptedSigners
  readonly book: SealBook
  readonly waiting: WaitingBlocks
  readonly writer: ChainWriter
  readonly follower: Follower
  readonly standStill: ReturnType<typeof watchStandStill>
  /**
   * By height, blocks of which other documents are to be served than the stored ones: that are not here, or that
   * name a parent which is not stored.
   */
  readonly revised: Map<number, BlockRef>
  /** The lowest height that a configured peer serves; null where none is connected. */
  servedFrom: number | null
}

/** Continues from what is stored. */
export function openChainState(options: ChainOptions, parts: ChainParts): ChainState {
  const { store, nowMs } = parts
  const startedMs = nowMs()
  const { network } = options
  const heads: SignerHeads = createSignerHeads({
    store,
    network,
    nowMs,
    isAccepted: (identity) => signers.isAccepted(identity),
  })
  const signers = createAcceptedSigners({
    heads,
    genesisHash: store.genesisHash,
    time: () => ({ nowMs: nowMs(), startedMs }),
  })
  const { maxWaitingBytes: maxBytes = 64 * 1024 * 1024 } = options
  const waiting = createWaitingBlocks({ maxBlocks: maxWindow + 2 * maxAhead, maxBytes })
  const book: SealBook = createSealBook({
    store,
    storedHash: (height) =>
      writer.pending.at(height)?.hash ??
      store.reader.read((snapshot) => snapshot.header(height)?.hash),
    mostSigners: signers.mostAtHeight,
  })
  const writer = createChainWriter(options, { ...parts, book, waiting })
  const follower = createFollower(startedMs, {
    store,
    writer,
    waiting,
    book,
    nowMs,
    signers: signers.list,
    isRoot: (link, horizon) => isRoot(state, link, horizon),
  })
  book.setAccepted(signers.isAccepted)
  const state: ChainState = {
    options,
    parts,
    startedMs,
    heads,
    signers,
    book,
    waiting,
    writer,
    follower,
    standStill: watchStandStill(),
    revised: new Map(),
    servedFrom: null,
  }
  return state
}

/** The highest stored height, what is being written included; -1 without any. */
function storedHead({ parts, writer }: Pick<ChainState, 'parts' | 'writer'>): number {
  const range = parts.store.reader.read((snapshot) => snapshot.range())
  return Math.max(range?.head ?? -1, writer.pending.head())
}

/** Which heights are of use now. */
export function currentWindow(state: ChainState, horizon: number | null): Window {
  const highest = Math.max(-1, ...state.signers.list().map(({ head }) => head?.number ?? -1))
  const { retainBlocks } = state.options
  return windowOf({ retainBlocks, head: storedHead(state), horizon, highest })
}

/** See `KnownBlocks`; block 0 is a root where it is that of the chain that is followed. */
function isRoot(state: ChainState, link: BlockRef, horizon: number | null): boolean {
  if (link.number === 0) return link.hash === state.signers.genesis()
  if (state.servedFrom !== null && link.number <= state.servedFrom) return true
  return horizon !== null && link.number <= currentWindow(state, horizon).windowFloor
}

/**
 * Seals of heights that nothing is stored at are kept within reach of what most signers have reached, so that no
 * single one fills the disk.
 */
export function isWithinReach(state: ChainState, seal: Seal): boolean {
  const { horizon } = state.follower.choice()
  const { floor } = currentWindow(state, horizon)
  const top = Math.max(storedHead(state), horizon ?? -1)
  if (seal.blockNumber < floor) return false
  const isNear = seal.blockNumber > top - maxWindow && seal.blockNumber <= top + maxWindow
  return (
    isNear ||
    state.follower.withBlocks((blocks) => blocks.stored(seal.blockNumber)?.hash) === seal.blockHash
  )
}

/**
 * Notes whether other documents of the stored block of a height are to be served now; returns those
 * that are here, waiting.
 */
export function reviseHeight(state: ChainState, height: number): readonly BlockRef[] {
  const { book, waiting, revised, follower } = state
  const stored = follower.withBlocks((blocks) => blocks.stored(height))
  revised.delete(height)
  if (stored === undefined) return []
  const best = bestRoot(book.votes(height, stored.hash), stored.root)
  if (best === stored.root) return []
  const here = waiting
    .variants(stored.hash)
    .filter(({ root, body }) => root === best && body !== null)
  const [block] = here
  if (block === undefined) revised.set(height, { ...stored, root: best })
  else if (!follower.withBlocks((blocks) => fitsBelow(blocks, block))) {
    const { number, hash, parentHash, root } = block
    revised.set(height, { number, hash, parentHash, root })
  }
  return here
}
