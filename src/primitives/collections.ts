/**
 * The six collections as one table. SDL, GraphQL types, indexes, documents, canonical bytes and the
 * schema endpoint's answers are all derived from it; nothing else lists a field.
 */

/**
 * What a field holds. `hash`, `address` and `data` are 0x-prefixed lower-case hex of fixed or free
 * length; `quantity` is minimal 0x hex of a number; `int` and `boolean` are GraphQL's; `text` is
 * free text (seals, and a log's `removed`, which is "true" or "false").
 */
export type FieldKind = 'hash' | 'address' | 'data' | 'quantity' | 'int' | 'boolean' | 'text'

export interface Field {
  readonly name: string
  readonly kind: FieldKind
  /** A list of `kind` instead of one. A list is never null and holds no nulls. */
  readonly list?: true
  /** Never null: the document's place in its block or its docID depends on it. */
  readonly required?: true
  /** Marked `@index` in the SDL. */
  readonly index?: true
  /** Marked as a unique index in a Host's copy of the schema. */
  readonly uniqueAtHost?: true
  /**
   * Returned by queries, but not part of the canonical bytes: `totalDifficulty`, which newer nodes no longer
   * know, and a seal's `cids`, which follow from the documents. These come last in `fields`.
   */
  readonly unsigned?: true
}

export interface Relation {
  /** The name both sides of the relation declare. */
  readonly name: string
  readonly field: string
  readonly target: CollectionName
  /** True on the side that holds a list. */
  readonly many: boolean
}

export interface Collection {
  readonly name: CollectionName
  /** The path parameter of the schema endpoint. */
  readonly path: string
  /** First part of this collection's docIDs, as in `tx-0x...`. */
  readonly idPrefix: string
  readonly description: string
  /**
   * Scalar fields in table order: the order of values in canonical bytes. Unsigned fields come last,
   * so that a place in `fields` is also the place among a document's stored values.
   */
  readonly fields: readonly Field[]
  readonly relations: readonly Relation[]
}

export type CollectionName =
  | 'Block'
  | 'Transaction'
  | 'Log'
  | 'AccessListEntry'
  | 'BlockSignature'
  | 'SnapshotSignature'

/** A field's value as JSON-RPC and GraphQL show it: hex in 0x form, Int as number. */
export type Value = string | number | boolean | null | readonly string[]

/** The collections that make up a block, in the order in which its documents are kept and sent. */
export const blockSections = ['Block', 'Transaction', 'AccessListEntry', 'Log'] as const

/** One of the four collections whose documents make up a block. */
export type Section = (typeof blockSections)[number]

