/**
 * Random numbers that are the same on every machine for the same seed (sfc32 seeded by SHA-256), so
 * that generated chains, faults and kill times can be repeated from a printed seed.
 */
import { createHash } from 'node:crypto'

export interface SeededRandom {
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number
  bytes(length: number): Buffer
  /** 0x-prefixed lower-case hex of `length` random bytes. */
  hex(length: number): `0x${string}`
  pick<T>(list: readonly T[]): T
}

/** A generator of its own for each seed text. */
export function createSeededRandom(seed: string): SeededRandom {
  const next = sfc32(createHash('sha256').update(seed).digest())
  const int = (below: number): number => next() % below
  const bytes = (length: number): Buffer => {
    const words = Buffer.alloc(Math.ceil(length / 4) * 4)
    for (let at = 0; at < words.length; at += 4) words.writeUInt32LE(next(), at)
    return words.subarray(0, length)
  }
  return {
    int,
    bytes,
    hex: (length) => `0x${bytes(length).toString('hex')}`,
    pick: (list) => {
      const chosen = list[int(list.length)]
      if (chosen === undefined) throw new Error('cannot pick from an empty list')
      return chosen
    },
  }
}

function sfc32(seed: Buffer): () => number {
  let a = seed.readUInt32LE(0)
  let b = seed.readUInt32LE(4)
  let c = seed.readUInt32LE(8)
  let counter = 1
  const next = (): number => {
    const result = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + result) | 0
    return result >>> 0
  }
  for (let round = 0; round < 12; round++) next()
  return next
}
