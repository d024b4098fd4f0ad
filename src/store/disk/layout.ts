/**
 * The store's file: which named databases it has and what lies under which key. All of them are
 * made when the store is opened for writing, and none is made or dropped afterwards: readers in other threads would
 * see another one's rows. Numbers in keys are biggest byte first, so that keys sort like them;
 * heights have six bytes. A database or level that is no longer written keeps its line here.
 *
 *   name      key                                    value
 *   meta      "store"                                what the store is (JSON, `StoreIdentity`)
 *             "state"                                what it holds now (JSON, `encodeState`); its LMDB
 *                                                    version counts the transactions that changed it
 *   headers   height                                 block header, `encodeHeader`
 *   bodies    height, piece (2)                      a block's body as sent and received, in pieces
 *   index     level (1), first height, page (2)      sorted index entries, `index-table.ts`
 *               level 0: one block                   level 1: a span of 64 blocks
 *   seals     height, block hash, root, identity     a seal's other fields (JSON), `encodeSeal`
 *   hashes    block hash                             height, of every block stored or sealed
 *   rowStatements  height, block hash, runtime (4),  what a Host signed of the rows of Views, as it is sent, in
 *                    root, identity, piece (2, not     pieces, `statement-layout.ts`; made when a store without it
 *                    of the first)                     is opened for writing
 *   records   name                                   what a program keeps beside its blocks
 *   viewSlots viewBlocks viewRows viewIndex          rows of Views, `view-layout.ts`
 *
 * A piece or an index page fills an LMDB page of 4,096 bytes exactly (24 are its header): pages of
 * one size leave no holes behind when blocks go, where values of 80 kB need runs of free pages.
 */
import { invariant } from '../../errors.ts'
import { blockSections, type Section } from '../../primitives/collections.ts'
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import type { Seal } from '../../primitives/seal.ts'
import type { SignatureType } from '../../primitives/signature.ts'
import type { BlockHeader } from '../store.ts'
import type { FingerprintSeed } from './fingerprint.ts'

/** The number of this layout. Those before it are made into it when a store is opened; others are refused. */
export const storeFormat = 3
/**
 * Those that become this one when a store is opened: without Views, whose databases are made then (1); with an index
 * table for each block of a View, which are merged from then on (2).
 */
export const earlierFormats: readonly number[] = [1, 2]

export const storeDatabases = [
  'meta',
  'headers',
  'bodies',
  'index',
  'seals',
  'hashes',
  'records',
  'viewSlots',
  'viewBlocks',
  'viewRows',
  'viewIndex',
  'rowStatements',
] as const

export type StoreDatabase = (typeof storeDatabases)[number]

export const pageBytes = 4096
export const pageHeaderBytes = 24
/** What fits into one page of its own: a piece of a body, or a page of the index. */
export const pieceBytes: number = pageBytes - pageHeaderBytes

/** Blocks that share one index table once they are deep enough. */
export const spanBlocks = 64

/** What a store is; written once. */
export interface StoreIdentity {
  readonly format: number
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** 0x-prefixed; null until a program that knows it opened the store. */
  readonly genesisHash: string | null
  readonly seed: FingerprintSeed
  /** Whose blocks these are: sealed here, or taken from peers. Null until a program opened the store. */
  readonly program: StoreProgram | null
}

/** The programs that have stores: those of ours, and applications that embed one. */
export type StoreProgram = 'generator' | 'host' | 'app'

/** What a store holds. */
export interface StoreState {
  /** Lowest visible height: blocks below it wait for their removal. */
  readonly tail: number
  /** Heights with a block, visible or not. */
  readonly blocks: HeightRanges
  /** Lowest height whose rows of Views are visible; never above the tail. */
  readonly rowTail: number
  /** Heights of blocks whose documents are gone, and whose header and seals are kept for rows of Views. */
  readonly pruned: HeightRanges
  /** Those of `blocks` whose index entries are not yet merged into the table of their span. */
  readonly unmerged: HeightRanges
  /** Counts removals of blocks: what was read from the index before the last one may be stale. */
  readonly epoch: number
  /** Given to the next block that is put; never given twice. */
  readonly serial: number
  /** Given to the next rows of a View's block that are put; never given twice. */
  readonly rowSerial: number
}

export const emptyState: StoreState = {
  tail: 0,
  blocks: [],
  rowTail: 0,
  pruned: [],
  unmerged: [],
  epoch: 0,
  serial: 1,
  rowSerial: 1,
}

/** The state record; it spells `unmerged` as `loose`, and in format 1 has nothing of rows. */
export function encodeState({ unmerged, ...state }: StoreState): Buffer {
  return Buffer.from(JSON.stringify({ ...state, loose: unmerged }))
}

/** What `encodeState` wrote. */
export function decodeState(bytes: Buffer): StoreState {
  const { loose, ...state } = JSON.parse(bytes.toString())
  return { rowSerial: 1, rowTail: state.tail, pruned: [], ...state, unmerged: loose }
}

export const identityKey: Uint8Array = Buffer.from('store')
export const stateKey: Uint8Array = Buffer.from('state')

/** The number of the span a height belongs to. */
export function spanOf(height: number): number {
  return Math.floor(height / spanBlocks)
}

export const indexLevel = { block: 0, span: 1 } as const

