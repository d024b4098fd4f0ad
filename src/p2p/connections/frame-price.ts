/**
 * Looks at the yamux frames of a connection as they arrive: what each costs us, and whether one is
 * longer than any may be. A million small frames are far more work than the few bytes they hold: a
 * ping wants an encrypted answer (20 microseconds), a new stream is negotiated (up to a millisecond).
 * And yamux keeps a frame until it is whole, however long it says it is.
 */

/** Bytes before the content of a frame (yamux specification, "Framing"). */
const headerBytes = 12
const types = { data: 0, ping: 2 } as const
const synFlag = 1

/** What a frame costs beside its bytes, in bytes. */
export const framePrices: Readonly<Record<'any' | 'ping' | 'newStream', number>> = {
  any: 256,
  ping: 8 * 1024,
  newStream: 32 * 1024,
}

/**
 * Takes the next bytes of one connection; returns what they cost, in bytes, or null when a frame
 * says that it holds more than `maxContentBytes`. Keeps a few numbers, never the bytes.
 */
export function createFramePrice(maxContentBytes: number): (chunk: Uint8Array) => number | null {
  const header = new DataView(new ArrayBuffer(headerBytes))
  let filled = 0
  let contentLeft = 0

  const priceOfHeader = (): number => {
    const type = header.getUint8(1)
    if (type === types.data) contentLeft = header.getUint32(8)
    if (type === types.ping) return framePrices.ping
    return (header.getUint16(2) & synFlag) !== 0 ? framePrices.newStream : framePrices.any
  }

  return (chunk) => {
    let cost = chunk.byteLength
    for (let at = 0; ; ) {
      const content = Math.min(contentLeft, chunk.byteLength - at)
      contentLeft -= content
      at += content
      if (at === chunk.byteLength) return cost
      header.setUint8(filled, chunk[at] ?? 0)
      at += 1
      filled = (filled + 1) % headerBytes
      if (filled > 0) continue
      cost += priceOfHeader()
      if (contentLeft > maxContentBytes) return null
    }
  }
}
