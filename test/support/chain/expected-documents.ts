/**
 * What a chain's documents look like in GraphQL answers, derived from what the node answered and from
 * nothing of the service: hex in lower case as it came, receipts merged, links as in the schema.
 */
import type { RpcLog, RpcReceipt, RpcTransaction } from '../../../src/primitives/rpc-block.ts'
import type { ChainBlock } from './block-factory.ts'

/** Values by field name. */
export type Values = Readonly<Record<string, unknown>>

export interface ExpectedBlock extends Values {
  readonly number: number
  readonly hash: string
  readonly transactions: readonly ExpectedTransaction[]
}

export interface ExpectedTransaction extends Values {
  readonly hash: string
  readonly blockNumber: number
  readonly transactionIndex: number
  readonly block: ExpectedBlock
  readonly logs: readonly ExpectedLog[]
  readonly accessList: readonly ExpectedEntry[]
}

export interface ExpectedLog extends Values {
  readonly logIndex: number
  readonly address: string
  readonly topics: readonly string[]
  readonly block: ExpectedBlock
  readonly transaction: ExpectedTransaction
}

export interface ExpectedEntry extends Values {
  readonly address: string
  readonly transaction: ExpectedTransaction
}

/** Every document of a chain, in chain order. */
interface ExpectedDocuments {
  readonly blocks: readonly ExpectedBlock[]
  readonly transactions: readonly ExpectedTransaction[]
  readonly logs: readonly ExpectedLog[]
  readonly entries: readonly ExpectedEntry[]
}

/** The documents of these blocks. */
export function expectedDocuments(chain: readonly ChainBlock[]): ExpectedDocuments {
  const blocks = chain.map(toBlock)
  const transactions = blocks.flatMap((block) => block.transactions)
  return {
    blocks,
    transactions,
    logs: transactions.flatMap(({ logs }) => logs),
    entries: transactions.flatMap(({ accessList }) => accessList),
  }
}

/** The named values, the names separated by spaces, in their order. */
export function pick(from: Values, names: string): Values {
  return Object.fromEntries(names.split(' ').map((name) => [name, from[name]]))
}

function toBlock({ block: rpc, receipts, number, hash }: ChainBlock): ExpectedBlock {
  const transactions: ExpectedTransaction[] = []
  const block = {
    ...(rpc as Values),
    _docID: `block-${hash}`,
    number,
    hash,
    transactions,
  }
  for (const [index, transaction] of (rpc.transactions ?? []).entries()) {
    const receipt = receipts[index]
    if (typeof transaction === 'string' || receipt === undefined) throw new Error('whole blocks')
    transactions.push(toTransaction(block, index, transaction, receipt))
  }
  return block
}

function toTransaction(
  block: ExpectedBlock,
  index: number,
  rpc: RpcTransaction,
  receipt: RpcReceipt,
): ExpectedTransaction {
  const logs: ExpectedLog[] = []
  const accessList: ExpectedEntry[] = []
  const transaction = {
    maxFeePerGas: null,
    maxPriorityFeePerGas: null,
    ...(rpc as Values),
    ...pick(receipt as Values, 'gasUsed cumulativeGasUsed effectiveGasPrice'),
    _docID: `tx-${rpc.hash}`,
    hash: String(rpc.hash),
    blockNumber: block.number,
    transactionIndex: index,
    status: receipt.status === '0x1',
    block_id: block['_docID'],
    _blockID: block['_docID'],
    block,
    logs,
    accessList,
  }
  for (const log of receipt.logs ?? []) logs.push(toLog(transaction, log))
  for (const [place, entry] of (rpc.accessList ?? []).entries()) {
    accessList.push({
      ...(entry as Values),
      _docID: `entry-${rpc.hash}-${place}`,
      address: String(entry.address),
      blockNumber: block.number,
      transaction_id: transaction._docID,
      _transactionID: transaction._docID,
      transaction,
    })
  }
  return transaction
}

function toLog(transaction: ExpectedTransaction, rpc: RpcLog): ExpectedLog {
  const { block } = transaction
  const logIndex = Number(rpc.logIndex)
  return {
    ...(rpc as Values),
    _docID: `log-${block.hash}-${logIndex}`,
    address: String(rpc.address),
    topics: rpc.topics ?? [],
    blockNumber: block.number,
    transactionIndex: transaction.transactionIndex,
    logIndex,
    removed: 'false',
    block_id: block['_docID'],
    transaction_id: transaction['_docID'],
    block,
    transaction,
  }
}