export type IndexLevel = (typeof indexLevel)[keyof typeof indexLevel]

export function heightKey(height: number): Buffer {
  const key = Buffer.allocUnsafe(6)
  key.writeUIntBE(height, 0, 6)
  return key
}

export function pieceKey(height: number, piece: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeUIntBE(height, 0, 6)
  key.writeUInt16BE(piece, 6)
  return key
}

/** `first` is the block's height, or the lowest height of the span. */
export function indexKey(level: IndexLevel, first: number, page: number): Buffer {
  const key = Buffer.allocUnsafe(9)
  key[0] = level
  key.writeUIntBE(first, 1, 6)
  key.writeUInt16BE(page, 7)
  return key
}

/** Number of pieces of a body. */
export function pieceCount(bodyBytes: number): number {
  return Math.ceil(bodyBytes / pieceBytes)
}

/** The 32 bytes of a hash in 0x form. */
export function hashBytes(hash: string): Buffer {
  const bytes = Buffer.from(hash.slice(2), 'hex')
  invariant(bytes.length === 32, `a hash has 32 bytes, not ${hash.slice(0, 80)}`)
  return bytes
}

/** A block header with what only the store knows. */
export interface StoredHeader {
  readonly header: BlockHeader
  readonly serial: number
  /** Length of the body's own header, up to its first chunk. */
  readonly headBytes: number
}

const fixedBytes = 6 + 4 + 6 + 4 + 4 + 4 * blockSections.length
const headerBytes = fixedBytes + 3 * 32

/** serial (6), head bytes (4), timestamp (6), count (4), body bytes (4), a count per section (4 each), hash, parent hash, root. */
export function encodeHeader(stored: StoredHeader): Buffer {
  const { header } = stored
  const bytes = Buffer.allocUnsafe(headerBytes)
  let at = bytes.writeUIntBE(stored.serial, 0, 6)
  at = bytes.writeUInt32BE(stored.headBytes, at)
  at = bytes.writeUIntBE(header.timestamp, at, 6)
  at = bytes.writeUInt32BE(header.count, at)
  at = bytes.writeUInt32BE(header.bodyBytes, at)
  for (const section of blockSections) at = bytes.writeUInt32BE(header.sections[section], at)
  hashBytes(header.hash).copy(bytes, at)
  hashBytes(header.parentHash).copy(bytes, at + 32)
  hashBytes(`0x${header.root}`).copy(bytes, at + 64)
  return bytes
}

export function decodeHeader(number: number, bytes: Buffer): StoredHeader {
  const sections: Record<Section, number> = {
    Block: bytes.readUInt32BE(24),
    Transaction: bytes.readUInt32BE(28),
    AccessListEntry: bytes.readUInt32BE(32),
    Log: bytes.readUInt32BE(36),
  }
  const header = {
    number,
    hash: `0x${bytes.toString('hex', fixedBytes, fixedBytes + 32)}`,
    parentHash: `0x${bytes.toString('hex', fixedBytes + 32, fixedBytes + 64)}`,
    root: bytes.toString('hex', fixedBytes + 64, headerBytes),
    timestamp: bytes.readUIntBE(10, 6),
    count: bytes.readUInt32BE(16),
    bodyBytes: bytes.readUInt32BE(20),
    sections,
  }
  return { header, serial: bytes.readUIntBE(0, 6), headBytes: bytes.readUInt32BE(6) }
}

/** The block hash in an encoded header. */
export function hashOfHeader(bytes: Buffer): Buffer {
  return bytes.subarray(fixedBytes, fixedBytes + 32)
}

export function sealEntryKey(height: number, seal: Seal): Buffer {
  const identity = Buffer.from(seal.signatureIdentity, 'hex')
  invariant(identity.length === 32 || identity.length === 33, 'an identity is a public key')
  const root = hashBytes(`0x${seal.merkleRoot}`)
  return Buffer.concat([heightKey(height), hashBytes(seal.blockHash), root, identity])
}

type SealRest = readonly [
  network: string,
  cidCount: number,
  type: SignatureType,
  value: string,
  createdAt: string,
]

export function encodeSeal(seal: Seal): Buffer {
  const { network, cidCount, signatureType, signatureValue, createdAt } = seal
  const rest: SealRest = [network, cidCount, signatureType, signatureValue, createdAt]
  return Buffer.from(JSON.stringify(rest))
}

export function decodeSeal(key: Buffer, value: Buffer): Seal {
  const rest: SealRest = JSON.parse(value.toString())
  const [network, cidCount, signatureType, signatureValue, createdAt] = rest
  const { height, hash, root, identity } = splitSealEntryKey(key)
  return {
    network,
    blockNumber: height,
    blockHash: `0x${hash.toString('hex')}`,
    merkleRoot: root.toString('hex'),
    cidCount,
    signatureType,
    signatureIdentity: identity.toString('hex'),
    signatureValue,
    createdAt,
  }
}

/** The parts of a seal's key. */
export function splitSealEntryKey(key: Buffer): {
  height: number
  hash: Buffer
  root: Buffer
  identity: Buffer
} {
  return {
    height: key.readUIntBE(0, 6),
    hash: key.subarray(6, 38),
    root: key.subarray(38, 70),
    identity: key.subarray(70),
  }
}
