/**
 * From a block and its receipts, as a node returns them, to documents. Differences between clients are
 * normalised here, so that Generators beside different clients agree on the bytes.
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
  malformedRpcValue,
  type RpcLocation,
  required,
  rpcAddress,
  rpcData,
  rpcHash,
  rpcHashes,
  rpcInteger,
  rpcList,
  rpcQuantity,
} from './rpc-value.ts'

/** A document that is built and not yet encoded. */
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
  /** Minimal hex, or null where the node does not return it. */
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
  const location: RpcLocation = { part: 'block', index: -1 }
  const building = startBuilding(block, location)
  const transactions = rpcList<RpcTransaction>(block.transactions, location, 'transactions')
  const given = rpcList<RpcReceipt>(receipts, location, 'receipts')
  if (transactions.length !== given.length)
    throw malformedRpcValue(location, 'receipts.length', given.length)
  for (const [index, transaction] of transactions.entries()) {
    addTransaction(building, transaction, given[index] ?? {}, index)
  }
  return {
    network,
    number: building.number,
    hash: building.blockHash,
    parentHash: required(rpcHash(block.parentHash, location, 'parentHash'), location, 'parentHash'),
    timestamp: rpcInteger(block.timestamp, location, 'timestamp', maxTimestamp),
    totalDifficulty: rpcQuantity(block.totalDifficulty, location, 'totalDifficulty'),
    documents: {
      Block: [blockDocument(block, building, location)],
      Transaction: building.transactions,
      AccessListEntry: building.entries,
      Log: building.logs,
    },
    logsPerTransaction: building.logsPerTransaction,
    entriesPerTransaction: building.entriesPerTransaction,
  }
}

function startBuilding(block: RpcBlock, location: RpcLocation): Building {
  return {
    blockHash: required(rpcHash(block.hash, location, 'hash'), location, 'hash'),
    number: rpcInteger(block.number, location, 'number'),
    transactions: [],
    entries: [],
    logs: [],
    logsPerTransaction: [],
    entriesPerTransaction: [],
    hashes: new Set(),
    lastLogIndex: -1,
  }
}

function blockDocument(block: RpcBlock, building: Building, at: RpcLocation): Document {
  return {
    collection: 'Block',
    docID: docIDs.block(building.blockHash),
    values: [
      building.blockHash,
      required(rpcQuantity(block.timestamp, at, 'timestamp'), at, 'timestamp'),
      required(rpcHash(block.parentHash, at, 'parentHash'), at, 'parentHash'),
      rpcQuantity(block.difficulty, at, 'difficulty'),
      rpcQuantity(block.gasUsed, at, 'gasUsed'),
      rpcQuantity(block.gasLimit, at, 'gasLimit'),
      rpcQuantity(block.baseFeePerGas, at, 'baseFeePerGas'),
      rpcData(block.nonce, at, 'nonce'),
      rpcAddress(block.miner, at, 'miner'),
      rpcQuantity(block.size, at, 'size'),
      rpcHash(block.stateRoot, at, 'stateRoot'),
      rpcHash(block.sha3Uncles, at, 'sha3Uncles'),
      rpcHash(block.transactionsRoot, at, 'transactionsRoot'),
      rpcHash(block.receiptsRoot, at, 'receiptsRoot'),
      rpcData(block.logsBloom, at, 'logsBloom'),
      rpcData(block.extraData, at, 'extraData'),
      rpcHash(block.mixHash, at, 'mixHash'),
      building.number,
      rpcHashes(block.uncles, at, 'uncles'),
    ],
  }
}

function addTransaction(
  building: Building,
  transaction: RpcTransaction,
  receipt: RpcReceipt,
  index: number,
): void {
  const at: RpcLocation = { part: 'transaction', index }
  const transactionHash = required(rpcHash(transaction.hash, at, 'hash'), at, 'hash')
  if (building.hashes.has(transactionHash))
    throw malformedRpcValue(at, 'hash', 'a repeated transaction')
  building.hashes.add(transactionHash)
  checkBlockHash(building, transaction.blockHash, at)
  checkIndex(transaction.transactionIndex, index, at)
  const receiptAt: RpcLocation = { part: 'receipt', index }
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
  at: RpcLocation,
  receiptAt: RpcLocation,
): Document {
  const type = rpcQuantity(tx.type, at, 'type') ?? '0x0'
  const v = rpcQuantity(tx.v ?? tx.yParity, at, 'v')
  const hasFeeCap = type !== '0x0' && type !== '0x1'
  const effectiveGasPrice = rpcQuantity(receipt.effectiveGasPrice, receiptAt, 'effectiveGasPrice')
  const gasPrice = rpcQuantity(tx.gasPrice, at, 'gasPrice') ?? effectiveGasPrice
  return {
    collection: 'Transaction',
    docID: docIDs.transaction(transactionHash),
    values: [
      transactionHash,
      building.blockHash,
      rpcAddress(tx.from, at, 'from'),
      rpcAddress(tx.to, at, 'to'),
      rpcQuantity(tx.value, at, 'value'),
      rpcQuantity(tx.gas, at, 'gas'),
      gasPrice,
      rpcQuantity(receipt.gasUsed, receiptAt, 'gasUsed'),
      hasFeeCap ? rpcQuantity(tx.maxFeePerGas, at, 'maxFeePerGas') : null,
      hasFeeCap ? rpcQuantity(tx.maxPriorityFeePerGas, at, 'maxPriorityFeePerGas') : null,
      rpcData(tx.input, at, 'input'),
      rpcQuantity(tx.nonce, at, 'nonce'),
      type,
      type === '0x0' ? legacyChainId(tx, v, at) : rpcQuantity(tx.chainId, at, 'chainId'),
      v,
      rpcQuantity(tx.r, at, 'r'),
      rpcQuantity(tx.s, at, 's'),
      rpcQuantity(receipt.cumulativeGasUsed, receiptAt, 'cumulativeGasUsed'),
      effectiveGasPrice ?? gasPrice,
      building.number,
      at.index,
      status(receipt, receiptAt),
    ],
  }
}

