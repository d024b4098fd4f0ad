/**
 * One stored block as a request sees it: everything beyond the header is read when it is first
 * asked for, and at most once.
 */
import type { LRUCache } from 'lru-cache'
import { invariant } from '../errors.ts'
import type { Section } from '../primitives/collections.ts'
import type { Seal } from '../primitives/seal.ts'
import type { BlockHeader, Snapshot, StoredBlock } from '../store/store.ts'
import { type ChunkWindow, openWindow, windowValues } from './chunk-window.ts'
import type { Work } from './work.ts'

/** What the rows of one request share. */
export interface Session {
  readonly network: string
  readonly snapshot: Snapshot
  readonly work: Work
  readonly cids: CidCache
}

/** The CIDs of a block's documents, in the order of its sections and positions, and in the order of the Merkle tree. */
export interface BlockCids {
  readonly inOrder: readonly Uint8Array[]
  readonly sorted: readonly Uint8Array[]
  readonly root: string
}

/** Recomputed CIDs of the blocks asked for last, by block hash; a full block's take about 60 kB. */
export type CidCache = LRUCache<string, BlockCids>

/** The votes for one root: distinct identities, in the order of their seals. */
export interface Votes {
  readonly blockHash: string
  readonly root: string
  readonly identities: readonly string[]
}

/** A block of the request's snapshot. */
export interface BlockView {
  readonly session: Session
  readonly height: number
  readonly header: BlockHeader
  /** What has been read of it so far; ask the functions of this room instead. */
  readonly memo: BlockMemo
}

/** Filled as it is asked for. */
export interface BlockMemo {
  stored: StoredBlock | undefined
  /** Seals at the height. */
  seals: readonly Seal[] | undefined
  votes: readonly Votes[] | undefined
  cids: BlockCids | undefined
  /** The chunk of each section that was looked into last. */
  readonly chunks: Partial<Record<Section, LastChunk>>
}

/** A chunk that was looked into. */
export interface LastChunk {
  readonly chunk: number
  readonly first: number
  readonly end: number
  readonly window: ChunkWindow | null
}

/** The view of a height, or undefined where nothing is stored. */
export function openBlockView(session: Session, height: number): BlockView | undefined {
  const header = session.snapshot.header(height)
  if (header === undefined) return undefined
  const memo = {
    stored: undefined,
    seals: undefined,
    votes: undefined,
    cids: undefined,
    chunks: {},
  }
  return { session, height, header, memo }
}

/** The stored block behind a view. */
export function storedBlock(view: BlockView): StoredBlock {
  const { memo } = view
  if (memo.stored !== undefined) return memo.stored
  const stored = view.session.snapshot.block(view.height)
  invariant(stored !== undefined, `the block with header ${view.height} has a body`)
  memo.stored = stored
  return stored
}

/** The stored values of a document. */
export function storedValues(view: BlockView, section: Section, position: number): Uint8Array {
  const window = documentWindow(view, section, position)
  return window === null
    ? storedBlock(view).values(section, position)
    : windowValues(window, position)
}

/** The window of the chunk that has a document, or null where it must be read document by document. */
export function documentWindow(
  view: BlockView,
  section: Section,
  position: number,
): ChunkWindow | null {
  const last = view.memo.chunks[section]
  if (last !== undefined && position >= last.first && position < last.end) return last.window
  return enterChunk(view, section, storedBlock(view).chunkOf(section, position)).window
}

/** The window of a chunk, or null where it must be read document by document. */
export function chunkWindow(view: BlockView, section: Section, chunk: number): ChunkWindow | null {
  const last = view.memo.chunks[section]
  return last?.chunk === chunk ? last.window : enterChunk(view, section, chunk).window
}

function enterChunk(view: BlockView, section: Section, chunk: number): LastChunk {
  const stored = storedBlock(view)
  const [first, end] = stored.chunkRange(section, chunk)
  const entered = { chunk, first, end, window: openWindow(stored, section, first, end) }
  view.memo.chunks[section] = entered
  return entered
}
