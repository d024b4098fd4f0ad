/**
 * How statements about rows lie in the store. The first piece lies under the key of its statement and further ones
 * under that key and their number (2), so that each fills a page at most; programs before this one stored each as a
 * whole under the key, which reads the same.
 */
import { encodeRowStatement, type RowStatement } from '../../row-votes/row-statement.ts'
import {
  encodeStatementExcerpt,
  maxExcerptBytes,
  type StatementExcerpt,
} from '../../row-votes/statement-excerpt.ts'
import type { StatementPlace } from '../store.ts'
import { hashBytes, heightKey, pieceBytes } from './layout.ts'

/** A piece of a statement; null for one that must not be there. */
interface StatementPiece {
  readonly key: Buffer
  readonly value: Uint8Array | null
}

/** Height, block hash, runtime and root. */
const fixedBytes = 6 + 32 + 4 + 32
const pieceNumberBytes = 2
/** An identity has 32 or 33 bytes. */
const maxIdentityBytes = 33

/** The key of the first piece of a statement. */
export function statementKey(place: StatementPlace): Buffer {
  const runtime = Buffer.allocUnsafe(4)
  runtime.writeUInt32BE(place.runtime, 0)
  return Buffer.concat([
    heightKey(place.blockNumber),
    hashBytes(place.blockHash),
    runtime,
    Buffer.from(place.root, 'hex'),
    Buffer.from(place.signatureIdentity, 'hex'),
  ])
}

/** The key of a piece, without its number. */
export function keyOfStatement(key: Buffer): Buffer {
  const isNumbered = key.length > fixedBytes + maxIdentityBytes
  return isNumbered ? key.subarray(0, key.length - pieceNumberBytes) : key
}

/** What the key of a statement says of it. */
export function splitStatementKey(key: Buffer): StatementPlace {
  return {
    blockNumber: key.readUIntBE(0, 6),
    blockHash: `0x${key.toString('hex', 6, 38)}`,
    runtime: key.readUInt32BE(38),
    root: key.toString('hex', 42, fixedBytes),
    signatureIdentity: key.toString('hex', fixedBytes),
  }
}

const excerptPieces = Math.ceil(maxExcerptBytes / pieceBytes)

/** The pieces of the message of a statement or an excerpt, in their order; excerpts under one key differ in length. */
export function statementPieces(statement: RowStatement | StatementExcerpt): StatementPiece[] {
  const isWhole = statement.proofs === undefined
  const key = statementKey(statement)
  const bytes = isWhole ? encodeRowStatement(statement) : encodeStatementExcerpt(statement)
  const own = Math.ceil(bytes.length / pieceBytes)
  return Array.from({ length: isWhole ? own : excerptPieces }, (_, piece) => ({
    key: piece === 0 ? key : numbered(key, piece),
    value: piece < own ? bytes.subarray(piece * pieceBytes, (piece + 1) * pieceBytes) : null,
  }))
}

function numbered(key: Buffer, piece: number): Buffer {
  const number = Buffer.allocUnsafe(pieceNumberBytes)
  number.writeUInt16BE(piece, 0)
  return Buffer.concat([key, number])
}

/** How a message of an excerpt begins, which is the head of a list of ten, and one of a statement of nine. */
const excerptHead = 0x8a

/** Whether a stored message is that of an excerpt. */
export function isExcerpt(message: Buffer): boolean {
  return message[0] === excerptHead
}
