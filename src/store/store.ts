/**
 * What the store offers: whole blocks, their seals, and lookups by value. `openWriter` and
 * `openReader` implement it; nothing else in the program knows that LMDB is underneath.
 */
import type { Body } from '../primitives/body/body.ts'
import type { Chunk } from '../primitives/body/chunk.ts'
import type { Section } from '../primitives/collections.ts'
import type { HeightRanges } from '../primitives/height-ranges.ts'
import type { Term, TermKind } from '../primitives/index-terms.ts'
import type { Seal } from '../primitives/seal.ts'
import type { RowStatement } from '../row-votes/row-statement.ts'
import type { RowVotes } from '../row-votes/row-votes.ts'
import type { StatementExcerpt } from '../row-votes/statement-excerpt.ts'
import type { PackedRows } from '../views/rows/rows.ts'
import type { NeededTerms } from './needed-terms.ts'

/** What is known of a stored block without opening its body. */
export interface BlockHeader {
  readonly number: number
  /** 0x-prefixed lower-case hex. */
  readonly hash: string
  readonly parentHash: string
  /** Merkle root over the documents' CIDs: lower-case hex without 0x, as in a seal. */
  readonly root: string
  /** Number of documents, and so of CIDs. */
  readonly count: number
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly sections: Readonly<Record<Section, number>>
  readonly bodyBytes: number
}

/** A block as it is handed to the store. */
export interface BlockToStore {
  readonly header: BlockHeader
  /** As `encodeBody` makes it; must not change before the promise of the call resolves. */
  readonly body: Uint8Array
  readonly terms: readonly Term[]
}

/** A block with seals over it. */
export interface SealedBlockToStore extends BlockToStore {
  readonly seals: readonly Seal[]
}

/** What a store without documents knows of a block. */
export interface RowBlockHeader
  extends Pick<BlockHeader, 'number' | 'hash' | 'parentHash' | 'root' | 'timestamp'> {}

/** A block of which only header, seals and rows of Views are kept. */
export interface RowBlockToStore {
  /** What is not known yet is zero: 64 of them for a root. */
  readonly header: RowBlockHeader
  readonly seals: readonly Seal[]
  /** What Hosts signed of its rows. */
  readonly statements?: readonly (RowStatement | StatementExcerpt)[]
}

/** What the View of a slot made of some blocks. */
interface ViewBlocksToStore {
  readonly slot: number
  readonly blocks: readonly ViewBlockToStore[]
}

/** What a View made of one block: its rows, or a record of its own of why there are none. */
export type ViewBlockToStore = {
  readonly height: number
  /** Hash of the block that was read. Where the height holds another one, or none, nothing is stored. */
  readonly blockHash: string
  /**
   * Merkle root of the documents that were read, which may change under one hash: then nothing is stored either. Left out
   * where documents are never kept.
   */
  readonly documentsRoot?: string
} & (
  | { readonly rows: Pick<PackedRows, 'count' | 'bytes' | 'terms' | 'root'> }
  | { readonly failure: Uint8Array }
)

/** A block of which some Views have no row. */
export interface EmptyViewBlock {
  readonly height: number
  /** This and the root as in `ViewBlockToStore`. */
  readonly blockHash: string
  readonly documentsRoot?: string
  readonly slots: readonly number[]
}

/** Views that are done with a block by the transaction that stored it, as it has nothing that they look for. */
export interface ViewsDone {
  readonly height: number
  /** That of `Snapshot` as the block was stored: in a later one another block may be at its height. */
  readonly epoch: number
  /** At least one. */
  readonly slots: readonly number[]
}

/**
 * The one writer of a store. Every promise resolves when the write has reached the disk, and writes
 * become visible to readers in the order of the calls; a caller need not wait for one before the
 * next. After a failed write (`STORE_FULL`, `STORE_WRITE_FAILED`) every further one fails the same
 * way, so that what is stored never has a hole that was not there before.
 */
