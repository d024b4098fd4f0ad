/**
 * The messages of the protocol `/viewmesh/<network>/votes/1`, by which nodes fetch the heads and seals
 * that a peer has and they lack. A request is one message, and so is its answer; each is canonical
 * DAG-CBOR:
 *
 *   heads    → `["heads", [identity, ...]]`, none for all
 *            ← `["heads", [head, ...]]`, a head being its message as bytes
 *   digests  → `["digests", from, to, [identity, ...]]`
 *            ← `["digests", [[identity, group, digest], ...]]`, groups without seals left out
 *   seals    → `["seals", identity, from, to, after]`, `after` being null or `[height, block hash]` of
 *              the last seal that is known
 *            ← `["seals", [seal, ...], more]`, ascending by height and hash; `more` is true where the
 *              list was cut
 *
 * A group is 64 heights, numbered from 0; its digest covers those within `from` to `to`.
 */
import { hash } from 'node:crypto'
import {
  type ByteReader,
  type ByteWriter,
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
} from './cbor.ts'
import type { Seal } from './seal.ts'
import { readSeal, writeSeal } from './sealed-block.ts'
import { readPublicKey } from './signature.ts'
import {
  malformedMessage,
  present,
  readBoolean,
  readHash,
  readHeight,
  readHexBytes,
  readLength,
  readList,
  readMessage,
  writeHash,
  writeHexBytes,
  writeList,
} from './wire.ts'

/** Heights that share a digest. */
export const groupHeights = 64

/** Limits of one request and one answer; identities times groups is at most `maxDigests`. */
export const voteLimits = {
  maxIdentities: 64,
  maxHeights: 1_024,
  maxDigests: 1_024,
  maxHeads: 256,
  maxSeals: 256,
  maxRequestBytes: 4_096,
  maxAnswerBytes: 524_288,
} as const

export type VoteRequest =
  | { readonly kind: 'heads'; readonly identities: readonly string[] }
  | {
      readonly kind: 'digests'
      readonly from: number
      readonly to: number
      readonly identities: readonly string[]
    }
  | {
      readonly kind: 'seals'
      readonly identity: string
      readonly from: number
      readonly to: number
      readonly after: SealPlace | null
    }

/** Where a seal stands in the order of an identity's seals. */
export interface SealPlace {
  readonly height: number
  readonly blockHash: string
}

/** The digest over an identity's seals of one group. */
export interface GroupDigest {
  readonly identity: string
  readonly group: number
  /** 16 bytes in hex. */
  readonly digest: string
}

const digestBytes = 16
const maxHeadBytes = 512

/** The number of the group a height belongs to. */
export function groupOf(height: number): number {
  return Math.floor(height / groupHeights)
}

/** The digest over seals in ascending order: SHA-256 of their block hashes and roots, cut to 16 bytes. */
export function groupDigest(seals: Iterable<Pick<Seal, 'blockHash' | 'merkleRoot'>>): string {
  const texts: string[] = []
  for (const { blockHash, merkleRoot } of seals) texts.push(blockHash.slice(2), merkleRoot)
  return digestOfHex(texts)
}

/** A digest over bytes in hex. */
export function digestOfHex(texts: readonly string[]): string {
  return hash('sha256', Buffer.from(texts.join(''), 'hex'), 'hex').slice(0, 2 * digestBytes)
}

export type DigestsRequest = Extract<VoteRequest, { kind: 'digests' }>

/** Writes a request for digests, by itself or of another protocol with digests. */
export function writeDigestsRequest(out: ByteWriter, request: DigestsRequest): void {
  writeHead(out, major.array, 4)
  writeText(out, 'digests')
  writeHead(out, major.int, request.from)
  writeHead(out, major.int, request.to)
  writeList(out, request.identities, writeHexBytes)
}

/** Reads what follows the kind in a request for digests. */
export function readDigestsRequest(reader: ByteReader): DigestsRequest {
  const heights = readHeights(reader)
  const identities = readIdentities(reader)
  const groups = groupOf(heights.to) - groupOf(heights.from) + 1
  if (groups * identities.length > voteLimits.maxDigests)
    throw malformedMessage('it asks for too many digests')
  return { kind: 'digests', ...heights, identities }
}

export function encodeVoteRequest(request: VoteRequest): Uint8Array {
  const out = createByteWriter()
  switch (request.kind) {
    case 'heads':
      writeHead(out, major.array, 2)
      writeText(out, 'heads')
      writeList(out, request.identities, writeHexBytes)
      break
    case 'digests':
      writeDigestsRequest(out, request)
      break
    case 'seals':
      writeHead(out, major.array, 5)
      writeText(out, 'seals')
      writeHexBytes(out, request.identity)
      writeHead(out, major.int, request.from)
      writeHead(out, major.int, request.to)
      if (request.after === null) writeSimple(out, simple.null)
      else {
        writeHead(out, major.array, 2)
        writeHead(out, major.int, request.after.height)
        writeHash(out, request.after.blockHash)
      }
  }
  return out.bytes.subarray(0, out.at)
}

