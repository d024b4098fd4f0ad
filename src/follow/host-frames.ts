/**
 * What a Host sends on a stream of `/viewmesh/<network>/views/1`. Each frame is canonical DAG-CBOR behind its length as
 * an unsigned varint, at most 1 MiB:
 *
 *   welcome    `["welcome", identity proof, genesis or null, [[View ID, name, SDL, tail, head, state], ...]]`, first; what
 *              does not fit follows in further ones
 *   rows       `["rows", View ID, number, hash, parent, count, part, last, bytes]`: the rows that a View has of a block,
 *              packed as they are stored, cut into parts; in chain order, also of blocks without a row
 *   failed     `["failed", View ID, number, hash, parent]`: the View failed at this block here, and there are no rows of it
 *   statement  `["statement", excerpt]`: what this Host signed of the followed Views of a block
 *   votes      `["votes", [excerpt, ...]]`: what other Hosts signed
 *   seals      `["seals", number, hash, [seal, ...]]`: who sealed a block
 *   retract    `["retract", View ID, number, hash]`: what is above this block gave way, and rows of another branch follow;
 *              number and hash are null where no block of the cursor is known
 *   head       `["head", number, hash]`, every 15 s
 *   error      `["error", code, tail or null]`, last
 */
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
} from '../primitives/cbor.ts'
import type { Seal } from '../primitives/seal.ts'
import { readSeal, writeSeal } from '../primitives/sealed-block.ts'
import {
  malformedMessage,
  present,
  readBoolean,
  readHash,
  readHeight,
  readInteger,
  readLength,
  readList,
  readMessage,
  readShortText,
  writeHash,
  writeList,
} from '../primitives/wire.ts'
import { viewLimits } from '../views/view.ts'
import { followLimits } from './follow-limits.ts'
import type { FollowedBlock } from './open-frames.ts'

/** A View as a Host has it. */
export interface WelcomedView {
  /** Its long ID. */
  readonly view: string
  /** As this Host serves it. */
  readonly name: string
  readonly sdl: string
  /** Lowest and highest height of which rows may be; null before the first block. */
  readonly tail: number | null
  readonly head: number | null
  /** How it stands, as in `/health`; `notServedState` for one of which this Host sends nothing. */
  readonly state: string
}

/** State of a View that a Host does not serve, or of which it stores no rows. */
export const notServedState = 'unknown'

export interface WelcomeFrame {
  readonly kind: 'welcome'
  /** The message of an identity proof. */
  readonly proof: Uint8Array
  /** Hash of block 0; null where the Host does not know it yet. */
  readonly genesis: string | null
  readonly views: readonly WelcomedView[]
}

/** A block of a View, and the one below it. */
interface ViewPlace extends FollowedBlock {
  readonly view: string
  readonly parent: string
}

export interface RowsFrame extends ViewPlace {
  readonly kind: 'rows'
  /** Rows of the block. */
  readonly count: number
  /** Number of this part, from 0. */
  readonly part: number
  readonly last: boolean
  /** A part of the packed rows; nothing for no rows. */
  readonly bytes: Uint8Array
}

interface FailedFrame extends ViewPlace {
  readonly kind: 'failed'
}

interface RetractFrame {
  readonly kind: 'retract'
  readonly view: string
  /** The highest block that both have; null for none. */
  readonly place: FollowedBlock | null
}

interface SealsFrame extends FollowedBlock {
  readonly kind: 'seals'
  readonly seals: readonly Seal[]
}

/** Why a Host ends a stream; a code, so that no text of a stranger reaches a log. */
export const followErrors = ['busy', 'unknown', 'pruned', 'slow', 'unavailable'] as const
export type FollowError = (typeof followErrors)[number]

export type HostFrame =
  | WelcomeFrame
  | RowsFrame
  | FailedFrame
  | { readonly kind: 'statement'; readonly excerpt: Uint8Array }
  | { readonly kind: 'votes'; readonly excerpts: readonly Uint8Array[] }
  | SealsFrame
  | RetractFrame
  | ({ readonly kind: 'head' } & FollowedBlock)
  | { readonly kind: 'error'; readonly error: FollowError; readonly tail: number | null }

const maxProofBytes = 512
/** A type is named within its SDL; the name under which it is served may have its ID behind it. */
const maxNameLength = viewLimits.sdl + 65
const maxStateLength = 32
const maxRows = 2 ** 32 - 1
const maxParts = 64

export function encodeHostFrame(frame: HostFrame): Uint8Array {
  const out = createByteWriter(frame.kind === 'rows' ? frame.bytes.length + 256 : 1_024)
  writeFrame(out, frame)
  return out.bytes.subarray(0, out.at)
}

function writeFrame(out: ByteWriter, frame: HostFrame): void {
  const begin = (items: number): void => {
    writeHead(out, major.array, items)
    writeText(out, frame.kind)
  }
  switch (frame.kind) {
    case 'welcome':
      begin(4)
      writeBytes(out, frame.proof)
      writeNullable(out, frame.genesis, writeHash)
      writeList(out, frame.views, writeWelcomed)
      break
    case 'rows':
      begin(9)
      writePlaceItems(out, frame)
      for (const value of [frame.count, frame.part]) writeHead(out, major.int, value)
      writeSimple(out, frame.last ? simple.true : simple.false)
      writeBytes(out, frame.bytes)
      break
    case 'failed':
      begin(5)
      writePlaceItems(out, frame)
      break
    case 'statement':
      begin(2)
      writeBytes(out, frame.excerpt)
      break
    case 'votes':
      begin(2)
      writeList(out, frame.excerpts, writeBytes)
      break
    case 'seals':
      begin(4)
      writeHead(out, major.int, frame.number)
      writeHash(out, frame.hash)
      writeList(out, frame.seals, writeSeal)
      break
    case 'retract':
      begin(4)
      writeHash(out, frame.view)
      writeNullable(out, frame.place?.number ?? null, writeHeight)
      writeNullable(out, frame.place?.hash ?? null, writeHash)
      break
    case 'head':
      begin(3)
      writeHead(out, major.int, frame.number)
      writeHash(out, frame.hash)
      break
    case 'error':
      begin(3)
      writeText(out, frame.error)
      writeNullable(out, frame.tail, writeHeight)
      break
  }
}

