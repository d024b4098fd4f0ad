/** Signed transactions to the registry: what is read of them, and what they cost on the real chain. */
import {
  type Hex,
  hexToBytes,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  size,
  type TransactionSerialized,
  toHex,
} from 'viem'

/** A transaction as its sender signed it. */
export interface SignedTransaction {
  readonly hash: Hex
  /** Lower-case, as is `to`. */
  readonly from: string
  readonly to: string | null
  readonly data: Hex
  readonly chainId: number | null
  readonly nonce: number
  readonly gas: bigint
  /** What a unit of gas costs, without a base fee. */
  readonly gasPrice: bigint
  readonly value: bigint
  /** How `eth_getTransactionByHash` shows it. */
  readonly fields: Readonly<Record<string, string>>
}

/** A transaction that went through, beside the one that the node ran for it. */
export interface SentTransaction {
  readonly hash: string
  /** Of the node's own transaction. */
  readonly inner: string
  readonly gasUsed: string
  readonly gasPrice: string
  readonly fields: Readonly<Record<string, string>>
}

/** Reads a raw transaction; null where it is none, or its signature is not valid. */
export async function readSigned(raw: string): Promise<SignedTransaction | null> {
  try {
    const serialized = raw as TransactionSerialized
    const parsed = parseTransaction(serialized)
    const from = (
      await recoverTransactionAddress({ serializedTransaction: serialized })
    ).toLowerCase()
    const { to, data = '0x', chainId, nonce = 0, gas = 0n, value = 0n } = parsed
    const {
      maxFeePerGas = null,
      maxPriorityFeePerGas = 0n,
      gasPrice = 0n,
    } = {
      ...{ maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: undefined },
      ...parsed,
    }
    const price = maxFeePerGas === null ? gasPrice : least(maxFeePerGas, maxPriorityFeePerGas)
    const hash = keccak256(raw as Hex)
    const fields = {
      hash,
      nonce: toHex(nonce),
      gas: toHex(gas),
      gasPrice: toHex(price),
      type: { legacy: '0x0', eip2930: '0x1', eip1559: '0x2' }[String(parsed.type)] ?? '0x0',
    }
    return {
      hash,
      from,
      to: to?.toLowerCase() ?? null,
      data,
      chainId: chainId ?? null,
      nonce,
      gas,
      gasPrice: price,
      value,
      fields,
    }
  } catch {
    return null
  }
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

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
