/**
 * The 2,048-bit filters over logs that receipts and headers carry (Yellow Paper 4.3.1). A header's
 * filter is the OR of its receipts' filters, which shows when receipts are not those of the block.
 */

const bytes = 256
const hexLength = 2 + bytes * 2
const words = bytes / 4

/** Collects receipts' filters. */
interface BloomUnion {
  /** Adds one filter; returns whether it is well-formed, and whether it has a bit set. */
  add(bloom: unknown): 'empty' | 'set' | 'malformed'
  /** Whether the union so far is exactly `bloom`. */
  equals(bloom: unknown): boolean
}

export function createBloomUnion(): BloomUnion {
  const scratch = Buffer.alloc(bytes)
  const read = new Uint32Array(scratch.buffer, scratch.byteOffset, words)
  const union = new Uint32Array(words)

  const load = (bloom: unknown): boolean =>
    typeof bloom === 'string' &&
    bloom.length === hexLength &&
    bloom.startsWith('0x') &&
    scratch.write(bloom.slice(2), 'hex') === bytes

  return {
    add(bloom) {
      if (!load(bloom)) return 'malformed'
      let any = 0
      for (let index = 0; index < words; index++) {
        const word = read[index] ?? 0
        any |= word
        union[index] = (union[index] ?? 0) | word
      }
      return any === 0 ? 'empty' : 'set'
    },
    equals(bloom) {
      return load(bloom) && union.every((word, index) => word === read[index])
    },
  }
}
