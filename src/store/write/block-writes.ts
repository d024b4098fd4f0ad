/** The writes for blocks and seals, as data. Nothing here touches the file. */
import { parseHeader } from '../../primitives/body/body-header.ts'
import { blockSections } from '../../primitives/collections.ts'
import { addHeights } from '../../primitives/height-ranges.ts'
import type { Seal } from '../../primitives/seal.ts'
import { type FingerprintSeed, fingerprint } from '../disk/fingerprint.ts'
import {
  encodeHeader,
  encodeSeal,
  hashBytes,
  heightKey,
  type IndexLevel,
  indexKey,
  indexLevel,
  pieceBytes,
  pieceCount,
  pieceKey,
  type StoreDatabase,
  type StoredHeader,
  type StoreState,
  sealEntryKey,
} from '../disk/layout.ts'
import { createEntryList, furtherPages, toPages } from '../index/index-table.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { BlockToStore } from '../store.ts'

/** One key that is put, or removed where the value is null. */
export interface Write {
  readonly database: StoreDatabase
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/** Writes of one transaction, and the state they lead to. */
export interface StoreChange {
  readonly writes: readonly Write[]
  readonly state: StoreState
}

/**
 * Stores a block at a free height, with an index table of its own: its `blockEntries`.
 * @throws ServiceError `PRIMITIVES_BODY_MALFORMED` where the body's header cannot be read.
 */
export function putBlockChange(
  state: StoreState,
  { header, body }: BlockToStore,
  entries: Buffer,
): StoreChange {
  const height = header.number
  const stored: StoredHeader = { header, serial: state.serial, headBytes: headBytesOf(body) }
  const writes = [
    { database: 'headers', key: heightKey(height), value: encodeHeader(stored) } as const,
    { database: 'hashes', key: hashBytes(header.hash), value: heightKey(height) } as const,
    ...bodyWrites(height, body),
    ...tableWrites(indexLevel.block, height, entries),
  ]
  return {
    writes,
    state: {
      ...state,
      serial: state.serial + 1,
      blocks: addHeights(state.blocks, height),
      unmerged: addHeights(state.unmerged, height),
    },
  }
}

/** Removes a block and, where it has one, the index table of its own. Its seals stay. */
export function removeBlockWrites(snapshot: HeldSnapshot, height: number): Write[] {
  const stored = snapshot.storedHeader(height)
  if (stored === undefined) return []
  const { hash } = stored.header
  const writes: Write[] = [{ database: 'headers', key: heightKey(height), value: null }]
  if (snapshot.sealsOf(hash).length === 0) {
    writes.push({ database: 'hashes', key: hashBytes(hash), value: null })
  }
  return [...writes, ...removeDocumentWrites(snapshot, height)]
}

/** Removes the body of a block and, where it has one, the index table of its own; its header stays. */
export function removeDocumentWrites(snapshot: HeldSnapshot, height: number): Write[] {
  const stored = snapshot.storedHeader(height)
  const pieces = stored === undefined ? 0 : pieceCount(stored.header.bodyBytes)
  const writes = Array.from({ length: pieces }, (_, piece): Write => {
    return { database: 'bodies', key: pieceKey(height, piece), value: null }
  })
  return [...writes, ...removeTableWrites(snapshot, indexLevel.block, height)]
}

/** Stores seals. */
export function sealWrites(height: number, seals: readonly Seal[]): Write[] {
  return seals.flatMap((seal): Write[] => [
    { database: 'seals', key: sealEntryKey(height, seal), value: encodeSeal(seal) },
    { database: 'hashes', key: hashBytes(seal.blockHash), value: heightKey(height) },
  ])
}

/** Removes seals, and the hashes of blocks of which neither documents nor another seal is left. */
export function removeSealWrites(
  snapshot: HeldSnapshot,
  height: number,
  seals: readonly Seal[],
): Write[] {
  const keyOf = (seal: Seal): string => sealEntryKey(height, seal).toString('latin1')
  const removed = new Set(seals.map(keyOf))
  const isKnown = (hash: string): boolean =>
    snapshot.storedHeader(height)?.header.hash === hash ||
    snapshot.sealsOf(hash).some((seal) => !removed.has(keyOf(seal)))
  return seals.flatMap((seal): Write[] => {
    const write: Write = { database: 'seals', key: sealEntryKey(height, seal), value: null }
    if (isKnown(seal.blockHash)) return [write]
    return [write, { database: 'hashes', key: hashBytes(seal.blockHash), value: null }]
  })
}

export function tableWrites(level: IndexLevel, first: number, entries: Buffer): Write[] {
  return toPages(entries).map((value, page) => ({
    database: 'index',
    key: indexKey(level, first, page),
    value,
  }))
}

export function removeTableWrites(
  snapshot: HeldSnapshot,
  level: IndexLevel,
  first: number,
): Write[] {
  const further = furtherPages((page) => snapshot.readIndexPage(level, first, page))
  if (further === undefined) return []
  return Array.from({ length: further + 1 }, (_, page) => ({
    database: 'index',
    key: indexKey(level, first, page),
    value: null,
  }))
}

function bodyWrites(height: number, body: Uint8Array): Write[] {
  return Array.from({ length: pieceCount(body.length) }, (_, piece) => ({
    database: 'bodies',
    key: pieceKey(height, piece),
    value: body.subarray(piece * pieceBytes, (piece + 1) * pieceBytes),
  }))
}

/** The index of a block: sorted entries. */
export function blockEntries({ header, terms }: BlockToStore, seed: FingerprintSeed): Buffer {
  const entries = createEntryList(header.number, terms.length)
  for (const { kind, value, section, chunk } of terms) {
    entries.add(fingerprint(seed, kind, value), section, chunk)
  }
  return entries.sorted()
}

/** Length of a body's header: what its chunks leave. */
function headBytesOf(body: Uint8Array): number {
  const { chunks } = parseHeader(body, Number.POSITIVE_INFINITY)
  const stored = blockSections.flatMap((section) => chunks[section])
  return body.length - stored.reduce((sum, chunk) => sum + chunk.storedBytes, 0)
}
