/**
 * Checks that a node's response is one complete block: it contains nothing of another block or
 * transaction, and no receipt lacks the logs that its bloom filter promises. Values themselves are
 * parsed, and rejected, where documents are made from them.
 */
import { ServiceError } from '../errors.ts'
import type { RpcBlock, RpcLog, RpcReceipt, RpcTransaction } from '../primitives/rpc-block.ts'
import { createBloomUnion } from './logs-bloom.ts'

/** A block whose parts are consistent. */
export interface CheckedBlock extends RpcBlock {
  readonly hash: string
  readonly parentHash: string
  readonly transactions: readonly CheckedTransaction[]
}

interface CheckedTransaction extends RpcTransaction {
  readonly hash: string
}

const hashPattern = /^0x[0-9a-f]{64}$/i
const quantityPattern = /^0x[0-9a-f]{1,64}$/i

/** The block at `number` with whole transactions. Throws CHAIN_ANSWER_MALFORMED. */
export function checkBlock(response: unknown, number: number): CheckedBlock {
  const block = checkHeader(response, number)
  const { transactions } = block
  if (!Array.isArray(transactions)) throw malformed(number, 'a block without its transactions')
  transactions.forEach((transaction: unknown, index) => {
    const problem = transactionProblem(transaction, index, block.hash)
    if (problem !== null) throw malformed(number, `transaction ${index} ${problem}`)
  })
  return { ...block, transactions: transactions as CheckedTransaction[] }
}

/** The header of the block at `number`; its transactions are not checked. Throws CHAIN_ANSWER_MALFORMED. */
export function checkHeader(
  response: unknown,
  number: number | 'latest',
): RpcBlock & { readonly hash: string; readonly parentHash: string; readonly number: string } {
  if (typeof response !== 'object' || response === null) throw malformed(number, 'something else')
  const block = response as RpcBlock
  const { hash, parentHash, number: quantity } = block
  if (!isHash(hash)) throw malformed(number, 'a block without a hash')
  if (!isHash(parentHash)) throw malformed(number, 'a block without a parent hash')
  const found = toInteger(quantity)
  if (typeof quantity !== 'string' || Number.isNaN(found))
    throw malformed(number, 'a block without a number')
  if (number !== 'latest' && found !== number) throw malformed(number, `block ${found}`)
  return { ...block, hash, parentHash, number: quantity }
}

function transactionProblem(value: unknown, index: number, blockHash: string): string | null {
  if (typeof value !== 'object' || value === null) return 'is not whole'
  const transaction = value as RpcTransaction
  if (!isHash(transaction.hash)) return 'has no hash'
  if (!isIndex(transaction.transactionIndex, index)) return 'has another index'
  return isSame(transaction.blockHash, blockHash) ? null : 'is of another block'
}

/** Why `response` is not the receipt of the block's transaction at `index`; null when it is. */
export function receiptProblem(
  response: unknown,
  block: CheckedBlock,
  index: number,
): string | null {
  if (response === null || response === undefined) return 'is missing'
  const receipt = response as RpcReceipt
  const hash = block.transactions[index]?.hash
  if (!isSame(receipt.blockHash, block.hash)) return 'is of another block'
  if (!isSame(receipt.transactionHash, hash)) return 'is of another transaction'
  if (!isIndex(receipt.transactionIndex, index)) return 'has another index'
  const { logs } = receipt
  if (!Array.isArray(logs)) return 'has no list of logs'
  const isOurs = (log: RpcLog): boolean =>
    isSame(log?.transactionHash, hash) && isSame(log?.blockHash, block.hash)
  return logs.every(isOurs) ? null : 'has a log of another transaction'
}

/**
 * Throws CHAIN_BLOCK_INCOMPLETE where receipts that are each valid cannot be complete: their bloom
 * filters do not add up to the header's, one with a filter has no logs, or log indexes are out of
 * order.
 */
export function checkReceipts(block: CheckedBlock, receipts: readonly RpcReceipt[]): void {
  const union = createBloomUnion()
  let lastLog = -1
  receipts.forEach((receipt, index) => {
    const kind = union.add(receipt.logsBloom)
    if (kind === 'malformed') throw incomplete(block, `receipt ${index} has no filter`)
    if (kind === 'set' && receipt.logs?.length === 0)
      throw incomplete(block, `receipt ${index} has lost its logs`)
    for (const log of receipt.logs ?? []) {
      const logIndex = toInteger(log.logIndex)
      if (!(logIndex > lastLog)) throw incomplete(block, `receipt ${index} has logs out of order`)
      lastLog = logIndex
    }
  })
  if (!union.equals(block.logsBloom))
    throw incomplete(block, 'the filters of its receipts do not add up to its own')
}

/** The error for an incomplete block. */
export function incomplete(block: CheckedBlock, what: string): ServiceError {
  return new ServiceError('CHAIN_BLOCK_INCOMPLETE', `block ${Number(block.number)}: ${what}`, {
    facts: { height: Number(block.number), hash: block.hash, problem: what },
  })
}

function malformed(number: number | 'latest', what: string): ServiceError {
  return new ServiceError(
    'CHAIN_ANSWER_MALFORMED',
    `asked for block ${number}, the node answered ${what}`,
    { facts: { height: number } },
  )
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && hashPattern.test(value)
}

function isSame(found: unknown, wanted: string | undefined): boolean {
  if (typeof found !== 'string' || wanted === undefined) return false
  return found === wanted || found.toLowerCase() === wanted.toLowerCase()
}

function isIndex(found: unknown, index: number): boolean {
  return toInteger(found) === index
}

/** A quantity in hex as a number; NaN for all else, as converting an object may throw. */
export function toInteger(value: unknown): number {
  const isQuantity = typeof value === 'string' && quantityPattern.test(value)
  const number = isQuantity ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : Number.NaN
}
