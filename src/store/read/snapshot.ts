/** One moment of the store: a read transaction of LMDB and what is read through it. */
import { ServiceError } from '../../errors.ts'
import {
  clipHeights,
  eachHeight,
  type HeightRanges,
  hasHeight,
  heightGaps,
  rangeOfHeights,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import {
  borrowValue,
  type Database,
  type Environment,
  type ReadTransaction,
  readValue,
} from '../disk/environment.ts'
import type { FingerprintSeed } from '../disk/fingerprint.ts'
import {
  decodeHeader,
  hashBytes,
  heightKey,
  indexKey,
  pieceBytes,
  pieceCount,
  pieceKey,
  type StoredHeader,
  type StoreState,
} from '../disk/layout.ts'
import type { EpochCache } from '../index/epoch-cache.ts'
import { findCandidates, type IndexView, type TableCache } from '../index/index-reader.ts'
import type { RowVoters, SeenBlocks, Snapshot } from '../store.ts'
import type { BlockCache } from './block-cache.ts'
import type { RowCache } from './row-cache.ts'
import { createSealReads, endOfPrefix, type SealedUpTo, type SealReads } from './seal-reader.ts'
import { createStatementReads, type StatementReads } from './statement-reader.ts'
import { openStoredBlock } from './stored-block.ts'
import { createViewReads, type ViewReads } from './view-reader.ts'

/** What the snapshots of a reader share. */
export interface SnapshotParts {
  readonly environment: Environment
  readonly seed: FingerprintSeed
  readonly headers: EpochCache<StoredHeader>
  readonly blocks: BlockCache
  readonly tables: TableCache
  readonly sealed: SealedUpTo
  readonly rows: RowCache
  /** Called for a statement about rows that cannot be decoded, which is skipped. */
  readonly onDamagedStatement: (error: ServiceError, height: number) => void
  /** Identities whose seals are shown; null shows all. */
  shownSigners: ReadonlySet<string> | null
  /** Whose statements about rows count; null for nobody's. */
  rowVoters: RowVoters | null
}

/** A snapshot that its reader can expire. */
export interface HeldSnapshot extends Snapshot, SealReads, StatementReads, ViewReads {
  readonly state: StoreState
  /** Also of blocks below the tail. */
  storedHeader(height: number): StoredHeader | undefined
  readIndexPage: IndexView['readPage']
  expire(): void
}

/** Reads through `transaction` until the snapshot ends, and then calls `onRelease`. */
export function createSnapshot(
  parts: SnapshotParts,
  transaction: ReadTransaction,
  state: StoreState,
  onRelease: () => void,
): HeldSnapshot {
  const { databases } = parts.environment
  const visible = clipHeights(state.blocks, state.tail, Number.MAX_SAFE_INTEGER)
  let ended: 'released' | 'expired' | undefined

  const reading = (): ReadTransaction => {
    if (ended !== undefined) throw snapshotEnded(ended)
    return transaction
  }
  const end = (how: 'released' | 'expired'): void => {
    if (ended !== undefined) return
    ended = how
    onRelease()
    transaction.done()
  }
  const readIndexPage: IndexView['readPage'] = (level, first, page) =>
    readValue(databases.index, indexKey(level, first, page), reading())
  const view: IndexView = { state, seed: parts.seed, cache: parts.tables, readPage: readIndexPage }

  const storedHeader = createHeaderRead(parts, state, reading)
  const { hashes } = databases
  const rowBlocks = createSeenBlocks(heightsWithRows(state, visible), storedHeader, hashes, reading)
  const hashAt = (height: number): string | undefined => rowBlocks.header(height)?.hash
  const rowParts = { state, seed: parts.seed, cache: parts.rows, hashAt, reading }

  return {
    state,
    epoch: state.epoch,
    rowsFrom: state.rowTail,
    readIndexPage,
    storedHeader,
    rowBlocks,
    ...createSeenBlocks(visible, storedHeader, hashes, reading),
    ...createBlockReads(parts, visible, storedHeader, reading),
    ...createViewReads(databases, rowParts),
    ...createSealReads(
      databases,
      { state, visible, sealed: parts.sealed, shownSigners: parts.shownSigners },
      reading,
    ),
    ...createStatementReads(databases, {
      hashAt,
      voters: parts.rowVoters,
      onDamaged: parts.onDamagedStatement,
      reading,
    }),
    ...createRecordReads(databases, reading),
    candidates: (kind, value, from, to, descending) => {
      const low = Math.max(from, state.tail)
      return findCandidates(view, { kind, value, from: low, to, descending })
    },
    expire: () => end('expired'),
    release: () => end('released'),
  }
}

type ReadHeader = HeldSnapshot['storedHeader']

function createHeaderRead(
  { environment, headers }: SnapshotParts,
  { epoch }: StoreState,
  reading: () => ReadTransaction,
): ReadHeader {
  return (height) => {
    const transaction = reading()
    return headers.read(epoch, height, () => {
      const bytes = readValue(environment.databases.headers, heightKey(height), transaction)
      return bytes === undefined ? undefined : decodeHeader(height, bytes)
    })
  }
}

/** Heights of the blocks that rows can belong to; mostly those that are visible. */
function heightsWithRows(
  { blocks, pruned, tail, rowTail }: StoreState,
  visible: HeightRanges,
): HeightRanges {
  if (rowTail === tail) return visible
  return clipHeights(uniteHeights([...pruned, ...blocks]), rowTail, Number.MAX_SAFE_INTEGER)
}

function createSeenBlocks(
  seen: HeightRanges,
  storedHeader: ReadHeader,
  hashes: Database,
  reading: () => ReadTransaction,
): SeenBlocks {
  const header: SeenBlocks['header'] = (height) =>
    hasHeight(seen, height) ? storedHeader(height)?.header : undefined
  return {
    range: () => rangeOfHeights(seen),
    gaps: (limit) => heightGaps(seen, limit).map(([from, to]) => ({ from, to })),
    heights: (from, to, descending) => eachHeight(clipHeights(seen, from, to), descending),
    header,
    heightOf: (hash) => {
      const height = readValue(hashes, hashBytes(hash), reading())?.readUIntBE(0, 6)
      if (height === undefined) return undefined
      return header(height)?.hash === hash ? height : undefined
    },
  }
}

function createBlockReads(
  { environment, blocks }: SnapshotParts,
  visible: HeightRanges,
  storedHeader: ReadHeader,
  reading: () => ReadTransaction,
): Pick<Snapshot, 'block' | 'body'> {
  const { bodies } = environment.databases
  const visibleHeader: ReadHeader = (height) =>
    hasHeight(visible, height) ? storedHeader(height) : undefined
  return {
    block: (height) => {
      const stored = visibleHeader(height)
      if (stored === undefined) return undefined
      return openStoredBlock(stored, blocks, (piece) =>
        borrowValue(bodies, pieceKey(height, piece), reading()),
      )
    },
    body: (height) => {
      const stored = visibleHeader(height)
      return stored && readBody(bodies, stored, reading())
    },
  }
}

function createRecordReads(
  { records }: Environment['databases'],
  reading: () => ReadTransaction,
): Pick<Snapshot, 'record' | 'recordNames'> {
  return {
    record: (name) => readValue(records, Buffer.from(name), reading()),
    recordNames: (prefix) => {
      const start = Buffer.from(prefix)
      const end = endOfPrefix(start)
      const keys = [...records.getKeys({ start, end, transaction: reading() })]
      return keys.map((key) => key.toString())
    },
  }
}

function readBody(
  bodies: Database,
  stored: StoredHeader,
  transaction: ReadTransaction,
): Uint8Array {
  const { number, bodyBytes } = stored.header
  const body = Buffer.allocUnsafeSlow(bodyBytes)
  for (let piece = 0; piece < pieceCount(bodyBytes); piece++) {
    const at = piece * pieceBytes
    const bytes = borrowValue(bodies, pieceKey(number, piece), transaction)
    // What stands behind the last piece has no room in the body.
    bytes.copy(body, at, 0, pieceBytes)
  }
  return body
}

function snapshotEnded(how: 'released' | 'expired'): ServiceError {
  if (how === 'released') {
    return new ServiceError('STORE_SNAPSHOT_EXPIRED', 'This snapshot was released.')
  }
  return new ServiceError(
    'STORE_SNAPSHOT_EXPIRED',
    'This snapshot was held for too long and taken back, so that the store’s file does not grow.',
    { remedy: 'Ask for less at a time, or take a new snapshot for each step.' },
  )
}
