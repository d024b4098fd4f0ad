import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  blockSections,
  type CollectionName,
  collections,
  fieldIndex,
  storedFields,
} from '../../src/primitives/collections.ts'
import { fieldType } from '../../src/primitives/sdl.ts'

/** The tables of the service page, row by row: field names and their types. */
const documented: Readonly<Record<CollectionName, readonly (readonly [string, string])[]>> = {
  Block: [
    [
      'hash, timestamp, parentHash, difficulty, totalDifficulty, gasUsed, gasLimit, baseFeePerGas, nonce, miner, size, stateRoot, sha3Uncles, transactionsRoot, receiptsRoot, logsBloom, extraData, mixHash',
      'String',
    ],
    ['number', 'Int @index'],
    ['uncles', '[String]'],
    ['transactions', '[Transaction] block_transactions'],
  ],
  Transaction: [
    [
      'hash, blockHash, from, to, value, gas, gasPrice, gasUsed, maxFeePerGas, maxPriorityFeePerGas, input, nonce, type, chainId, v, r, s, cumulativeGasUsed, effectiveGasPrice',
      'String',
    ],
    ['blockNumber', 'Int @index'],
    ['transactionIndex', 'Int'],
    ['status', 'Boolean'],
    ['block', 'Block block_transactions'],
    ['logs', '[Log] transaction_logs'],
    ['accessList', '[AccessListEntry] transaction_accessList'],
  ],
  Log: [
    ['address, data, transactionHash, blockHash, removed', 'String'],
    ['topics', '[String]'],
    ['blockNumber', 'Int @index'],
    ['transactionIndex, logIndex', 'Int'],
    ['block', 'Block block_logs'],
    ['transaction', 'Transaction transaction_logs'],
  ],
  AccessListEntry: [
    ['address', 'String'],
    ['blockNumber', 'Int @index'],
    ['storageKeys', '[String]'],
    ['transaction', 'Transaction transaction_accessList'],
  ],
  BlockSignature: [
    ['blockNumber', 'Int @index'],
    [
      'blockHash, merkleRoot, signatureType, signatureIdentity, signatureValue, createdAt',
      'String',
    ],
    ['cidCount', 'Int'],
    ['cids', '[String]'],
  ],
  SnapshotSignature: [
    ['startBlock, endBlock, blockCount', 'Int'],
    [
      'merkleRoot, signatureType, signatureIdentity, signatureValue, snapshotFile, createdAt',
      'String',
    ],
    ['blockSigMerkleRoots', '[String]'],
  ],
}

for (const [name, rows] of Object.entries(documented) as [
  CollectionName,
  (typeof documented)[CollectionName],
][]) {
  test(`${name} has the documented fields with the documented types, and no others`, () => {
    const expected = rows.flatMap(([fields, type]) =>
      fields.split(', ').map((field) => `${field}: ${type}`),
    )
    const { fields, relations } = collections[name]
    const actual = [
      ...fields.map(
        (field) => `${field.name}: ${fieldType(field)}${field.index === true ? ' @index' : ''}`,
      ),
      ...relations.map(
        (relation) =>
          `${relation.field}: ${relation.many ? `[${relation.target}]` : relation.target} ${relation.name}`,
      ),
    ]
    assert.deepEqual(actual.sort(), expected.sort())
  })
}

test('the quantities are the documented ones; every other hex field is hash, address or data', () => {
  const quantities = Object.values(collections).flatMap(({ name, fields }) =>
    fields.filter(({ kind }) => kind === 'quantity').map((field) => `${name}.${field.name}`),
  )
  const block = 'timestamp difficulty totalDifficulty gasUsed gasLimit baseFeePerGas size'
  const transaction =
    'value gas gasPrice gasUsed maxFeePerGas maxPriorityFeePerGas nonce type chainId v r s cumulativeGasUsed effectiveGasPrice'
  assert.deepEqual(
    quantities.sort(),
    [
      ...block.split(' ').map((field) => `Block.${field}`),
      ...transaction.split(' ').map((field) => `Transaction.${field}`),
    ].sort(),
  )
})

test('both sides of a relation declare the same name, and a block reaches logs by transactions', () => {
  const sides = new Map<string, string[]>()
  for (const { name, relations } of Object.values(collections)) {
    for (const relation of relations) {
      const side = `${name}.${relation.field}`
      sides.set(relation.name, [...(sides.get(relation.name) ?? []), side])
    }
  }
  assert.deepEqual(Object.fromEntries(sides), {
    block_transactions: ['Block.transactions', 'Transaction.block'],
    transaction_logs: ['Transaction.logs', 'Log.transaction'],
    transaction_accessList: ['Transaction.accessList', 'AccessListEntry.transaction'],
    block_logs: ['Log.block'],
  })
})

test('unsigned fields come last, so that a field has one place in the table and in stored values', () => {
  for (const { name, fields } of Object.values(collections)) {
    for (const [index, field] of storedFields(name).entries()) {
      assert.equal(fieldIndex(name, field.name), index)
    }
    const isUnsigned = fields.map((field) => field.unsigned === true)
    assert.deepEqual(isUnsigned, [...isUnsigned].sort())
  }
  const unsigned = Object.values(collections).flatMap(({ name, fields }) =>
    fields
      .filter((field) => !storedFields(name).includes(field))
      .map((field) => `${name}.${field.name}`),
  )
  assert.deepEqual(unsigned, ['Block.totalDifficulty', 'BlockSignature.cids'])
  assert.throws(() => fieldIndex('Log', 'event'), /broken invariant: Log has no field event/)
})

test('a block’s documents are of four collections, in this order', () => {
  assert.deepEqual(blockSections, ['Block', 'Transaction', 'AccessListEntry', 'Log'])
})
