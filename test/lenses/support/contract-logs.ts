/** What published contracts logged on a real node, and how they were called; `record-contract-logs.ts` writes it. */
import { readFileSync } from 'node:fs'
import type { Abi, Hex } from 'viem'
import type { LogDocument } from './fixture-logs.ts'

/** A contract with the part of its ABI that was logged or called. */
export interface RecordedContract {
  readonly name: string
  /** In lower case. */
  readonly address: Hex
  readonly abi: Abi
}

/** What `Transaction { hash from to input blockNumber }` answers. */
export interface CallDocument {
  readonly hash: Hex
  readonly from: Hex
  readonly to: Hex
  readonly input: Hex
  readonly blockNumber: number
}

export interface ContractLogs {
  /** The packages whose bytecode was deployed, with their versions. */
  readonly packages: readonly string[]
  readonly contracts: readonly RecordedContract[]
  readonly logs: readonly LogDocument[]
  readonly transactions: readonly CallDocument[]
}

export function contractLogs(): ContractLogs {
  const path = new URL('../../fixtures/lenses/contract-logs.json', import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')) as ContractLogs
}