/**
 * Decodes a frame; the bytes of rows and excerpts are parts of it, and are not decoded.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`.
 */
export function decodeHostFrame(bytes: Uint8Array): HostFrame {
  return readMessage(bytes, followLimits.frameBytes, (reader) => {
    const items = readLength(reader, 'a frame', 2, 9)
    const read = readers[readText(reader) ?? '']
    if (read === undefined || read.items !== items) throw malformedMessage('a frame is unknown')
    return read.frame(reader)
  })
}

interface FrameReader {
  /** Length of the list. */
  readonly items: number
  readonly frame: (reader: ByteReader) => HostFrame
}

const readers: Readonly<Record<string, FrameReader>> = {
  welcome: { items: 4, frame: readWelcome },
  rows: { items: 9, frame: readRows },
  failed: { items: 5, frame: (reader) => ({ kind: 'failed', ...readViewPlace(reader) }) },
  statement: { items: 2, frame: (reader) => ({ kind: 'statement', excerpt: readPart(reader) }) },
  votes: {
    items: 2,
    frame: (reader) => {
      const excerpts = readList(reader, 'a list of votes', followLimits.votes, readPart)
      return { kind: 'votes', excerpts }
    },
  },
  seals: { items: 4, frame: readSeals },
  retract: { items: 4, frame: readRetract },
  head: { items: 3, frame: (reader) => ({ kind: 'head', ...readPlaceItems(reader) }) },
  error: { items: 3, frame: readError },
}

function readWelcome(reader: ByteReader): WelcomeFrame {
  const proof = readPart(reader)
  if (proof.length > maxProofBytes) throw malformedMessage('a proof is too long')
  const genesis = skipNull(reader) ? null : readHash(reader, 'a genesis hash')
  const views = readList(reader, 'a list of Views', followLimits.views, readWelcomed)
  return { kind: 'welcome', proof, genesis, views }
}

function readRows(reader: ByteReader): RowsFrame {
  const place = readViewPlace(reader)
  const count = readInteger(reader, 'a number of rows', maxRows)
  const part = readInteger(reader, 'the number of a part', maxParts - 1)
  const last = readBoolean(reader)
  return { kind: 'rows', ...place, count, part, last, bytes: readPart(reader) }
}

function readSeals(reader: ByteReader): SealsFrame {
  const place = readPlaceItems(reader)
  const seals = readList(reader, 'a list of seals', followLimits.seals, readSeal)
  return { kind: 'seals', ...place, seals }
}

function readRetract(reader: ByteReader): RetractFrame {
  const view = readHash(reader, 'a View')
  const number = skipNull(reader) ? null : readHeight(reader)
  const hash = skipNull(reader) ? null : readHash(reader, 'a block hash')
  if (number === null && hash === null) return { kind: 'retract', view, place: null }
  if (number === null || hash === null) throw malformedMessage('half a block is named')
  return { kind: 'retract', view, place: { number, hash } }
}

function readError(reader: ByteReader): HostFrame {
  const text = readText(reader)
  const error = followErrors.find((known) => known === text)
  if (error === undefined) throw malformedMessage('an error is unknown')
  return { kind: 'error', error, tail: skipNull(reader) ? null : readHeight(reader) }
}

function writeWelcomed(
  out: ByteWriter,
  { view, name, sdl, tail, head, state }: WelcomedView,
): void {
  writeHead(out, major.array, 6)
  writeHash(out, view)
  writeText(out, name)
  writeText(out, sdl)
  writeNullable(out, tail, writeHeight)
  writeNullable(out, head, writeHeight)
  writeText(out, state)
}

function readWelcomed(reader: ByteReader): WelcomedView {
  readLength(reader, 'a View', 6, 6)
  return {
    view: readHash(reader, 'a View'),
    name: readShortText(reader, 'a name', maxNameLength),
    sdl: readShortText(reader, 'an SDL', followLimits.frameBytes),
    tail: skipNull(reader) ? null : readHeight(reader),
    head: skipNull(reader) ? null : readHeight(reader),
    state: readShortText(reader, 'a state', maxStateLength),
  }
}

function writePlaceItems(out: ByteWriter, { view, number, hash, parent }: ViewPlace): void {
  writeHash(out, view)
  writeHead(out, major.int, number)
  writeHash(out, hash)
  writeHash(out, parent)
}

function readViewPlace(reader: ByteReader): ViewPlace {
  const view = readHash(reader, 'a View')
  return { view, ...readPlaceItems(reader), parent: readHash(reader, 'a parent hash') }
}

function readPlaceItems(reader: ByteReader): FollowedBlock {
  return { number: readHeight(reader), hash: readHash(reader, 'a block hash') }
}

function readPart(reader: ByteReader): Uint8Array {
  return present(readBytes(reader), 'a part')
}

function writeHeight(out: ByteWriter, height: number): void {
  writeHead(out, major.int, height)
}

function writeNullable<T>(
  out: ByteWriter,
  value: T | null,
  write: (out: ByteWriter, value: T) => void,
): void {
  if (value === null) writeSimple(out, simple.null)
  else write(out, value)
}
