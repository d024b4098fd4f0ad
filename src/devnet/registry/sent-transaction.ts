/** Transactions to the registry that went through, and what they cost on the real chain. */
import { type Hex, hexToBytes, size } from 'viem'

/** A transaction that went through, beside the one that the node ran for it. */
export interface SentTransaction {
  readonly hash: string
  /** Of the node's own transaction. */
  readonly inner: string
  readonly gasUsed: string
  readonly gasPrice: string
  readonly fields: Readonly<Record<string, string>>
}

/** Gas that calldata costs before anything runs; the real chain's registry takes no more. */
export function intrinsicGas(data: Hex): bigint {
  const zeros = hexToBytes(data).reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0)
  return 21_000n + 4n * BigInt(zeros) + 16n * BigInt(size(data) - zeros)
}

/** What the real chain charges: all of the limit after a failure, otherwise at least half of it. */
export function chargedGas(data: Hex, limit: bigint, succeeded: boolean): bigint {
  if (!succeeded) return limit
  const intrinsic = intrinsicGas(data)
  const half = limit / 2n
  return intrinsic > half ? intrinsic : half
}
