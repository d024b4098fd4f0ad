/**
 * The signed head of a Generator: the block it stands on, how far its node is, and a number that
 * grows with each head it signs. Hosts follow what most of their signers stand on.
 *
 * On the wire: canonical DAG-CBOR of `[1, network, genesis hash, number, hash, sequence, height of
 * its node, signature type, identity, signature]` with hex as bytes.
 */
import { hash } from 'node:crypto'
import { maxInt } from './bounds.ts'
import { type ByteWriter, createByteWriter, major, writeHead, writeText } from './cbor.ts'
import { readSignature, type Signature, writeSignature } from './signature.ts'
import {
  expectHead,
  readHash,
  readHeight,
  readInteger,
  readMessage,
  readNetwork,
  writeHash,
} from './wire.ts'

/** The part of a head that is signed. */
export interface HeadStatement {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Hash of block 0: 0x-prefixed lower-case hex. */
  readonly genesisHash: string
  readonly number: number
  readonly hash: string
  /** Higher in every later head of the same signer. */
  readonly sequence: number
  /** Height of the head of the signer's node. */
  readonly nodeHeight: number
}

export interface Head extends HeadStatement, Signature {}

const statementTag = 'viewmesh/head/1'
const version = 1
const items = 10
const maxHeadBytes = 512

/** What is signed: SHA-256 of the DAG-CBOR of `[tag, network, genesis hash, number, hash, sequence, height of its node]`. */
export function headDigest(statement: HeadStatement): Uint8Array {
  const out = createByteWriter()
  writeHead(out, major.array, 7)
  writeText(out, statementTag)
  writeStatement(out, statement)
  return hash('sha256', out.bytes.subarray(0, out.at), 'buffer')
}

function writeStatement(out: ByteWriter, statement: HeadStatement): void {
  writeText(out, statement.network)
  writeHash(out, statement.genesisHash)
  writeHead(out, major.int, statement.number)
  writeHash(out, statement.hash)
  writeHead(out, major.int, statement.sequence)
  writeHead(out, major.int, statement.nodeHeight)
}

/** The message of a head. */
export function encodeHead(head: Head): Uint8Array {
  const out = createByteWriter(maxHeadBytes)
  writeHead(out, major.array, items)
  writeHead(out, major.int, version)
  writeStatement(out, head)
  writeSignature(out, head)
  return out.bytes.subarray(0, out.at)
}

/**
 * Decodes a head; its signature is not verified.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`.
 */
export function decodeHead(bytes: Uint8Array): Head {
  return readMessage(bytes, maxHeadBytes, (reader) => {
    expectHead(reader, major.array, items)
    expectHead(reader, major.int, version)
    return {
      network: readNetwork(reader),
      genesisHash: readHash(reader, 'a genesis hash'),
      number: readHeight(reader),
      hash: readHash(reader, 'a block hash'),
      sequence: readInteger(reader, 'a sequence', Number.MAX_SAFE_INTEGER),
      nodeHeight: readInteger(reader, 'a height of a node', maxInt),
      ...readSignature(reader),
    }
  })
}
