/**
 * Four-byte fingerprints of indexed values: HalfSipHash-1-3, keyed by the store's random seed so
 * that no attacker can choose values that collide. https://www.aumasson.jp/siphash/siphash.pdf
 */
import type { TermKind } from '../../primitives/index-terms.ts'

const finalRounds = 3

/** The store's seed: two random 32-bit words. */
export type FingerprintSeed = readonly [low: number, high: number]

/** Part of what is stored in fingerprints: never renumber. */
const kindCodes: Readonly<Record<TermKind, number>> = {
  blockHash: 1,
  transactionHash: 2,
  from: 3,
  to: 4,
  logAddress: 5,
  topic: 6,
  cid: 7,
}

/** The fingerprint of a value of a kind, as an unsigned 32-bit number. */
export function fingerprint(seed: FingerprintSeed, kind: TermKind, value: Uint8Array): number {
  return halfSipHash(seed[0] ^ kindCodes[kind], seed[1], value)
}

/** The fingerprint of a value of a View's field: its position in the SDL. Their tables hold nothing else. */
export function rowFingerprint(seed: FingerprintSeed, field: number, value: Uint8Array): number {
  return halfSipHash(seed[0] ^ field, seed[1], value)
}

/** HalfSipHash-1-3 with a 32-bit result. */
export function halfSipHash(low: number, high: number, message: Uint8Array): number {
  let v0 = low
  let v1 = high
  let v2 = 0x6c796765 ^ low
  let v3 = 0x74656462 ^ high
  const words = message.length >>> 2
  const steps = words + 1 + finalRounds
  for (let step = 0; step < steps; step++) {
    let word = 0
    if (step < words) word = wordAt(message, step << 2)
    else if (step === words) word = tailWord(message, step << 2)
    else if (step === words + 1) v2 ^= 0xff
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
  }
  return (v1 ^ v3) >>> 0
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  )
}

/** What is left of the message, with its length in the highest byte. */
function tailWord(bytes: Uint8Array, at: number): number {
  let word = bytes.length << 24
  for (let shift = 0; at < bytes.length; at++, shift += 8) word |= (bytes[at] ?? 0) << shift
  return word
}
