/**
 * Memory in which answers are put together. It is used again: a full block is a megabyte, and in
 * fresh buffers as many of them wait for the garbage collector as it has not seen yet.
 */

export interface AnswerBuffers {
  /** A buffer of at least this size, with whatever is in it. */
  take(minBytes: number): Buffer
  /** The buffer with its first `used` bytes, at least twice its size. */
  grow(buffer: Buffer, used: number): Buffer
  /** Gives a buffer back; nobody may look at it any more. */
  give(buffer: Buffer): void
}

const leastBytes = 64 * 1024
/** Larger ones are rare, and not kept. */
const mostBytes = 4 * 1024 * 1024

/** Keeps at most `maxFree` buffers that nobody uses. */
export function createAnswerBuffers(maxFree: number): AnswerBuffers {
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
    take,
    give,
    grow(buffer, used) {
      const larger = take(buffer.length * 2)
      buffer.copy(larger, 0, 0, used)
      give(buffer)
      return larger
    },
  }
}