/** A legacy transaction's chain ID stands in `v` since EIP-155 (35 + 2 * id + parity); before, it had none. */
function legacyChainId(tx: RpcTransaction, v: string | null, at: RpcLocation): string | null {
  const given = rpcQuantity(tx.chainId, at, 'chainId')
  if (v === '0x1b' || v === '0x1c') return null
  if (v === null || !/^0x[0-9a-f]+$/.test(v)) return given
  const number = BigInt(v)
  return number >= 35n ? `0x${((number - 35n) / 2n).toString(16)}` : given
}

/** Receipts before Byzantium have a state root in the place of a status (EIP-658). */
function status(receipt: RpcReceipt, at: RpcLocation): boolean | null {
  const given = rpcQuantity(receipt.status, at, 'status')
  if (given === null) return null
  if (given !== '0x0' && given !== '0x1') throw malformedRpcValue(at, 'status', given)
  return given === '0x1'
}

function addEntries(
  building: Building,
  transaction: RpcTransaction,
  transactionHash: string,
  at: RpcLocation,
): void {
  const list = rpcList<RpcAccessListEntry>(transaction.accessList, at, 'accessList')
  building.entriesPerTransaction.push(list.length)
  for (const [index, entry] of list.entries()) {
    building.entries.push({
      collection: 'AccessListEntry',
      docID: docIDs.entry(transactionHash, index),
      values: [
        required(rpcAddress(entry.address, at, 'accessList.address'), at, 'accessList.address'),
        building.number,
        rpcHashes(entry.storageKeys, at, 'accessList.storageKeys'),
      ],
    })
  }
}

function addLogs(
  building: Building,
  receipt: RpcReceipt,
  transactionHash: string,
  at: RpcLocation,
): void {
  const list = rpcList<RpcLog>(receipt.logs, at, 'logs')
  building.logsPerTransaction.push(list.length)
  for (const log of list) building.logs.push(logDocument(building, log, transactionHash, at))
}

function logDocument(
  building: Building,
  log: RpcLog,
  transactionHash: string,
  at: RpcLocation,
): Document {
  const logIndex = rpcInteger(log.logIndex, at, 'logs.logIndex')
  if (logIndex <= building.lastLogIndex) throw malformedRpcValue(at, 'logs.logIndex', log.logIndex)
  building.lastLogIndex = logIndex
  checkBlockHash(building, log.blockHash, at)
  checkIndex(log.transactionIndex, at.index, at)
  checkTransactionHash(log.transactionHash, transactionHash, at)
  return {
    collection: 'Log',
    docID: docIDs.log(building.blockHash, logIndex),
    values: [
      required(rpcAddress(log.address, at, 'logs.address'), at, 'logs.address'),
      required(rpcData(log.data, at, 'logs.data'), at, 'logs.data'),
      transactionHash,
      building.blockHash,
      log.removed === true ? 'true' : 'false',
      rpcHashes(log.topics, at, 'logs.topics'),
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
  at: RpcLocation,
): void {
  checkBlockHash(building, receipt.blockHash, at)
  checkTransactionHash(receipt.transactionHash, transactionHash, at)
  checkIndex(receipt.transactionIndex, at.index, at)
}

function checkBlockHash(building: Building, given: unknown, at: RpcLocation): void {
  if (given === building.blockHash || given === undefined || given === null) return
  if (rpcHash(given, at, 'blockHash') !== building.blockHash)
    throw malformedRpcValue(at, 'blockHash', given)
}

function checkTransactionHash(given: unknown, expected: string, at: RpcLocation): void {
  if (given === expected || given === undefined || given === null) return
  if (rpcHash(given, at, 'transactionHash') !== expected)
    throw malformedRpcValue(at, 'transactionHash', given)
}

function checkIndex(given: unknown, expected: number, at: RpcLocation): void {
  if (given === undefined || given === null) return
  if (rpcInteger(given, at, 'transactionIndex') !== expected) {
    throw malformedRpcValue(at, 'transactionIndex', given)
  }
}
