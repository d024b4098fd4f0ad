/**
 * What a block's documents must be, worked out a second time: field lists written out by hand, the
 * rules of normalisation as plain sentences of code, bytes and CIDs by the libraries of IPLD. Slow,
 * and independent of everything under src/primitives.
 */
import { createHash } from 'node:crypto'
import { encode } from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import type { RpcBlock, RpcReceipt, RpcTransaction } from '../../src/primitives/rpc-block.ts'

/** A document as the libraries see it. */
interface OracleDocument {
  readonly type: string
  readonly docID: string
  readonly canonical: Uint8Array
  /** Text form. */
  readonly cid: string
}

type Item = Uint8Array | string | number | boolean | null | readonly Uint8Array[]
type Record_ = Readonly<Record<string, unknown>>

/** Every document of the block: block, transactions, access list entries, logs, each in chain order. */
export function oracleDocuments(
  network: string,
  block: RpcBlock,
  receipts: readonly RpcReceipt[],
): OracleDocument[] {
  const transactions = block.transactions ?? []
  const blockHash = lower(block.hash)
  const number = Number(block.number)
  const make = (type: string, docID: string, values: readonly Item[]): OracleDocument =>
    oracleDocument(network, type, docID, values)
  return [
    make('Block', `block-${blockHash}`, blockValues(block)),
    ...transactions.map((transaction, index) =>
      make(
        'Transaction',
        `tx-${lower(transaction.hash)}`,
        transactionValues(transaction, receipts[index] ?? {}, block, index),
      ),
    ),
    ...transactions.flatMap((transaction) =>
      (transaction.accessList ?? []).map((entry, index) =>
        make('AccessListEntry', `entry-${lower(transaction.hash)}-${index}`, [
          bytes(entry.address),
          number,
          list(entry.storageKeys),
        ]),
      ),
    ),
    ...transactions.flatMap((transaction, index) =>
      (receipts[index]?.logs ?? []).map((log) =>
        make('Log', `log-${blockHash}-${Number(log.logIndex)}`, [
          bytes(log.address),
          bytes(log.data),
          bytes(transaction.hash),
          bytes(block.hash),
          log.removed === true ? 'true' : 'false',
          list(log.topics),
          number,
          index,
          Number(log.logIndex),
        ]),
      ),
    ),
  ]
}

/** One document: `[1, type name, docID, values]` by the libraries. */
function oracleDocument(
  network: string,
  type: string,
  docID: string,
  values: readonly Item[],
): OracleDocument {
  const canonical = encode([1, `${network}__${type}`, docID, values])
  const digest = createHash('sha256').update(canonical).digest()
  return { type, docID, canonical, cid: CID.createV1(0x71, createDigest(0x12, digest)).toString() }
}

function blockValues(block: RpcBlock): Item[] {
  return [
    bytes(block.hash),
    ...quantities(block, ['timestamp']),
    bytes(block.parentHash),
    ...quantities(block, ['difficulty', 'gasUsed', 'gasLimit', 'baseFeePerGas']),
    bytes(block.nonce),
    bytes(block.miner),
    ...quantities(block, ['size']),
    bytes(block.stateRoot),
    bytes(block.sha3Uncles),
    bytes(block.transactionsRoot),
    bytes(block.receiptsRoot),
    bytes(block.logsBloom),
    bytes(block.extraData),
    bytes(block.mixHash),
    Number(block.number),
    list(block.uncles),
  ]
}

function transactionValues(
  transaction: RpcTransaction,
  receipt: RpcReceipt,
  block: RpcBlock,
  index: number,
): Item[] {
  const type = Number(transaction.type ?? '0x0')
  const v = transaction.v ?? transaction.yParity
  const hasFees = type >= 2
  return [
    bytes(transaction.hash),
    bytes(block.hash),
    bytes(transaction.from),
    bytes(transaction.to),
    quantity(transaction.value),
    quantity(transaction.gas),
    quantity(transaction.gasPrice ?? receipt.effectiveGasPrice),
    quantity(receipt.gasUsed),
    hasFees ? quantity(transaction.maxFeePerGas) : null,
    hasFees ? quantity(transaction.maxPriorityFeePerGas) : null,
    bytes(transaction.input),
    quantity(transaction.nonce),
    quantity(transaction.type ?? '0x0'),
    type === 0 ? legacyChainId(transaction) : quantity(transaction.chainId),
    quantity(v),
    quantity(transaction.r),
    quantity(transaction.s),
    quantity(receipt.cumulativeGasUsed),
    quantity(receipt.effectiveGasPrice ?? transaction.gasPrice),
    Number(block.number),
    index,
    status(receipt),
  ]
}

function legacyChainId(transaction: RpcTransaction): Item {
  const v = BigInt(transaction.v ?? transaction.yParity ?? 0)
  if (v === 27n || v === 28n) return null
  if (v < 35n) return quantity(transaction.chainId)
  return quantity(`0x${((v - 35n) / 2n).toString(16)}`)
}

function status(receipt: RpcReceipt): boolean | null {
  return typeof receipt.status === 'string' ? BigInt(receipt.status) === 1n : null
}

function lower(value: unknown): string {
  return String(value).toLowerCase()
}

function bytes(value: unknown): Uint8Array | null {
  return typeof value === 'string' ? Buffer.from(value.slice(2), 'hex') : null
}

function list(value: readonly string[] | null | undefined): Uint8Array[] {
  return (value ?? []).map((item) => Buffer.from(item.slice(2), 'hex'))
}

function quantities(source: object, names: readonly string[]): Item[] {
  return names.map((name) => quantity((source as Record_)[name]))
}

/** A number as its shortest bytes, biggest first; zero has none. */
function quantity(value: unknown): Uint8Array | null {
  if (typeof value !== 'string') return null
  const shortest: number[] = []
  for (let rest = BigInt(value); rest > 0n; rest >>= 8n) shortest.unshift(Number(rest & 0xffn))
  return Uint8Array.from(shortest)
}

/** The Merkle root as RFC 9162 (2.1.1) defines it, word for word: split at the largest power of two. */
export function oracleRoot(leaves: readonly Uint8Array[]): Buffer {
  const [first] = leaves
  if (first === undefined) return sha256()
  if (leaves.length === 1) return sha256(Uint8Array.of(0), first)
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return sha256(
    Uint8Array.of(1),
    oracleRoot(leaves.slice(0, split)),
    oracleRoot(leaves.slice(split)),
  )
}

function sha256(...parts: readonly Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest()
}