/** Every collection, its fields and its relations. */
export const collections: { readonly [N in CollectionName]: Collection } = {
  Block: {
    name: 'Block',
    path: 'block',
    idPrefix: 'block',
    description: 'A block of the source chain.',
    fields: [
      { name: 'hash', kind: 'hash', required: true, uniqueAtHost: true },
      { name: 'timestamp', kind: 'quantity', required: true },
      { name: 'parentHash', kind: 'hash', required: true },
      { name: 'difficulty', kind: 'quantity' },
      { name: 'gasUsed', kind: 'quantity' },
      { name: 'gasLimit', kind: 'quantity' },
      { name: 'baseFeePerGas', kind: 'quantity' },
      { name: 'nonce', kind: 'data' },
      { name: 'miner', kind: 'address' },
      { name: 'size', kind: 'quantity' },
      { name: 'stateRoot', kind: 'hash' },
      { name: 'sha3Uncles', kind: 'hash' },
      { name: 'transactionsRoot', kind: 'hash' },
      { name: 'receiptsRoot', kind: 'hash' },
      { name: 'logsBloom', kind: 'data' },
      { name: 'extraData', kind: 'data' },
      { name: 'mixHash', kind: 'hash' },
      { name: 'number', kind: 'int', required: true, index: true },
      { name: 'uncles', kind: 'hash', list: true },
      { name: 'totalDifficulty', kind: 'quantity', unsigned: true },
    ],
    relations: [
      { name: 'block_transactions', field: 'transactions', target: 'Transaction', many: true },
    ],
  },
  Transaction: {
    name: 'Transaction',
    path: 'transaction',
    idPrefix: 'tx',
    description: 'A transaction merged with its receipt.',
    fields: [
      { name: 'hash', kind: 'hash', required: true, uniqueAtHost: true },
      { name: 'blockHash', kind: 'hash', required: true },
      { name: 'from', kind: 'address' },
      { name: 'to', kind: 'address' },
      { name: 'value', kind: 'quantity' },
      { name: 'gas', kind: 'quantity' },
      { name: 'gasPrice', kind: 'quantity' },
      { name: 'gasUsed', kind: 'quantity' },
      { name: 'maxFeePerGas', kind: 'quantity' },
      { name: 'maxPriorityFeePerGas', kind: 'quantity' },
      { name: 'input', kind: 'data' },
      { name: 'nonce', kind: 'quantity' },
      { name: 'type', kind: 'quantity' },
      { name: 'chainId', kind: 'quantity' },
      { name: 'v', kind: 'quantity' },
      { name: 'r', kind: 'quantity' },
      { name: 's', kind: 'quantity' },
      { name: 'cumulativeGasUsed', kind: 'quantity' },
      { name: 'effectiveGasPrice', kind: 'quantity' },
      { name: 'blockNumber', kind: 'int', required: true, index: true },
      { name: 'transactionIndex', kind: 'int', required: true },
      { name: 'status', kind: 'boolean' },
    ],
    relations: [
      { name: 'block_transactions', field: 'block', target: 'Block', many: false },
      { name: 'transaction_logs', field: 'logs', target: 'Log', many: true },
      {
        name: 'transaction_accessList',
        field: 'accessList',
        target: 'AccessListEntry',
        many: true,
      },
    ],
  },
  Log: {
    name: 'Log',
    path: 'log',
    idPrefix: 'log',
    description: 'An event log, undecoded.',
    fields: [
      { name: 'address', kind: 'address', required: true },
      { name: 'data', kind: 'data', required: true },
      { name: 'transactionHash', kind: 'hash', required: true },
      { name: 'blockHash', kind: 'hash', required: true },
      { name: 'removed', kind: 'text', required: true },
      { name: 'topics', kind: 'hash', list: true },
      { name: 'blockNumber', kind: 'int', required: true, index: true },
      { name: 'transactionIndex', kind: 'int', required: true },
      { name: 'logIndex', kind: 'int', required: true },
    ],
    relations: [
      { name: 'block_logs', field: 'block', target: 'Block', many: false },
      { name: 'transaction_logs', field: 'transaction', target: 'Transaction', many: false },
    ],
  },
  AccessListEntry: {
    name: 'AccessListEntry',
    path: 'accessListEntry',
    idPrefix: 'entry',
    description: 'One entry of a transaction’s access list (EIP-2930).',
    fields: [
      { name: 'address', kind: 'address', required: true },
      { name: 'blockNumber', kind: 'int', required: true, index: true },
      { name: 'storageKeys', kind: 'hash', list: true },
    ],
    relations: [
      {
        name: 'transaction_accessList',
        field: 'transaction',
        target: 'Transaction',
        many: false,
      },
    ],
  },
  BlockSignature: {
    name: 'BlockSignature',
    path: 'blockSignature',
    idPrefix: 'seal',
    description: 'A Generator’s signature over the Merkle root of all document CIDs of a block.',
    fields: [
      { name: 'blockNumber', kind: 'int', required: true, index: true },
      { name: 'blockHash', kind: 'hash', required: true },
      { name: 'merkleRoot', kind: 'text', required: true },
      { name: 'signatureType', kind: 'text', required: true },
      { name: 'signatureIdentity', kind: 'text', required: true },
      { name: 'signatureValue', kind: 'text', required: true },
      { name: 'createdAt', kind: 'text', required: true },
      { name: 'cidCount', kind: 'int', required: true },
      { name: 'cids', kind: 'text', list: true, unsigned: true },
    ],
    relations: [],
  },
  SnapshotSignature: {
    name: 'SnapshotSignature',
    path: 'snapshotSignature',
    idPrefix: 'snapshot',
    description: 'A Generator’s signature over the Merkle roots of a range of blocks.',
    fields: [
      { name: 'startBlock', kind: 'int', required: true },
      { name: 'endBlock', kind: 'int', required: true },
      { name: 'blockCount', kind: 'int', required: true },
      { name: 'merkleRoot', kind: 'text', required: true },
      { name: 'signatureType', kind: 'text', required: true },
      { name: 'signatureIdentity', kind: 'text', required: true },
      { name: 'signatureValue', kind: 'text', required: true },
      { name: 'snapshotFile', kind: 'text', required: true },
      { name: 'createdAt', kind: 'text', required: true },
      { name: 'blockSigMerkleRoots', kind: 'text', list: true },
    ],
    relations: [],
  },
}

/** The fields of a collection that its documents store and its canonical bytes cover. */
export function storedFields(name: CollectionName): readonly Field[] {
  return collections[name].fields.filter((field) => field.unsigned !== true)
}

/** The place of a field in its collection's table, which is also its place among stored values. */
export function fieldIndex(name: CollectionName, field: string): number {
  const index = collections[name].fields.findIndex((one) => one.name === field)
  if (index < 0) throw new Error(`broken invariant: ${name} has no field ${field}`)
  return index
}
