/**
 * Reusable buffers in which responses are assembled. A full block is a megabyte, and fresh buffers
 * would pile up until the garbage collector runs.
 */

export interface ResponseBuffers {
  /** A buffer of at least this size; its content is undefined. */
  borrow(minBytes: number): Buffer
  /** A buffer of at least twice the size that starts with the first `used` bytes of this one. */
  grow(buffer: Buffer, used: number): Buffer
  /** Returns a buffer to the pool; the caller must not use it afterwards. */
  release(buffer: Buffer): void
}

const leastBytes = 64 * 1024
/** Larger buffers are rare and not kept. */
const mostBytes = 4 * 1024 * 1024

/** Keeps at most `maxFree` unused buffers. */
export function createResponseBuffers(maxFree: number): ResponseBuffers {
  const free: Buffer[] = []
  const take = (minBytes: number): Buffer => {
    const found = free.findIndex((buffer) => buffer.length >= minBytes)
    const [buffer] = found === -1 ? [] : free.splice(found, 1)
    return buffer ?? Buffer.allocUnsafeSlow(Math.max(leastBytes, minBytes))
  }
  const give = (buffer: Buffer): void => {
    if (free.length < maxFree && buffer.length <= mostBytes) free.push(buffer)
  }
  return {
    borrow: take,
    release: give,
    grow(buffer, used) {
      const larger = take(buffer.length * 2)
      buffer.copy(larger, 0, 0, used)
      give(buffer)
      return larger
    },
  }
}
