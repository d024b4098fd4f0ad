/**
 * The seal of a block: what a Generator signs, and the Merkle root over the block's document CIDs.
 */
import { hash } from 'node:crypto'
import { invariant } from '../errors.ts'
import { asBuffer, createByteWriter, major, writeBytes, writeHead, writeText } from './cbor.ts'
import { merkleRoot } from './merkle.ts'
import type { Signature } from './signature.ts'

/** A BlockSignature without what follows from the documents (its `cids`). */
export interface Seal extends Signature {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly blockNumber: number
  /** 0x-prefixed lower-case hex. */
  readonly blockHash: string
  /** Lower-case hex without 0x. */
  readonly merkleRoot: string
  readonly cidCount: number
  /** RFC 3339, UTC, whole seconds; not signed. */
  readonly createdAt: string
}

/** The part of a seal that is signed. */
type SealStatement = Pick<Seal, 'network' | 'blockNumber' | 'blockHash' | 'merkleRoot' | 'cidCount'>

const statementTag = 'viewmesh/seal/1'

/** What is signed: SHA-256 of the DAG-CBOR of `[tag, network, number, block hash, root, count]`, hashes as bytes. */
export function sealDigest(statement: SealStatement): Uint8Array {
  const blockHash = Buffer.from(statement.blockHash.slice(2), 'hex')
  const root = Buffer.from(statement.merkleRoot, 'hex')
  invariant(blockHash.length === 32 && root.length === 32, 'a seal’s hashes have 32 bytes')
  const out = createByteWriter()
  writeHead(out, major.array, 6)
  writeText(out, statementTag)
  writeText(out, statement.network)
  writeHead(out, major.int, statement.blockNumber)
  writeBytes(out, blockHash)
  writeBytes(out, root)
  writeHead(out, major.int, statement.cidCount)
  return hash('sha256', out.bytes.subarray(0, out.at), 'buffer')
}

/**
 * The root that a seal covers (hex without 0x) over CIDs in any order, and the CIDs in the order of
 * the tree: by their bytes.
 */
export function sealRoot(cids: readonly Uint8Array[]): {
  root: string
  count: number
  sorted: readonly Uint8Array[]
} {
  const sorted = sortCids(cids)
  return { root: Buffer.from(merkleRoot(sorted)).toString('hex'), count: cids.length, sorted }
}

/** Numbers sort without a callback: the digest's first 32 bits, then the place, make one of 53 bits. */
const maxPlaces = 2 ** 21
/** Where the digest of a CID begins. */
const digestPlace = 4

/** Sorts roughly by number, then puts right what shares its first bits by comparing bytes. */
function sortCids(cids: readonly Uint8Array[]): Uint8Array[] {
  if (cids.length > maxPlaces) return [...cids].sort(Buffer.compare)
  const keys = new Float64Array(cids.length)
  for (const [index, cid] of cids.entries()) keys[index] = digestStart(cid) * maxPlaces + index
  const sorted: Uint8Array[] = []
  for (const key of keys.sort()) {
    const cid = cids[key % maxPlaces]
    if (cid !== undefined) insertSorted(sorted, cid)
  }
  return sorted
}

function digestStart(cid: Uint8Array): number {
  return asBuffer(cid).readUInt32BE(digestPlace)
}

function insertSorted(sorted: Uint8Array[], cid: Uint8Array): void {
  let at = sorted.length
  sorted.push(cid)
  for (let before = sorted[at - 1]; before !== undefined; before = sorted[at - 1]) {
    if (Buffer.compare(before, cid) <= 0) break
    sorted[at--] = before
    sorted[at] = cid
  }
}
