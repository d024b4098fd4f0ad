/**
 * The statement of a Host about the rows of its Views of one block: one signature, however many Views are done with
 * it, over the root of their leaves. When further Views are done, a further statement has their leaves as well.
 *
 * On the wire: canonical DAG-CBOR of `[1, network, runtime version, number, hash, [leaf, ...], signature type,
 * identity, signature]`, a leaf being `[View ID, rows root, count]`, with hex as bytes. The root follows from the leaves.
 */
import { hash } from 'node:crypto'
import {
  type ByteReader,
  type ByteWriter,
  createByteWriter,
  major,
  writeHead,
  writeText,
} from '../primitives/cbor.ts'
import { readSignature, type Signature, writeSignature } from '../primitives/signature.ts'
import {
  expectHead,
  readHash,
  readHeight,
  readInteger,
  readMessage,
  readNetwork,
  writeHash,
  writeHexBytes,
  writeList,
} from '../primitives/wire.ts'
import {
  blockRoot,
  maxLeafBytes,
  maxLeaves,
  readLeaves,
  type ViewLeaf,
  writeLeaf,
} from './view-leaf.ts'

/** The block that a statement is about, and what made the rows. */
interface StatementBlock {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Version of the runtime of lenses: rows of different ones are not compared. */
  readonly runtime: number
  readonly blockNumber: number
  /** 0x-prefixed lower-case hex. */
  readonly blockHash: string
}

/** The part of a statement that is signed. */
interface SignedBlock extends StatementBlock {
  /** Root over the leaves, by `blockRoot`. */
  readonly root: string
}

/** A statement with all its leaves, in their order. */
export interface RowStatement extends SignedBlock, Signature {
  readonly leaves: readonly ViewLeaf[]
  /** Only an excerpt has any: none is taken for a whole statement. */
  readonly proofs?: undefined
}

const statementTag = 'viewmesh/rows/1'
const version = 1
const items = 9
const maxRuntime = 2 ** 31 - 1
/** Longest message: the network takes 522 bytes at most, key and signature less than 130. */
export const maxStatementBytes: number = 1_024 + maxLeaves * maxLeafBytes

/** What is signed: SHA-256 of the DAG-CBOR of `[tag, network, runtime version, number, hash, root]`. */
export function rowsDigest({ network, runtime, ...block }: SignedBlock): Uint8Array {
  const out = createByteWriter()
  writeHead(out, major.array, 6)
  writeText(out, statementTag)
  writeText(out, network)
  writeHead(out, major.int, runtime)
  writeHead(out, major.int, block.blockNumber)
  writeHash(out, block.blockHash)
  writeHexBytes(out, block.root)
  return hash('sha256', out.bytes.subarray(0, out.at), 'buffer')
}

/** The message of a statement. */
export function encodeRowStatement(statement: RowStatement): Uint8Array {
  const out = createByteWriter(256 + statement.leaves.length * maxLeafBytes)
  writeHead(out, major.array, items)
  writeBlock(out, version, statement)
  writeList(out, statement.leaves, writeLeaf)
  writeSignature(out, statement)
  return out.bytes.subarray(0, out.at)
}

/**
 * Decodes a statement, and computes its root; its signature is not verified.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`, also for no leaf, more than `maxLeaves`, or leaves out of order.
 */
export function decodeRowStatement(bytes: Uint8Array): RowStatement {
  return readMessage(bytes, maxStatementBytes, (reader) => {
    expectHead(reader, major.array, items)
    const block = readBlock(reader, version)
    const leaves = readLeaves(reader)
    return { ...block, root: blockRoot(leaves), leaves, ...readSignature(reader) }
  })
}

/** Writes the version of a message, and the block that it is about. */
export function writeBlock(
  out: ByteWriter,
  messageVersion: number,
  { network, runtime, blockNumber, blockHash }: StatementBlock,
): void {
  writeHead(out, major.int, messageVersion)
  writeText(out, network)
  writeHead(out, major.int, runtime)
  writeHead(out, major.int, blockNumber)
  writeHash(out, blockHash)
}

/** Reads what `writeBlock` wrote. Throws PRIMITIVES_MESSAGE_MALFORMED, also for another version. */
export function readBlock(reader: ByteReader, messageVersion: number): StatementBlock {
  expectHead(reader, major.int, messageVersion)
  return {
    network: readNetwork(reader),
    runtime: readInteger(reader, 'a runtime version', maxRuntime),
    blockNumber: readHeight(reader),
    blockHash: readHash(reader, 'a block hash'),
  }
}
