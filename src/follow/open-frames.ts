/**
 * What an application sends on a stream of `/viewmesh/<network>/views/1`: which Views it follows and from where, and
 * then how much more it takes. Each frame is canonical DAG-CBOR behind its length as an unsigned varint:
 *
 *   open    `["open", [[View ID, [[number, hash], ...], with rows], ...], from, window bytes]`: for each View the blocks
 *           that it has, newest first, and whether it wants rows beside what Hosts signed; a View without any block
 *           begins at `from`, or where the Host's rows begin, if that is higher
 *   credit  `["credit", bytes]`
 */
import {
  type ByteReader,
  type ByteWriter,
  createByteWriter,
  major,
  readText,
  simple,
  writeHead,
  writeSimple,
  writeText,
} from '../primitives/cbor.ts'
import {
  malformedMessage,
  readBoolean,
  readHash,
  readHeight,
  readInteger,
  readLength,
  readList,
  readMessage,
  writeHash,
  writeList,
} from '../primitives/wire.ts'
import { followLimits } from './follow-limits.ts'

/** A block by its place. */
export interface FollowedBlock {
  readonly number: number
  /** 0x-prefixed lower-case hex. */
  readonly hash: string
}

/** A View that is followed. */
export interface FollowedView {
  /** Its long ID: 0x and 64 lower-case digits. */
  readonly view: string
  /** Blocks that the application has of it, newest first. */
  readonly cursor: readonly FollowedBlock[]
  /** Whether rows are sent; without, only what Hosts signed of them. */
  readonly withRows: boolean
}

export interface OpenFrame {
  readonly kind: 'open'
  /** At least one, none twice. */
  readonly views: readonly FollowedView[]
  /** First height of Views without a cursor. */
  readonly from: number
  /** Bytes of frames that may be sent before credit arrives. */
  readonly windowBytes: number
}

interface CreditFrame {
  readonly kind: 'credit'
  /** At least one. */
  readonly bytes: number
}

export type ApplicationFrame = OpenFrame | CreditFrame

export function encodeApplicationFrame(frame: ApplicationFrame): Uint8Array {
  const out = createByteWriter(1_024)
  if (frame.kind === 'credit') {
    writeHead(out, major.array, 2)
    writeText(out, frame.kind)
    writeHead(out, major.int, frame.bytes)
  } else {
    writeHead(out, major.array, 4)
    writeText(out, frame.kind)
    writeList(out, frame.views, writeFollowed)
    writeHead(out, major.int, frame.from)
    writeHead(out, major.int, frame.windowBytes)
  }
  return out.bytes.subarray(0, out.at)
}

/** @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`, also for what is beyond `followLimits`. */
export function decodeApplicationFrame(bytes: Uint8Array): ApplicationFrame {
  return readMessage(bytes, followLimits.requestBytes, (reader): ApplicationFrame => {
    const items = readLength(reader, 'a frame', 2, 4)
    const kind = readText(reader)
    if (kind === 'credit' && items === 2)
      return { kind, bytes: atLeastOne(readInteger(reader, 'credit', followLimits.windowBytes)) }
    if (kind === 'open' && items === 4) return readOpen(reader)
    throw malformedMessage('a frame is unknown')
  })
}

function readOpen(reader: ByteReader): OpenFrame {
  const views = readList(reader, 'a list of Views', followLimits.views, readFollowed)
  if (views.length === 0) throw malformedMessage('no View is followed')
  if (new Set(views.map(({ view }) => view)).size < views.length)
    throw malformedMessage('a View is followed twice')
  return {
    kind: 'open',
    views,
    from: readHeight(reader),
    windowBytes: readInteger(reader, 'a window', followLimits.windowBytes),
  }
}

function atLeastOne(value: number): number {
  if (value === 0) throw malformedMessage('credit is nothing')
  return value
}

function writeFollowed(out: ByteWriter, { view, cursor, withRows }: FollowedView): void {
  writeHead(out, major.array, 3)
  writeHash(out, view)
  writeList(out, cursor, writePlace)
  writeSimple(out, withRows ? simple.true : simple.false)
}

function readFollowed(reader: ByteReader): FollowedView {
  readLength(reader, 'a followed View', 3, 3)
  const view = readHash(reader, 'a View')
  const cursor = readList(reader, 'a cursor', followLimits.cursorBlocks, readPlace)
  const isSorted = cursor.every(
    ({ number }, index) => number < (cursor[index - 1]?.number ?? Infinity),
  )
  if (!isSorted) throw malformedMessage('a cursor is not newest first')
  return { view, cursor, withRows: readBoolean(reader) }
}

function writePlace(out: ByteWriter, { number, hash }: FollowedBlock): void {
  writeHead(out, major.array, 2)
  writeHead(out, major.int, number)
  writeHash(out, hash)
}

function readPlace(reader: ByteReader): FollowedBlock {
  readLength(reader, 'a block', 2, 2)
  return { number: readHeight(reader), hash: readHash(reader, 'a block hash') }
}
