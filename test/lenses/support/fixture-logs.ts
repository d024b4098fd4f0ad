/** Documents of the logs of recorded blocks, as a View's query selects them. */
import { readFileSync } from 'node:fs'
import type { Abi, Hex } from 'viem'

interface RecordedLog {
  readonly address: Hex
  readonly topics: readonly [Hex, ...Hex[]]
  readonly data: Hex
  readonly blockNumber: Hex
}

interface RecordedReceipt {
  readonly from: Hex
  readonly to: Hex | null
  readonly transactionHash: Hex
  readonly logs: readonly RecordedLog[]
}

/** What `Log { address topics data blockNumber transaction { hash from to } }` answers. */
export interface LogDocument extends Omit<RecordedLog, 'blockNumber'> {
  readonly blockNumber: number
  readonly transaction: { readonly hash: Hex; readonly from: Hex; readonly to: Hex | null }
}

/** Every log of the recorded development chain: transfers and approvals of one ERC-20, and others. */
export function recordedLogs(): LogDocument[] {
  const { blocks } = readJson('test/fixtures/chain/development.json') as {
    readonly blocks: readonly { readonly receipts: readonly RecordedReceipt[] }[]
  }
  return blocks.flatMap(({ receipts }) => receipts.flatMap(toDocuments))
}

/** The ABI of that ERC-20. */
export function tokenAbi(): Abi {
  const { Token } = readJson('src/devnet/token.json') as { readonly Token: { readonly abi: Abi } }
  return Token.abi
}

function toDocuments({ transactionHash, from, to, logs }: RecordedReceipt): LogDocument[] {
  return logs.map(({ address, topics, data, blockNumber }) => ({
    address,
    topics,
    data,
    blockNumber: Number(blockNumber),
    transaction: { hash: transactionHash, from, to },
  }))
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'))
}