export interface StoreWriter {
  /**
   * The documents transaction of a block. A block with the same hash and root changes nothing,
   * another one at its height takes its place, and one below the tail is not stored.
   */
  putBlock(block: BlockToStore): Promise<void>
  /**
   * The seal transaction, after the documents of the same height. The first seal of a (hash, root,
   * identity) is kept; `outdated` ones are removed.
   */
  putSeals(height: number, seals: readonly Seal[], outdated?: readonly Seal[]): Promise<void>
  /**
   * Documents and seals in one transaction. Returns which Views are done with the block by that, see
   * `setViewNeeds`.
   */
  putSealedBlock(block: SealedBlockToStore): Promise<readonly ViewsDone[]>
  /**
   * Removes the blocks from `from` to `to`, both included, and stores `blocks`, in one transaction. Seals
   * of removed blocks are kept. Returns which Views are done with blocks by that, see `setViewNeeds`.
   */
  replaceBlocks(
    from: number,
    to: number,
    blocks: readonly SealedBlockToStore[],
  ): Promise<readonly ViewsDone[]>
  /** Removes the blocks above `height`; their seals are kept until they are pruned. */
  truncateAbove(height: number): Promise<void>
  /**
   * Stores blocks of which documents are never kept, of different heights and in one transaction; in a store that has
   * no other ones. At a height with the same hash its seals are added, and what was not known of its header or changed
   * is written; a block with another hash goes with its rows. Below the rows that are kept nothing is stored.
   * `replaceBlocks` and `truncateAbove` remove such blocks. What a View made of these blocks is stored with them, as
   * `putViewRows` does.
   */
  putRowBlocks(blocks: readonly RowBlockToStore[], made?: ViewBlocksToStore): Promise<void>
  /**
   * Hides the blocks of `putRowBlocks` below a height with their rows, and removes them from the file, as `prune` does:
   * in groups of 16 heights, the last of which may stay there for now. Nothing is stored below from then on.
   */
  pruneRowsBelow(height: number): Promise<void>
  /**
   * Removes what lies below the tail from the file, in groups of 16 blocks, and rows that are kept for longer where they
   * lie below theirs; returns of how many blocks documents were removed. Cheap where there is none.
   */
  prune(): Promise<number>
  /**
   * Stores what the View of a slot (a number that is given to one View and never again) made of blocks, in the place
   * of what it made of them before, and marks their heights as done or failed. Returns the heights that were
   * stored. Whatever removes a block removes this of it in the same transaction.
   */
  putViewRows(slot: number, blocks: readonly ViewBlockToStore[]): Promise<readonly number[]>
  /**
   * Marks heights as done without a row for many slots at once, as `putViewRows` does for one. Returns the heights that
   * still held these blocks.
   */
  putEmptyViewBlocks(blocks: readonly EmptyViewBlock[]): Promise<readonly number[]>
  /**
   * Says what a block has to hold for the View of a slot to have rows of it, or with null that this is not known. Where
   * a block that is put above all others does not hold it, the slot is done with it without a row in the transaction of
   * its documents, as by `putEmptyViewBlocks`; blocks that are put below others are not looked at. It is kept for the
   * calls that follow until the store is closed, or `clearView` is called; nothing is written.
   */
  setViewNeeds(slot: number, needs: NeededTerms | null): Promise<void>
  /** Forgets the failures of a slot at stored blocks, so that neither rows nor failures of those heights are stored. */
  clearViewFailures(slot: number): Promise<void>
  /**
   * Removes everything of a slot: at once for readers, from the file in batches. One that was interrupted is
   * continued when the store is opened. The slot is empty and can be used when the promise resolves.
   */
  clearView(slot: number): Promise<void>
  /**
   * Stores what Hosts signed of the rows of Views of a block, stored or not, and removes `outdated` ones, in one
   * transaction; below the rows that are kept nothing is stored, and false is returned. Statements go when the rows of
   * their height are pruned. An excerpt takes the place of one of the same statement, whose other leaves go unless the
   * two were merged.
   */
  putRowStatements(
    height: number,
    statements: readonly (RowStatement | StatementExcerpt)[],
    outdated?: readonly (RowStatement | StatementExcerpt)[],
  ): Promise<boolean>
  /** Stores a small value beside the blocks, or removes it where it is null. */
  putRecord(name: string, value: Uint8Array | null): Promise<void>
  /** The hash of block 0 of the store's chain; null until a program has set it. */
  genesisHash(): string | null
  /** Sets the hash of block 0 of a store that does not have it yet. Throws STORE_FOREIGN where it has another. */
  adoptGenesis(hash: string): Promise<void>
  /** Resolves when all writes and compaction so far have reached the disk. */
  flushed(): Promise<void>
  readonly reader: StoreReader
  close(): Promise<void>
}

