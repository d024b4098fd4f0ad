/** One moment of the store: a read transaction of LMDB and what is read through it. */
import { ServiceError } from '../errors.ts'
import type { TermKind } from '../primitives/index-terms.ts'
import type { Seal } from '../primitives/seal.ts'
import type { BlockCache } from './block-cache.ts'
import {
  borrowValue,
  type Database,
  type Environment,
  type ReadTransaction,
  readValue,
} from './environment.ts'
import type { FingerprintSeed } from './fingerprint.ts'
import {
  clipHeights,
  eachHeight,
  type HeightRanges,
  hasHeight,
  heightGaps,
} from './height-ranges.ts'
import { findCandidates, type IndexView, type TableCache } from './index-reader.ts'
import {
  decodeHeader,
  decodeSeal,
  hashBytes,
  hashOfHeader,
  heightKey,
  indexKey,
  pieceBytes,
  pieceCount,
  pieceKey,
  type StoredHeader,
  type StoreState,
  splitSealKey,
} from './layout.ts'
import type { Candidate, Snapshot, StoredBlock } from './store.ts'
import { openStoredBlock } from './stored-block.ts'

/** What the snapshots of a reader share. */
export interface SnapshotParts {
  readonly environment: Environment
  readonly seed: FingerprintSeed
  readonly blocks: BlockCache
  readonly tables: TableCache
}

/** A snapshot that its reader can take back. */
export interface HeldSnapshot extends Snapshot {
  readonly state: StoreState
  /** Also of blocks below the tail. */
  storedHeader(height: number): StoredHeader | undefined
  readIndexPage: IndexView['readPage']
  sealKeys(start: Uint8Array, end: Uint8Array): Iterable<Buffer>
  isReleased(): boolean
  expire(): void
}

/** Headers that a snapshot remembers. */
const maxHeaders = 4096

/** Reads through `transaction`, which `onRelease` ends. */
export function createSnapshot(
  parts: SnapshotParts,
  transaction: ReadTransaction,
  state: StoreState,
  onRelease: () => void,
): HeldSnapshot {
  const { headers, bodies, index, seals, hashes } = parts.environment.databases
  const known = new Map<number, StoredHeader | undefined>()
  const visible = clipHeights(state.blocks, state.tail, Number.MAX_SAFE_INTEGER)
  let ended: 'released' | 'expired' | undefined

  const reading = (): ReadTransaction => {
    if (ended !== undefined) throw snapshotEnded(ended)
    return transaction
  }
  const storedHeader = (height: number): StoredHeader | undefined => {
    const transaction = reading()
    if (known.has(height)) return known.get(height)
    if (known.size >= maxHeaders) known.clear()
    const bytes = readValue(headers, heightKey(height), transaction)
    const stored = bytes === undefined ? undefined : decodeHeader(height, bytes)
    known.set(height, stored)
    return stored
  }
  const visibleHeader = (height: number): StoredHeader | undefined =>
    hasHeight(visible, height) ? storedHeader(height) : undefined
  const heightOfHash = (hash: string): number | undefined =>
    readValue(hashes, hashBytes(hash), reading())?.readUIntBE(0, 6)
  const readSeals = (start: Buffer): Seal[] =>
    [...rangeOf(seals, start, reading())].map(({ key, value }) => decodeSeal(key, value))

  const readIndexPage: IndexView['readPage'] = (level, first, page) =>
    readValue(index, indexKey(level, first, page), reading())
  const view: IndexView = { state, seed: parts.seed, cache: parts.tables, readPage: readIndexPage }

  const end = (how: 'released' | 'expired'): void => {
    if (ended !== undefined) return
    ended = how
    onRelease()
    transaction.done()
  }

  return {
    state,
    storedHeader,
    readIndexPage,
    sealKeys: (start, end) => seals.getKeys({ start, end, transaction: reading() }),
    isReleased: () => ended !== undefined,
    expire: () => end('expired'),
    release: () => end('released'),
    range: () => rangeOfHeights(visible),
    gaps: (limit) => heightGaps(visible, limit).map(([from, to]) => ({ from, to })),
    heights: (from, to, descending) => eachHeight(clipHeights(visible, from, to), descending),
    header: (height) => visibleHeader(height)?.header,
    block: (height): StoredBlock | undefined => {
      const stored = visibleHeader(height)
      if (stored === undefined) return undefined
      return openStoredBlock(stored, parts.blocks, (piece) =>
        borrowValue(bodies, pieceKey(height, piece), reading()),
      )
    },
    body: (height) => {
      const stored = visibleHeader(height)
      return stored && readBody(bodies, stored, reading())
    },
    seals: (height) => readSeals(heightKey(height)),
    sealsOf: (hash) => {
      const height = heightOfHash(hash)
      if (height === undefined) return []
      return readSeals(Buffer.concat([heightKey(height), hashBytes(hash)]))
    },
    candidates: (kind: TermKind, value, from, to, descending): Iterable<Candidate> => {
      const low = Math.max(from, state.tail)
      return findCandidates(view, { kind, value, from: low, to, descending })
    },
    heightOf: (hash) => {
      const height = heightOfHash(hash)
      return height !== undefined && visibleHeader(height)?.header.hash === hash
        ? height
        : undefined
    },
    firstUnsealed: (identity) => {
      const range = rangeOfHeights(visible)
      if (range === null) return undefined
      const start = heightKey(range.tail)
      const keys = seals.getKeys({ start, end: heightKey(range.head + 1), transaction: reading() })
      const sealed = sealedHashes(keys, identity)
      for (const height of eachHeight(visible)) {
        const hash = readValue(headers, heightKey(height), reading())
        if (hash === undefined || !sealed(height, hashOfHeader(hash))) return height
      }
      return undefined
    },
  }
}

function rangeOfHeights(visible: HeightRanges): { tail: number; head: number } | null {
  const tail = visible[0]?.[0]
  const head = visible.at(-1)?.[1]
  return tail === undefined || head === undefined ? null : { tail, head }
}

/** All entries whose key begins with `prefix`. */
function rangeOf(
  database: Database,
  prefix: Buffer,
  transaction: ReadTransaction,
): Iterable<{ key: Buffer; value: Buffer }> {
  return database.getRange({ start: prefix, end: endOfPrefix(prefix), transaction })
}

/** The lowest key above all keys that begin with `prefix`. */
function endOfPrefix(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.alloc(128, 0xff)])
}

/** Whether an identity sealed a hash, asked for ascending heights; one pass over the keys. */
function sealedHashes(
  keys: Iterable<Buffer>,
  identity: string,
): (height: number, hash: Buffer) => boolean {
  const iterator = keys[Symbol.iterator]()
  let next = iterator.next()
  return (height, hash) => {
    let found = false
    for (; next.done !== true && next.value.readUIntBE(0, 6) <= height; next = iterator.next()) {
      const { hashBytes: sealed, identity: signer } = splitSealKey(next.value)
      if (signer === identity && sealed.equals(hash)) found = true
    }
    return found
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
    body.set(borrowValue(bodies, pieceKey(number, piece), transaction), piece * pieceBytes)
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
