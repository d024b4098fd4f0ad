/**
 * Cuts a stream of bytes into its frames, each after its length as an unsigned varint. What is not
 * admitted is skipped; a frame that arrives in pieces is put together in a buffer that grows with
 * what has arrived, whatever length it claims.
 */
import type { Fault } from '../limits/fault.ts'
import type { Holding } from '../limits/holdings.ts'

export interface FrameCutterParts {
  /** Whether a frame of this size may be read; asked when its length is known. */
  admit(size: number): boolean
  /** Where the memory for a frame in pieces is taken from. */
  holding(): Pick<Holding, 'add' | 'release'>
  /** A frame was skipped. */
  onDropped(): void
}

export interface FrameCutter {
  /** The frames that are complete with these bytes: views on them, or buffers of their own. */
  cut(chunk: Uint8Array): Uint8Array[]
  /** True between the first byte of a frame and its last. */
  isInFrame(): boolean
  /** Why it cannot be told where the next frame begins; null as long as it can. */
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
  readonly holding: Pick<Holding, 'add' | 'release'>
}

const smallestBuffer = 16 * 1024
const maxLengthBytes = 5

/** Longer frames than `maxFrameBytes` end it. */
export function createFrameCutter(maxFrameBytes: number, parts: FrameCutterParts): FrameCutter {
  const length = createLengthReader()
  let frame: Piecemeal | null = null
  let lost: Fault | null = null

  const skip = (piecemeal: Piecemeal): void => {
    piecemeal.buffer = null
    piecemeal.holding.release()
    parts.onDropped()
  }

  const begin = (size: number): Piecemeal | null => {
    if (size > maxFrameBytes) {
      lost = 'oversize message'
      return null
    }
    const piecemeal = { size, received: 0, buffer: new Uint8Array(), holding: parts.holding() }
    if (!parts.admit(size)) skip(piecemeal)
    return piecemeal
  }

  /** Takes a byte of a length; the frame that begins after it, if one does. */
  const lengthGoesOn = (octet: number): Piecemeal | null => {
    const size = length.read(octet)
    if (size === 'endless') lost = 'malformed message'
    return size === 'endless' || size === null || size === 0 ? null : begin(size)
  }

  /** Keeps a piece of a frame that goes on after it. */
  const keep = (piecemeal: Piecemeal, piece: Uint8Array): void => {
    if (piecemeal.buffer === null) return
    const { buffer, received, size, holding } = piecemeal
    const needed = received + piece.byteLength
    let large = buffer
    if (needed > buffer.byteLength) {
      const doubled = Math.max(smallestBuffer, needed, 2 * buffer.byteLength)
      large = new Uint8Array(Math.min(size, doubled))
      if (!holding.add(large.byteLength - buffer.byteLength)) {
        skip(piecemeal)
        return
      }
      large.set(buffer.subarray(0, received))
      piecemeal.buffer = large
    }
    large.set(piece, received)
  }

  /** Takes the next piece of the frame; returns the frame when that was its last, unless it is skipped. */
  const fill = (piecemeal: Piecemeal, piece: Uint8Array): Uint8Array | null => {
    const isWhole = piece.byteLength === piecemeal.size
    if (!isWhole) keep(piecemeal, piece)
    piecemeal.received += piece.byteLength
    if (piecemeal.received < piecemeal.size) return null
    frame = null
    piecemeal.holding.release()
    return isWhole && piecemeal.buffer !== null ? piece : piecemeal.buffer
  }

  return {
    isInFrame: () => frame !== null || length.isBegun(),
    lost: () => lost,
    end: () => frame?.holding.release(),
    cut: (chunk) => {
      const frames: Uint8Array[] = []
      let at = 0
      while (at < chunk.byteLength && lost === null) {
        if (frame === null) {
          frame = lengthGoesOn(chunk[at] ?? 0)
          at += 1
          continue
        }
        const piece = chunk.subarray(at, at + frame.size - frame.received)
        at += piece.byteLength
        const whole = fill(frame, piece)
        if (whole !== null) frames.push(whole)
      }
      return frames
    },
  }
}

/** Reads a varint byte by byte. */
function createLengthReader(): {
  /** Takes the next byte; the length when that was its last, null before. */
  read(octet: number): number | null | 'endless'
  isBegun(): boolean
} {
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