/** Reads a store, in any thread of the writer's process or in another process. */
export interface StoreReader {
  /** The store as it is now; the caller releases it. */
  snapshot(): Snapshot
  /** Calls `use` with a snapshot, which is released when it returns, and returns its result. */
  read<T>(use: (snapshot: Snapshot) => T): T
  /** From now on snapshots of this reader show the seals of these identities alone; null shows all. */
  showSealsOf(identities: ReadonlySet<string> | null): void
  /** From now on snapshots of this reader count what these Hosts signed of rows; before, nobody's counts. */
  countRowVotesOf(voters: RowVoters): void
  /**
   * Lets the store's file re-use what readers of processes that were killed held; returns how many held
   * something. To be called when such a process has ended.
   */
  clearDeadReaders(): number
  /** Bytes of the pages of the file that hold something; the file itself never shrinks. Cheap. */
  usedBytes(): number
  close(): void
}

/** Which blocks a snapshot shows. */
export interface SeenBlocks {
  /** Lowest and highest visible height; heights between them may be missing. Null when empty. */
  range(): { readonly tail: number; readonly head: number } | null
  /** Visible heights that are missing between tail and head, lowest first, at most `limit` ranges. */
  gaps(limit: number): readonly { readonly from: number; readonly to: number }[]
  /** Visible heights from `from` to `to`, both included. */
  heights(from: number, to: number, descending: boolean): Iterable<number>
  header(height: number): BlockHeader | undefined
  /** Height of a visible block. */
  heightOf(hash: string): number | undefined
}

/**
 * The store at one moment. It stays the same across awaits while writes go on, and keeps the file
 * from re-using what it sees: release it. One that is held for too long is released by the reader,
 * and then throws `STORE_SNAPSHOT_EXPIRED`.
 */
