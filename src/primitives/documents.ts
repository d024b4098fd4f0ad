/**
 * From a block and its receipts, as a node answers them, to documents. What clients answer
 * differently is made equal here, so that Generators beside different clients agree on the bytes.
 */
import { maxTimestamp } from './bounds.ts'
import type { CollectionName, Section, Value } from './collections.ts'
import { docIDs } from './doc-id.ts'
import type {
  RpcAccessListEntry,
  RpcBlock,
  RpcLog,
  RpcReceipt,
  RpcTransaction,
} from './rpc-block.ts'
import {
  address,
  childList,
  data,
  hash,
  hashes,
  integer,
  malformed,
  type Place,
  quantity,
  required,
} from './rpc-value.ts'

/** A document between being built and being encoded. */
export interface Document {
  readonly collection: CollectionName
  readonly docID: string
  /** In table order, without unsigned fields and relations. */
  readonly values: readonly Value[]
}

/** All documents of one block, and what the block's body needs beside them. */
export interface BlockDocuments {
  readonly network: string
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Seconds since 1970. */
  readonly timestamp: number
  /** Minimal hex, or null where the node does not answer it. */
  readonly totalDifficulty: string | null
  readonly documents: Readonly<Record<Section, readonly Document[]>>
  /** How many of the logs, in order, belong to each transaction. */
  readonly logsPerTransaction: readonly number[]
  readonly entriesPerTransaction: readonly number[]
}

interface Building {
  readonly blockHash: string
  readonly number: number
  readonly transactions: Document[]
  readonly entries: Document[]
  readonly logs: Document[]
  readonly logsPerTransaction: number[]
  readonly entriesPerTransaction: number[]
  readonly hashes: Set<string>
  lastLogIndex: number
}

/**
 * The documents of a block. Receipts are in the order of the block's transactions, one for each.
 * @throws ServiceError `PRIMITIVES_BLOCK_MALFORMED` naming the field that cannot be read.
 */
export function toDocuments(
  network: string,
  block: RpcBlock,
  receipts: readonly RpcReceipt[],
): BlockDocuments {
  const place: Place = { part: 'block', index: -1 }
  const building = startBuilding(block, place)
  const transactions = childList<RpcTransaction>(block.transactions, place, 'transactions')
  const given = childList<RpcReceipt>(receipts, place, 'receipts')
  if (transactions.length !== given.length) throw malformed(place, 'receipts.length', given.length)
  for (const [index, transaction] of transactions.entries()) {
    addTransaction(building, transaction, given[index] ?? {}, index)
  }
  return {
    network,
    number: building.number,
    hash: building.blockHash,
    parentHash: required(hash(block.parentHash, place, 'parentHash'), place, 'parentHash'),
    timestamp: integer(block.timestamp, place, 'timestamp', maxTimestamp),
    totalDifficulty: quantity(block.totalDifficulty, place, 'totalDifficulty'),
    documents: {
      Block: [blockDocument(block, building, place)],
      Transaction: building.transactions,
      AccessListEntry: building.entries,
      Log: building.logs,
    },
    logsPerTransaction: building.logsPerTransaction,
    entriesPerTransaction: building.entriesPerTransaction,
  }
}

function startBuilding(block: RpcBlock, place: Place): Building {
  return {
    blockHash: required(hash(block.hash, place, 'hash'), place, 'hash'),
    number: integer(block.number, place, 'number'),
    transactions: [],
    entries: [],
    logs: [],
    logsPerTransaction: [],
    entriesPerTransaction: [],
    hashes: new Set(),
    lastLogIndex: -1,
  }
}

function blockDocument(block: RpcBlock, building: Building, at: Place): Document {
  return {
    collection: 'Block',
    docID: docIDs.block(building.blockHash),
    values: [
      building.blockHash,
      required(quantity(block.timestamp, at, 'timestamp'), at, 'timestamp'),
      required(hash(block.parentHash, at, 'parentHash'), at, 'parentHash'),
      quantity(block.difficulty, at, 'difficulty'),
      quantity(block.gasUsed, at, 'gasUsed'),
      quantity(block.gasLimit, at, 'gasLimit'),
      quantity(block.baseFeePerGas, at, 'baseFeePerGas'),
      data(block.nonce, at, 'nonce'),
      address(block.miner, at, 'miner'),
      quantity(block.size, at, 'size'),
      hash(block.stateRoot, at, 'stateRoot'),
      hash(block.sha3Uncles, at, 'sha3Uncles'),
      hash(block.transactionsRoot, at, 'transactionsRoot'),
      hash(block.receiptsRoot, at, 'receiptsRoot'),
      data(block.logsBloom, at, 'logsBloom'),
      data(block.extraData, at, 'extraData'),
      hash(block.mixHash, at, 'mixHash'),
      building.number,
      hashes(block.uncles, at, 'uncles'),
    ],
  }
}

function addTransaction(
  building: Building,
  transaction: RpcTransaction,
  receipt: RpcReceipt,
  index: number,
): void {
  const at: Place = { part: 'transaction', index }
  const transactionHash = required(hash(transaction.hash, at, 'hash'), at, 'hash')
  if (building.hashes.has(transactionHash)) throw malformed(at, 'hash', 'a repeated transaction')
  building.hashes.add(transactionHash)
  checkBlockHash(building, transaction.blockHash, at)
  checkIndex(transaction.transactionIndex, index, at)
  const receiptAt: Place = { part: 'receipt', index }
  checkReceipt(building, receipt, transactionHash, receiptAt)
  building.transactions.push(
    transactionDocument(building, transaction, receipt, transactionHash, at, receiptAt),
  )
  addEntries(building, transaction, transactionHash, at)
  addLogs(building, receipt, transactionHash, receiptAt)
}

