/**
 * Watches the bytes of an incoming gossip stream as they arrive. gossipsub says nothing about who
 * sent a frame it could not read, and stops listening to a peer whose frame was too long while the
 * connection stays; so the room looks at the outer shape itself: length-prefixed frames holding a
 * protobuf message whose field 2 are the published messages (libp2p pubsub specification, "The RPC").
 */
import type { Fault } from '../limits/fault.ts'

export interface RpcMeter {
  /** Takes the next bytes; returns the faults found in them. */
  push(chunk: Uint8Array): Fault[]
  /** True when where a frame ends can no longer be told; nothing is looked at from then on. */
  lost(): boolean
}

export interface RpcMeterOptions {
  /** Longest frame gossipsub reads. */
  readonly maxFrameBytes: number
  /** Longest published message, its envelope included. */
  readonly maxMessageBytes: number
}

type State = 'frame length' | 'tag' | 'field length' | 'varint' | 'skip'

const publishField = 2
const maxVarintShift = 49

/** Keeps a few numbers, never the bytes. */
export function createRpcMeter(options: RpcMeterOptions): RpcMeter {
  let state: State = 'frame length'
  let frameLeft = 0
  let skip = 0
  let field = 0
  let value = 0
  let shift = 0
  let lost = false

  const restart = (next: State): void => {
    state = next
    value = 0
    shift = 0
  }

  const frameStarts = (): Fault | null => {
    if (value > options.maxFrameBytes) {
      lost = true
      return 'oversize message'
    }
    // gossipsub takes the length for as long as its shortest form, and reads on from there.
    if (shift > 7 && value < 2 ** (shift - 7)) {
      lost = true
      return 'malformed message'
    }
    frameLeft = value
    restart(value === 0 ? 'frame length' : 'tag')
    return null
  }

  const skipBytes = (count: number): void => {
    skip = count
    restart('skip')
    if (count === 0) fieldEnds()
  }

  const fieldEnds = (): void => restart(frameLeft === 0 ? 'frame length' : 'tag')

  const malformed = (): Fault => {
    skipBytes(frameLeft)
    return 'malformed message'
  }

  const tagEnds = (): Fault | null => {
    const wire = value & 7
    field = Math.floor(value / 8)
    if (field === 0 || wire === 3 || wire === 4 || wire > 5) return malformed()
    if (wire === 0) restart('varint')
    else if (wire === 2) restart('field length')
    else return skipFixed(wire === 1 ? 8 : 4)
    return frameLeft === 0 ? malformed() : null
  }

  const skipFixed = (count: number): Fault | null => {
    if (count > frameLeft) return malformed()
    skipBytes(count)
    return null
  }

  const fieldStarts = (): Fault | null => {
    if (value > frameLeft) return malformed()
    const oversize = field === publishField && value > options.maxMessageBytes
    skipBytes(value)
    return oversize ? 'oversize message' : null
  }

  const varintEnds = (): Fault | null => {
    if (state === 'frame length') return frameStarts()
    if (state === 'tag') return tagEnds()
    if (state === 'field length') return fieldStarts()
    fieldEnds()
    return null
  }

  const byte = (octet: number): Fault | null => {
    if (state !== 'frame length') frameLeft -= 1
    value += (octet & 0x7f) * 2 ** shift
    shift += 7
    if (octet < 0x80) return varintEnds()
    if (shift <= maxVarintShift && (state === 'frame length' || frameLeft > 0)) return null
    if (state !== 'frame length') return malformed()
    lost = true
    return 'malformed message'
  }

  return {
    lost: () => lost,
    push: (chunk) => {
      const faults: Fault[] = []
      let at = 0
      while (at < chunk.length && !lost) {
        if (state === 'skip') {
          const count = Math.min(skip, chunk.length - at)
          at += count
          skip -= count
          frameLeft -= count
          if (skip === 0) fieldEnds()
          continue
        }
        const fault = byte(chunk[at] ?? 0)
        if (fault !== null) faults.push(fault)
        at += 1
      }
      return faults
    },
  }
}