/** Throws PRIMITIVES_MESSAGE_MALFORMED; what it returns is within `voteLimits`. */
export function decodeVoteRequest(bytes: Uint8Array): VoteRequest {
  return readMessage(bytes, voteLimits.maxRequestBytes, (reader) => {
    const length = readLength(reader, 'a request', 2, 5)
    const kind = readText(reader)
    if (kind === 'heads' && length === 2) return { kind, identities: readIdentities(reader) }
    if (kind === 'digests' && length === 4) return readDigestsRequest(reader)
    if (kind === 'seals' && length === 5) {
      const identity = readPublicKey(reader)
      return { kind, identity, ...readHeights(reader), after: readAfter(reader) }
    }
    throw malformedMessage('a request is unknown')
  })
}

function readIdentities(reader: ByteReader): string[] {
  return readList(reader, 'a list of identities', voteLimits.maxIdentities, readPublicKey)
}

/** Reads the first and the last height of a range of at most `voteLimits.maxHeights`. */
export function readHeights(reader: ByteReader): { from: number; to: number } {
  const from = readHeight(reader)
  const to = readHeight(reader)
  if (to < from || to - from >= voteLimits.maxHeights)
    throw malformedMessage('its heights are no range')
  return { from, to }
}

function readAfter(reader: ByteReader): SealPlace | null {
  if (skipNull(reader)) return null
  readLength(reader, 'a place', 2, 2)
  return { height: readHeight(reader), blockHash: readHash(reader, 'a block hash') }
}

/** `heads` are their messages. */
export function encodeHeadsAnswer(heads: readonly Uint8Array[]): Uint8Array {
  const out = createByteWriter()
  writeHead(out, major.array, 2)
  writeText(out, 'heads')
  writeList(out, heads, writeBytes)
  return out.bytes.subarray(0, out.at)
}

/** The messages of heads, not decoded. Throws PRIMITIVES_MESSAGE_MALFORMED. */
export function decodeHeadsAnswer(bytes: Uint8Array): Uint8Array[] {
  return readAnswer(bytes, 'heads', 2, (reader) =>
    readList(reader, 'a list of heads', voteLimits.maxHeads, (item) => {
      const head = present(readBytes(item), 'a head')
      if (head.length > maxHeadBytes) throw malformedMessage('a head is too long')
      return Uint8Array.from(head)
    }),
  )
}

export function encodeDigestsAnswer(digests: readonly GroupDigest[]): Uint8Array {
  const out = createByteWriter()
  writeHead(out, major.array, 2)
  writeText(out, 'digests')
  writeList(out, digests, (writer, { identity, group, digest }) => {
    writeHead(writer, major.array, 3)
    writeHexBytes(writer, identity)
    writeHead(writer, major.int, group)
    writeHexBytes(writer, digest)
  })
  return out.bytes.subarray(0, out.at)
}

/** Throws PRIMITIVES_MESSAGE_MALFORMED. */
export function decodeDigestsAnswer(bytes: Uint8Array): GroupDigest[] {
  return readAnswer(bytes, 'digests', 2, (reader) =>
    readList(reader, 'a list of digests', voteLimits.maxDigests, (item) => {
      readLength(item, 'a digest', 3, 3)
      return {
        identity: readPublicKey(item),
        group: readHeight(item),
        digest: readHexBytes(item, 'a digest', digestBytes, digestBytes),
      }
    }),
  )
}

/** A page of an identity's seals. */
export interface SealsAnswer {
  readonly seals: readonly Seal[]
  /** True where further seals follow. */
  readonly more: boolean
}

export function encodeSealsAnswer({ seals, more }: SealsAnswer): Uint8Array {
  const out = createByteWriter()
  writeHead(out, major.array, 3)
  writeText(out, 'seals')
  writeList(out, seals, writeSeal)
  writeSimple(out, more ? simple.true : simple.false)
  return out.bytes.subarray(0, out.at)
}

/** Throws PRIMITIVES_MESSAGE_MALFORMED; signatures are not verified. */
export function decodeSealsAnswer(bytes: Uint8Array): SealsAnswer {
  return readAnswer(bytes, 'seals', 3, (reader) => {
    const seals = readList(reader, 'a list of seals', voteLimits.maxSeals, readSeal)
    return { seals, more: readBoolean(reader) }
  })
}

function readAnswer<T>(
  bytes: Uint8Array,
  kind: string,
  length: number,
  read: (reader: ByteReader) => T,
): T {
  return readMessage(bytes, voteLimits.maxAnswerBytes, (reader) => {
    readLength(reader, 'an answer', length, length)
    if (readText(reader) !== kind) throw malformedMessage('an answer is of another kind')
    return read(reader)
  })
}
