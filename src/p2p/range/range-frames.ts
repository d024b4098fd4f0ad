/**
 * The frames of the range protocol `/viewmesh/<network>/range/1`: their bytes and nothing else.
 *
 * The client sends one request, then credit. The server answers with its status, then for every
 * block it has in the range one `block` frame and as many `part` frames as the block needs, then
 * `end`; or `error` at any point. Each frame is preceded by its length as an unsigned varint.
 * Numbers are big-endian: heights 6 bytes and at most 2^31 - 1, sizes 4 bytes.
 */
import { isInt, maxInt } from '../../primitives/bounds.ts'
import type { Range } from '../peers/announcements.ts'
import { frameError } from '../streams/frame-error.ts'

/** `from` above `to` asks for the status alone; `status` is the asker's own. */
export interface RequestFrame {
  readonly kind: 'request'
  readonly from: number
  readonly to: number
  /** Bytes of blocks that may be sent before more credit arrives. */
  readonly windowBytes: number
  readonly status: Range | null
}

interface CreditFrame {
  readonly kind: 'credit'
  readonly bytes: number
}

export type ClientFrame = RequestFrame | CreditFrame

/** Why a server does not serve; a code, so that no peer's text reaches a log. */
export const refusals = ['busy', 'unavailable'] as const
export type Refusal = (typeof refusals)[number]

export type ServerFrame =
  | { readonly kind: 'status'; readonly status: Range | null }
  | {
      readonly kind: 'block'
      readonly height: number
      /** Size of the whole block, of which `bytes` is the beginning. */
      readonly blockBytes: number
      readonly bytes: Uint8Array
    }
  | { readonly kind: 'part'; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly blocks: number }
  | { readonly kind: 'error'; readonly error: Refusal }

/** Bytes a `block` frame needs beside the block's own. */
export const blockFrameOverhead = 11
/** Fewest bytes of a block in a frame that is not its last: each frame is work, and is kept until that one has come. */
export const minPartBytes = 1024

const tags = {
  request: 1,
  credit: 2,
  status: 16,
  block: 17,
  part: 18,
  end: 19,
  error: 20,
} as const

export function encodeClientFrame(frame: ClientFrame): Uint8Array {
  if (frame.kind === 'credit') return writeFrame(tags.credit, (out) => out.u32(frame.bytes))
  return writeFrame(tags.request, (out) => {
    out.height(frame.from)
    out.height(frame.to)
    out.u32(frame.windowBytes)
    out.range(frame.status)
  })
}

/** Throws an error named `frameErrorName`. */
export function decodeClientFrame(bytes: Uint8Array): ClientFrame {
  const input = readFrame(bytes)
  const frame = clientFrame(input)
  input.end()
  return frame
}

export function encodeServerFrame(frame: ServerFrame): Uint8Array {
  switch (frame.kind) {
    case 'status':
      return writeFrame(tags.status, (out) => out.range(frame.status))
    case 'block':
      return writeFrame(tags.block, (out) => {
        out.height(frame.height)
        out.u32(frame.blockBytes)
        out.rest(frame.bytes)
      })
    case 'part':
      return writeFrame(tags.part, (out) => out.rest(frame.bytes))
    case 'end':
      return writeFrame(tags.end, (out) => out.u32(frame.blocks))
    case 'error':
      return writeFrame(tags.error, (out) => out.u8(refusals.indexOf(frame.error)))
  }
}

/** Throws an error named `frameErrorName`. The bytes of a block are a view, not a copy. */
export function decodeServerFrame(bytes: Uint8Array): ServerFrame {
  const input = readFrame(bytes)
  const frame = serverFrame(input)
  input.end()
  return frame
}

function clientFrame(input: FrameReader): ClientFrame {
  if (input.tag === tags.credit) return { kind: 'credit', bytes: input.u32() }
  if (input.tag !== tags.request) throw frameError('unknown frame')
  return {
    kind: 'request',
    from: input.height(),
    to: input.height(),
    windowBytes: input.u32(),
    status: input.range(),
  }
}

function serverFrame(input: FrameReader): ServerFrame {
  switch (input.tag) {
    case tags.status:
      return { kind: 'status', status: input.range() }
    case tags.block:
      return {
        kind: 'block',
        height: input.height(),
        blockBytes: input.u32(),
        bytes: input.rest(),
      }
    case tags.part:
      return { kind: 'part', bytes: input.rest() }
    case tags.end:
      return { kind: 'end', blocks: input.u32() }
    case tags.error:
      return { kind: 'error', error: refusals[input.u8()] ?? 'unavailable' }
    default:
      throw frameError('unknown frame')
  }
}

interface FrameWriter {
  u8(value: number): void
  u32(value: number): void
  height(value: number): void
  range(range: Range | null): void
  rest(bytes: Uint8Array): void
}

const headBytes = 32

function writeFrame(tag: number, write: (out: FrameWriter) => void): Uint8Array {
  const head = Buffer.alloc(headBytes)
  let at = head.writeUInt8(tag, 0)
  let tail: Uint8Array | undefined
  const height = (value: number): void => {
    at = head.writeUIntBE(Math.min(value, maxInt), at, 6)
  }
  const u8 = (value: number): void => {
    at = head.writeUInt8(value, at)
  }
  write({
    u8,
    u32: (value) => {
      at = head.writeUInt32BE(value, at)
    },
    height,
    range: (range) => {
      u8(range === null ? 0 : 1)
      height(range?.tail ?? 0)
      height(range?.head ?? 0)
    },
    rest: (bytes) => {
      tail = bytes
    },
  })
  return tail === undefined ? head.subarray(0, at) : Buffer.concat([head.subarray(0, at), tail])
}

interface FrameReader {
  readonly tag: number
  u8(): number
  u32(): number
  height(): number
  range(): Range | null
  rest(): Uint8Array
  end(): void
}

function readFrame(bytes: Uint8Array): FrameReader {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const take = (size: number): number => {
    if (at + size > view.length) throw frameError('frame too short')
    at += size
    return at - size
  }
  const u8 = (): number => view.readUInt8(take(1))
  const height = (): number => {
    const value = view.readUIntBE(take(6), 6)
    if (!isInt(value)) throw frameError('a height that no block can have')
    return value
  }
  return {
    tag: u8(),
    u8,
    u32: () => view.readUInt32BE(take(4)),
    height,
    range: () => {
      const present = u8()
      const range = { tail: height(), head: height() }
      if (present > 1 || (present === 1 && range.tail > range.head)) {
        throw frameError('not a range of heights')
      }
      return present === 1 ? range : null
    },
    rest: () => bytes.subarray(take(view.length - at)),
    end: () => {
      if (at !== view.length) throw frameError('frame too long')
    },
  }
}
