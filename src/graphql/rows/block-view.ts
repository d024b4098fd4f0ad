/**
 * One stored block as a request sees it: everything beyond the header is read when it is first
 * asked for, and at most once.
 */
import type { LRUCache } from 'lru-cache'
import { invariant } from '../../errors.ts'
import type { Chunk } from '../../primitives/body/chunk.ts'
import type { Section } from '../../primitives/collections.ts'
import type { MerkleTree } from '../../primitives/merkle.ts'
import type { Seal } from '../../primitives/seal.ts'
import type { RowVotes } from '../../row-votes/row-votes.ts'
import type {
  BlockHeader,
  SeenBlocks,
  Snapshot,
  StoredBlock,
  StoredViewRows,
} from '../../store/store.ts'
import type { RowPlaces } from '../../views/rows/row-codec.ts'
import type { StreamedRows } from '../../views/rows/streamed-rows.ts'
import type { QueryBudget } from '../budget/query-budget.ts'
import { holds } from './chunk-search.ts'
import type { MissingRows } from './missing-rows.ts'

/** What the rows of one request share. */
export interface Session {
  readonly network: string
  readonly snapshot: Snapshot
  readonly budget: QueryBudget
  readonly cids: CidCache
  readonly opened: OpenedViews
  /** What Views lack; null where only rows count that are known to be there. */
  readonly missing: MissingRows | null
  /** The blocks of which rows of Views are there; null where all are. */
  readonly attested: AttestedBlocks | null
}

/** The blocks of a request that have enough attestations. */
export interface AttestedBlocks {
  has(block: BlockView): boolean
}

/** The blocks of a request that hold something. */
export interface OpenedViews {
  /** Notes that a block holds so many bytes more, or fewer where it is negative. */
  note(view: BlockView, bytes: number): void
}

/** The CIDs of a block's documents, in the order of its sections and positions, and in the order of the Merkle tree. */
export interface BlockCids {
  readonly inOrder: readonly Uint8Array[]
  readonly sorted: readonly Uint8Array[]
  readonly root: string
  /** What proofs are read from; made when the first one is asked for. */
  proofs: BlockProofs | undefined
}

/** The Merkle tree over the sorted CIDs, and the place of each in it. */
export interface BlockProofs {
  readonly tree: MerkleTree
  readonly places: ReadonlyMap<Uint8Array, number>
}

/** Recomputed CIDs of the blocks asked for last, by root; those of a full block take about 60 kB, and as much for proofs. */
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
  /** Set where a View made the rows for this request: then there is nothing else of the block. */
  readonly streamed?: StreamedBlock
}

/** What a request has read of a View's rows in one block. */
export interface OpenedRows {
  readonly stored: StoredViewRows | undefined
  /** The chunk and the row that were read last. */
  chunk: Chunk | null
  row: OpenedRow | null
}

/** A row of a View in its chunk. */
export interface OpenedRow {
  readonly position: number
  readonly chunk: Chunk
  readonly places: RowPlaces
  /** Where the row ends. */
  readonly end: number
}

/** Rows that came, in the place of what is stored of a block. */
export interface StreamedBlock {
  readonly rows: StreamedRows
  /** The row that was read last. */
  row: OpenedRow | null
  /** The stored block that they were made of, once it was asked for; null where there is none any more. */
  stored: BlockView | null | undefined
}

/** Filled as it is asked for. */
interface BlockMemo {
  /** Memory of what was read and not released, roughly. */
  bytes: number
  stored: StoredBlock | undefined
  /** Seals at the height. */
  seals: readonly Seal[] | undefined
  votes: readonly Votes[] | undefined
  cids: BlockCids | undefined
  /** What Hosts say of the rows of Views, by their IDs. */
  rowVotes: Map<string, RowVotes | undefined> | undefined
  /** The rows of Views, by slot. */
  rows: Map<number, OpenedRows> | undefined
  /** The chunk of each section that was read last. */
  readonly chunks: Record<Section, Chunk | null>
}

/** The view of a height, or undefined where `seen` has no block. */
export function openBlockView(
  session: Session,
  seen: SeenBlocks,
  height: number,
): BlockView | undefined {
  const header = seen.header(height)
  if (header === undefined) return undefined
  return { session, height, header, memo: emptyMemo() }
}

/** Of a block of which nothing has been read yet. */
export function emptyMemo(): BlockMemo {
  return {
    bytes: 0,
    stored: undefined,
    seals: undefined,
    votes: undefined,
    cids: undefined,
    rowVotes: undefined,
    rows: undefined,
    chunks: { Block: null, Transaction: null, AccessListEntry: null, Log: null },
  }
}

/** The stored block behind a view. */
export function storedBlock(view: BlockView): StoredBlock {
  const { memo } = view
  if (memo.stored !== undefined) return memo.stored
  const stored = view.session.snapshot.block(view.height)
  invariant(stored !== undefined, `the block with header ${view.height} has a body`)
  memo.stored = stored
  view.session.opened.note(view, view.header.count * layoutBytes)
  return stored
}

/** Memory of a stored block for each of its documents, and of a chunk beside its bytes, roughly. */
const layoutBytes = 16
const chunkBytes = 8 * 1024

/** The stored values of a document. */
export function storedValues(view: BlockView, section: Section, position: number): Uint8Array {
  return documentChunk(view, section, position).values(position)
}

/** The chunk that has a document. */
export function documentChunk(view: BlockView, section: Section, position: number): Chunk {
  const last = view.memo.chunks[section]
  if (last !== null && holds(last, position)) return last
  return openChunk(view, section, storedBlock(view).chunkOf(section, position))
}

/** A chunk by its number in the section. */
export function openChunk(view: BlockView, section: Section, number: number): Chunk {
  const chunk = storedBlock(view).openChunk(section, number)
  const last = view.memo.chunks[section]
  view.memo.chunks[section] = chunk
  const lastBytes = last === null ? 0 : last.bytes.length + chunkBytes
  view.session.opened.note(view, chunk.bytes.length + chunkBytes - lastBytes)
  return chunk
}
