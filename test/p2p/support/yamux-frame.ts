/** Bytes of yamux frames, for tests that speak to the muxer below libp2p (yamux specification, "Framing"). */

const types = { data: 0, 'window update': 1, ping: 2, 'go away': 3 } as const

interface YamuxHeader {
  readonly type: keyof typeof types
  /** 1 opens a stream or asks, 2 answers, 4 ends, 8 resets. */
  readonly flags: number
  readonly stream: number
  /** Bytes of data, of a window update, or the number of a ping. */
  readonly length: number
}

export function yamuxFrame(header: YamuxHeader, content: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt8(types[header.type], 1)
  bytes.writeUInt16BE(header.flags, 2)
  bytes.writeUInt32BE(header.stream, 4)
  bytes.writeUInt32BE(header.length, 8)
  return Buffer.concat([bytes, content])
}