export interface Snapshot extends SeenBlocks {
  /** Grows whenever a visible block is removed or replaced. */
  readonly epoch: number
  /**
   * The blocks of which Views may have rows: those whose documents are stored, and those whose documents were
   * pruned while their rows, header and seals were kept.
   */
  readonly rowBlocks: SeenBlocks
  block(height: number): StoredBlock | undefined
  /** The body as it was put; a copy of the caller's own. */
  body(height: number): Uint8Array | undefined
  /** All seals at a height, also those of blocks that are not, or no longer, stored. */
  seals(height: number): readonly Seal[]
  /** Which identity sealed what from height `from` to `to`, by height, block hash and root; cheaper than the seals. */
  sealPlaces(from: number, to: number): Iterable<SealedPlace>
  /** Seals of a block hash, stored or not. */
  sealsOf(hash: string): readonly Seal[]
  /**
   * Chunks that may hold a document with this value, in chain order or against it. Every chunk that
   * holds one is among them; a few may not, so check the documents.
   */
  candidates(
    kind: TermKind,
    value: Uint8Array,
    from: number,
    to: number,
    descending: boolean,
  ): Iterable<CandidateChunk>
  /** The rows that a View has of a block; undefined where it has not done that one. */
  viewRows(slot: number, height: number): StoredViewRows | undefined
  /** Heights from `from` to `to`, both included, of which a View has at least one row. */
  viewHeights(slot: number, from: number, to: number, descending: boolean): Iterable<number>
  /** Heights of `rowBlocks` that a View has done, with rows or without. */
  viewRanges(slot: number): HeightRanges
  /** Heights of `rowBlocks` at which a View failed. */
  viewFailures(slot: number): HeightRanges
  /** What was stored of a failure. */
  viewFailure(slot: number, height: number): Uint8Array | undefined
  /**
   * Chunks of rows that may hold this value in the `@index` field at this position of the SDL, in chain order or
   * against it. Every chunk that holds one is among them; a few may not, so check the rows.
   */
  viewCandidates(
    slot: number,
    field: number,
    /** As `rowTermValue` makes it. */
    value: Uint8Array,
    from: number,
    to: number,
    descending: boolean,
  ): Iterable<CandidateRows>
  /** All rows of a View and what they take, packed, with their index; those of blocks that wait to be pruned are among them. */
  viewSize(slot: number): { readonly rows: number; readonly bytes: number }
  /** Lowest height of which rows of a View are kept, since all took more than they may; 0 where they never did. */
  viewFrom(slot: number): number
  /** What Hosts signed of the rows of Views at a height, also of blocks that are not, or no longer, stored. */
  rowStatements(height: number): readonly RowStatement[]
  /** Likewise, what is stored as excerpts, which are not among the statements. */
  statementExcerpts(height: number): readonly StatementExcerpt[]
  /** Which statements there are at heights `from` to `to`, both included, in the order of height and block hash. */
  rowStatementPlaces(from: number, to: number): Iterable<StatementPlace>
  /** The message of a statement; undefined where an excerpt of it is stored. */
  rowStatementMessage(place: StatementPlace): Uint8Array | undefined
  /** What the Hosts that count say of the rows of a View of the block that is stored at a height. */
  rowVotes(view: string, height: number): RowVotes | undefined
  /** Lowest height of which rows of Views are kept; below it nothing is stored. */
  readonly rowsFrom: number
  /** A value that `putRecord` kept. */
  record(name: string): Buffer | undefined
  /** The names of records that begin with a prefix, in the order of their bytes. */
  recordNames(prefix: string): readonly string[]
  /** The lowest visible block without a seal of this identity (hex, as in a seal). */
  firstUnsealed(identity: string): number | undefined
  /** Ends the snapshot; harmless when repeated. */
  release(): void
}

/** Whose statements about rows count. */
export interface RowVoters {
  /** Identities of Hosts. */
  readonly hosts: ReadonlySet<string>
  /** Version of the runtime that made the rows. */
  readonly runtime: number
}

/** That an identity sealed a root of a block. */
export interface SealedPlace {
  readonly height: number
  readonly blockHash: string
  readonly merkleRoot: string
  readonly identity: string
}

/** That a Host signed a root over the rows of its Views of a block. */
export type StatementPlace = Pick<
  RowStatement,
  'blockNumber' | 'blockHash' | 'runtime' | 'root' | 'signatureIdentity'
>

/** A chunk that may hold a value. */
export interface CandidateChunk {
  readonly height: number
  readonly section: Section
  readonly chunk: number
}

/** A chunk of rows that may hold a value. */
export interface CandidateRows {
  readonly height: number
  readonly chunk: number
}

/** The rows of one block of a View, whose chunks are opened as they are read. Usable while its snapshot is. */
export interface StoredViewRows {
  /** Of the block that they were made of, which is the one stored at that height. */
  readonly blockHash: string
  /** Number of rows. */
  readonly count: number
  /** Merkle root over the rows, as in `PackedRows`; null where a program stored them that did not make it. */
  readonly root: string | null
  readonly chunkCount: number
  /** Length of the packed rows; 0 for none. */
  readonly byteLength: number
  /** A copy of a part of the packed rows, of the caller's own. */
  copy(start: number, length: number): Uint8Array
  /** The chunk of the row at a position, counted from the first row of the block. */
  chunkOf(position: number): number
  /**
   * Unpacks a chunk of at most 64 rows, or returns the cached one; `values(position)` is a row for `readRow`, its
   * position counted from the first row of the block. Not to be changed.
   */
  openChunk(chunk: number): Chunk
}

/** A block whose chunks are opened as they are read. Usable while its snapshot is. */
export interface StoredBlock extends Body {
  readonly header: BlockHeader
  /**
   * Unpacks a chunk, or returns the cached one: not to be changed, and valid for as long as the caller
   * keeps it.
   */
  openChunk(section: Section, chunk: number): Chunk
}
