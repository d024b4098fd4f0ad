/**
 * Cuts a stream of bytes into its frames, each after its length as an unsigned varint. What is not
 * admitted is skipped; a frame that arrives in pieces is put together in a buffer that grows with
 * what has arrived, whatever length it claims.
 */
import type { Reservation } from '../limits/budget.ts'
import type { Fault } from '../limits/fault.ts'

interface FrameCutterParts {
  /** Whether a frame of this size may be read; asked when its length is known. */
  admit(size: number): boolean
  /** Where the memory for a frame in pieces is taken from. */
  reservation(): Pick<Reservation, 'add' | 'release'>
  /** A frame was skipped. */
  onDropped(): void
}

export interface FrameCutter {
  /** The frames that are complete with these bytes: views on them, or buffers of their own. */
  cut(chunk: Uint8Array): Uint8Array[]
  /** True between the first byte of a frame and its last. */
  isInFrame(): boolean
  /** Why it is unknown where the next frame begins; null as long as it can. */
  lost(): Fault | null
  /** Gives the memory back. */
  end(): void
}

/** A frame of which not all has arrived. */
interface Piecemeal {
  readonly size: number
  received: number
  /** Null where the frame is skipped. */
  buffer: Uint8Array | null
  readonly reservation: Pick<Reservation, 'add' | 'release'>
}

const smallestBuffer = 16 * 1024
const maxLengthBytes = 5

interface State {
  readonly maxFrameBytes: number
  readonly parts: FrameCutterParts
  readonly length: LengthReader
  frame: Piecemeal | null
  lost: Fault | null
}

/** Longer frames than `maxFrameBytes` end it. */
export function createFrameCutter(maxFrameBytes: number, parts: FrameCutterParts): FrameCutter {
  const length = createLengthReader()
  const state: State = { maxFrameBytes, parts, length, frame: null, lost: null }
  return {
    isInFrame: () => state.frame !== null || length.isBegun(),
    lost: () => state.lost,
    end: () => state.frame?.reservation.release(),
    cut: (chunk) => cut(state, chunk),
  }
}

function cut(state: State, chunk: Uint8Array): Uint8Array[] {
  const frames: Uint8Array[] = []
  let at = 0
  while (at < chunk.byteLength && state.lost === null) {
    const { frame } = state
    if (frame === null) {
      state.frame = lengthGoesOn(state, chunk[at] ?? 0)
      at += 1
      continue
    }
    const piece = chunk.subarray(at, at + frame.size - frame.received)
    at += piece.byteLength
    const whole = fill(state, frame, piece)
    if (whole !== null) frames.push(whole)
  }
  return frames
}

/** Takes a byte of a length; the frame that begins after it, if one does. */
function lengthGoesOn(state: State, octet: number): Piecemeal | null {
  const size = state.length.read(octet)
  if (size === 'endless') state.lost = 'malformed message'
  return size === 'endless' || size === null || size === 0 ? null : begin(state, size)
}

function begin(state: State, size: number): Piecemeal | null {
  const { maxFrameBytes, parts } = state
  if (size > maxFrameBytes) {
    state.lost = 'oversize message'
    return null
  }
  const reservation = parts.reservation()
  const piecemeal = { size, received: 0, buffer: new Uint8Array(), reservation }
  if (!parts.admit(size)) skip(parts, piecemeal)
  return piecemeal
}

function skip({ onDropped }: FrameCutterParts, piecemeal: Piecemeal): void {
  piecemeal.buffer = null
  piecemeal.reservation.release()
  onDropped()
}

/** Takes the next piece of the frame; returns the frame when that was its last, unless it is skipped. */
function fill(state: State, piecemeal: Piecemeal, piece: Uint8Array): Uint8Array | null {
  const isWhole = piece.byteLength === piecemeal.size
  if (!isWhole) keep(state.parts, piecemeal, piece)
  piecemeal.received += piece.byteLength
  if (piecemeal.received < piecemeal.size) return null
  state.frame = null
  piecemeal.reservation.release()
  return isWhole && piecemeal.buffer !== null ? piece : piecemeal.buffer
}

/** Keeps a piece of a frame that goes on after it. */
function keep(parts: FrameCutterParts, piecemeal: Piecemeal, piece: Uint8Array): void {
  if (piecemeal.buffer === null) return
  const { buffer, received, size, reservation } = piecemeal
  const needed = received + piece.byteLength
  let large = buffer
  if (needed > buffer.byteLength) {
    const doubled = Math.max(smallestBuffer, needed, 2 * buffer.byteLength)
    large = new Uint8Array(Math.min(size, doubled))
    if (!reservation.add(large.byteLength - buffer.byteLength)) {
      skip(parts, piecemeal)
      return
    }
    large.set(buffer.subarray(0, received))
    piecemeal.buffer = large
  }
  large.set(piece, received)
}

interface LengthReader {
  /** Takes the next byte; the length when that was its last, null before. */
  read(octet: number): number | null | 'endless'
  isBegun(): boolean
}

/** Reads a varint byte by byte. */
function createLengthReader(): LengthReader {
  let value = 0
  let octets = 0
  return {
    isBegun: () => octets > 0,
    read: (octet) => {
      value += (octet & 0x7f) * 2 ** (7 * octets)
      octets += 1
      if (octet >= 0x80) return octets === maxLengthBytes ? 'endless' : null
      const length = value
      value = 0
      octets = 0
      return length
    },
  }
}
