/**
 * The messages of the protocol `/viewmesh/<network>/row-votes/1`, by which Hosts fetch the statements about rows that a
 * peer has and they lack: those about the blocks that it has, not about blocks that gave way. A request is one message,
 * and so is its answer; each is canonical DAG-CBOR:
 *
 *   digests     → and ← as in `votes/1`, a digest covering block hash, runtime version (4 bytes) and root of the
 *                 statements of a Host, in this order
 *   statements  → `["statements", identity, from, to]`
 *               ← `["statements", [statement, ...], next]`, ascending by height, a statement being its message as
 *                 bytes; `next` is the height at which the list was cut, or null
 */
import {
  type ByteReader,
  createByteWriter,
  major,
  readBytes,
  readText,
  simple,
  skipNull,
  writeBytes,
  writeHead,
  writeSimple,
  writeText,
} from '../primitives/cbor.ts'
import { readPublicKey } from '../primitives/signature.ts'
import {
  type DigestsRequest,
  digestOfHex,
  readDigestsRequest,
  readHeights,
  voteLimits,
  writeDigestsRequest,
} from '../primitives/vote-exchange.ts'
import {
  malformedMessage,
  present,
  readHeight,
  readLength,
  readList,
  readMessage,
  writeHexBytes,
  writeList,
} from '../primitives/wire.ts'
import { maxStatementBytes, type RowStatement } from './row-statement.ts'

/** Statements of one answer at most; its bytes are bounded by `voteLimits.maxAnswerBytes`. */
export const maxStatements = 256

export interface StatementsRequest {
  readonly kind: 'statements'
  readonly identity: string
  readonly from: number
  readonly to: number
}

export type RowVoteRequest = DigestsRequest | StatementsRequest

/** A page of a Host's statements. */
export interface StatementsAnswer {
  /** Their messages. */
  readonly statements: readonly Uint8Array[]
  /** Where to go on; null at the end. */
  readonly next: number | null
}

/** The digest over a Host's statements of one group. */
export function statementsDigest(
  places: Iterable<Pick<RowStatement, 'blockHash' | 'runtime' | 'root'>>,
): string {
  return digestOfHex(
    Array.from(places, ({ blockHash, runtime, root }) => {
      return `${blockHash.slice(2)}${runtime.toString(16).padStart(8, '0')}${root}`
    }),
  )
}

export function encodeRowVoteRequest(request: RowVoteRequest): Uint8Array {
  const out = createByteWriter()
  if (request.kind === 'digests') writeDigestsRequest(out, request)
  else {
    writeHead(out, major.array, 4)
    writeText(out, request.kind)
    writeHexBytes(out, request.identity)
    writeHead(out, major.int, request.from)
    writeHead(out, major.int, request.to)
  }
  return out.bytes.subarray(0, out.at)
}

/** Throws PRIMITIVES_MESSAGE_MALFORMED; what it returns is within `voteLimits`. */
export function decodeRowVoteRequest(bytes: Uint8Array): RowVoteRequest {
  return readMessage(bytes, voteLimits.maxRequestBytes, (reader): RowVoteRequest => {
    readLength(reader, 'a request', 4, 4)
    const kind = readText(reader)
    if (kind === 'digests') return readDigestsRequest(reader)
    if (kind !== 'statements') throw malformedMessage('a request is unknown')
    return { kind, identity: readPublicKey(reader), ...readHeights(reader) }
  })
}

export function encodeStatementsAnswer({ statements, next }: StatementsAnswer): Uint8Array {
  const out = createByteWriter()
  writeHead(out, major.array, 3)
  writeText(out, 'statements')
  writeList(out, statements, writeBytes)
  if (next === null) writeSimple(out, simple.null)
  else writeHead(out, major.int, next)
  return out.bytes.subarray(0, out.at)
}

/** The statements, not decoded. Throws PRIMITIVES_MESSAGE_MALFORMED. */
export function decodeStatementsAnswer(bytes: Uint8Array): StatementsAnswer {
  return readMessage(bytes, voteLimits.maxAnswerBytes, (reader) => {
    readLength(reader, 'an answer', 3, 3)
    if (readText(reader) !== 'statements') throw malformedMessage('an answer is of another kind')
    const statements = readList(reader, 'a list of statements', maxStatements, readStatementBytes)
    return { statements, next: skipNull(reader) ? null : readHeight(reader) }
  })
}

function readStatementBytes(reader: ByteReader): Uint8Array {
  const bytes = present(readBytes(reader), 'a statement')
  if (bytes.length > maxStatementBytes) throw malformedMessage('a statement is too long')
  return Uint8Array.from(bytes)
}
