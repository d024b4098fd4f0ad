/** What a signed transaction says, and whether it is one that registers a View. */
import {
  encodeFunctionData,
  type Hex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
  toHex,
} from 'viem'
import { registryAbi, registryAddress } from './abi.ts'
import type { ReadyTransaction } from './send-once.ts'

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
  /** The most that it may cost, without its value. */
  readonly maxFee: bigint
  readonly value: bigint
  /** How `eth_getTransactionByHash` shows it. */
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
    // A tip above the fee is refused as no transaction.
    const price = maxFeePerGas === null ? gasPrice : maxPriorityFeePerGas
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
      maxFee: gas * (maxFeePerGas ?? gasPrice),
      value,
      fields,
    }
  } catch {
    return null
  }
}

/** Calldata that registers a View. */
export function registerCall(wire: Uint8Array): Hex {
  return encodeFunctionData({ abi: registryAbi, functionName: 'register', args: [toHex(wire)] })
}

interface Registering {
  readonly creator: string
  readonly chainId: number
  readonly wire: Uint8Array
}

/** What of a transaction is not as somebody says of it, for a message; nothing where it is all so. */
export async function transactionFaults(
  { hash, raw }: ReadyTransaction,
  { creator, chainId, wire }: Registering,
): Promise<readonly string[]> {
  const signed = await readSigned(raw)
  if (signed === null) return ['no signature']
  const holds: Readonly<Record<string, boolean>> = {
    'another hash': signed.hash === hash.toLowerCase(),
    'another creator': signed.from === creator.toLowerCase(),
    'another receiver': signed.to === registryAddress,
    'another chain ID': signed.chainId === chainId,
    'another View': signed.data === registerCall(wire),
    'coins with it': signed.value === 0n,
  }
  return Object.keys(holds).filter((fault) => holds[fault] !== true)
}