function transactionDocument(
  building: Building,
  tx: RpcTransaction,
  receipt: RpcReceipt,
  transactionHash: string,
  at: Place,
  receiptAt: Place,
): Document {
  const type = quantity(tx.type, at, 'type') ?? '0x0'
  const v = quantity(tx.v ?? tx.yParity, at, 'v')
  const hasFeeCap = type !== '0x0' && type !== '0x1'
  const effectiveGasPrice = quantity(receipt.effectiveGasPrice, receiptAt, 'effectiveGasPrice')
  const gasPrice = quantity(tx.gasPrice, at, 'gasPrice') ?? effectiveGasPrice
  return {
    collection: 'Transaction',
    docID: docIDs.transaction(transactionHash),
    values: [
      transactionHash,
      building.blockHash,
      address(tx.from, at, 'from'),
      address(tx.to, at, 'to'),
      quantity(tx.value, at, 'value'),
      quantity(tx.gas, at, 'gas'),
      gasPrice,
      quantity(receipt.gasUsed, receiptAt, 'gasUsed'),
      hasFeeCap ? quantity(tx.maxFeePerGas, at, 'maxFeePerGas') : null,
      hasFeeCap ? quantity(tx.maxPriorityFeePerGas, at, 'maxPriorityFeePerGas') : null,
      data(tx.input, at, 'input'),
      quantity(tx.nonce, at, 'nonce'),
      type,
      type === '0x0' ? legacyChainId(tx, v, at) : quantity(tx.chainId, at, 'chainId'),
      v,
      quantity(tx.r, at, 'r'),
      quantity(tx.s, at, 's'),
      quantity(receipt.cumulativeGasUsed, receiptAt, 'cumulativeGasUsed'),
      effectiveGasPrice ?? gasPrice,
      building.number,
      at.index,
      status(receipt, receiptAt),
    ],
  }
}

/** A legacy transaction's chain ID stands in `v` since EIP-155 (35 + 2 * id + parity); before, it had none. */
function legacyChainId(tx: RpcTransaction, v: string | null, at: Place): string | null {
  const given = quantity(tx.chainId, at, 'chainId')
  if (v === '0x1b' || v === '0x1c') return null
  if (v === null || v.length < 4 || !/^0x[0-9a-f]+$/.test(v)) return given
  const number = BigInt(v)
  return number >= 35n ? `0x${((number - 35n) / 2n).toString(16)}` : given
}

/** Receipts before Byzantium have a state root in the place of a status (EIP-658). */
function status(receipt: RpcReceipt, at: Place): boolean | null {
  const given = quantity(receipt.status, at, 'status')
  if (given === null) return null
  if (given !== '0x0' && given !== '0x1') throw malformed(at, 'status', given)
  return given === '0x1'
}

function addEntries(
  building: Building,
  transaction: RpcTransaction,
  transactionHash: string,
  at: Place,
): void {
  const list = childList<RpcAccessListEntry>(transaction.accessList, at, 'accessList')
  building.entriesPerTransaction.push(list.length)
  for (const [index, entry] of list.entries()) {
    building.entries.push({
      collection: 'AccessListEntry',
      docID: docIDs.entry(transactionHash, index),
      values: [
        required(address(entry.address, at, 'accessList.address'), at, 'accessList.address'),
        building.number,
        hashes(entry.storageKeys, at, 'accessList.storageKeys'),
      ],
    })
  }
}

function addLogs(
  building: Building,
  receipt: RpcReceipt,
  transactionHash: string,
  at: Place,
): void {
  const list = childList<RpcLog>(receipt.logs, at, 'logs')
  building.logsPerTransaction.push(list.length)
  for (const log of list) building.logs.push(logDocument(building, log, transactionHash, at))
}

function logDocument(
  building: Building,
  log: RpcLog,
  transactionHash: string,
  at: Place,
): Document {
  const logIndex = integer(log.logIndex, at, 'logs.logIndex')
  if (logIndex <= building.lastLogIndex) throw malformed(at, 'logs.logIndex', log.logIndex)
  building.lastLogIndex = logIndex
  checkBlockHash(building, log.blockHash, at)
  checkIndex(log.transactionIndex, at.index, at)
  checkTransactionHash(log.transactionHash, transactionHash, at)
  return {
    collection: 'Log',
    docID: docIDs.log(building.blockHash, logIndex),
    values: [
      required(address(log.address, at, 'logs.address'), at, 'logs.address'),
      required(data(log.data, at, 'logs.data'), at, 'logs.data'),
      transactionHash,
      building.blockHash,
      log.removed === true ? 'true' : 'false',
      hashes(log.topics, at, 'logs.topics'),
      building.number,
      at.index,
      logIndex,
    ],
  }
}

function checkReceipt(
  building: Building,
  receipt: RpcReceipt,
  transactionHash: string,
  at: Place,
): void {
  checkBlockHash(building, receipt.blockHash, at)
  checkTransactionHash(receipt.transactionHash, transactionHash, at)
  checkIndex(receipt.transactionIndex, at.index, at)
}

function checkBlockHash(building: Building, given: unknown, at: Place): void {
  if (given === building.blockHash || given === undefined || given === null) return
  if (hash(given, at, 'blockHash') !== building.blockHash) throw malformed(at, 'blockHash', given)
}

function checkTransactionHash(given: unknown, expected: string, at: Place): void {
  if (given === expected || given === undefined || given === null) return
  if (hash(given, at, 'transactionHash') !== expected) throw malformed(at, 'transactionHash', given)
}

function checkIndex(given: unknown, expected: number, at: Place): void {
  if (given === undefined || given === null) return
  if (integer(given, at, 'transactionIndex') !== expected) {
    throw malformed(at, 'transactionIndex', given)
  }
}
