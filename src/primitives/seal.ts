/**
 * The seal of a block: what a Generator signs, and the Merkle root over the block's document CIDs.
 */
import { hash } from 'node:crypto'
import { createWriter, major, writeBytes, writeHead, writeText } from './cbor.ts'
import { merkleRoot } from './merkle.ts'

/** The two signature schemes a seal may carry. */
export type SignatureType = 'ES256K' | 'Ed25519'

/** A BlockSignature without what follows from the documents (its `cids`). */
export interface Seal {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly blockNumber: number
  /** 0x-prefixed lower-case hex. */
  readonly blockHash: string
  /** Lower-case hex without 0x. */
  readonly merkleRoot: string
  readonly cidCount: number
  readonly signatureType: SignatureType
  /** The public key: lower-case hex without 0x, 33 bytes for ES256K, 32 for Ed25519. */
  readonly signatureIdentity: string
  /** Lower-case hex without 0x: DER for ES256K, 64 bytes for Ed25519. */
  readonly signatureValue: string
  /** RFC 3339, UTC, whole seconds; not signed. */
  readonly createdAt: string
}

/** The part of a seal that is signed. */
export type SealStatement = Pick<
  Seal,
  'network' | 'blockNumber' | 'blockHash' | 'merkleRoot' | 'cidCount'
>

const statementTag = 'viewmesh/seal/1'

/** What is signed: SHA-256 of the DAG-CBOR of `[tag, network, number, block hash, root, count]`, hashes as bytes. */
export function sealDigest(statement: SealStatement): Uint8Array {
  const out = createWriter(256)
  writeHead(out, major.array, 6)
  writeText(out, statementTag)
  writeText(out, statement.network)
  writeHead(out, major.int, statement.blockNumber)
  writeBytes(out, Buffer.from(statement.blockHash.slice(2), 'hex'))
  writeBytes(out, Buffer.from(statement.merkleRoot, 'hex'))
  writeHead(out, major.int, statement.cidCount)
  return hash('sha256', out.bytes.subarray(0, out.at), 'buffer')
}

/** The root that a seal covers (hex without 0x) over CIDs in any order, and the CIDs in the tree's order: by their bytes. */
export function sealRoot(cids: readonly Uint8Array[]): {
  root: string
  count: number
  sorted: readonly Uint8Array[]
} {
  const sorted = [...cids].sort(Buffer.compare)
  return { root: Buffer.from(merkleRoot(sorted)).toString('hex'), count: cids.length, sorted }
}
