import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildASTSchema, isObjectType, parse } from 'graphql'
import { type CollectionName, collections } from '../../src/primitives/collections.ts'
import { collectionSdl, schemaSdl } from '../../src/primitives/sdl.ts'

const network = 'Ethereum__Mainnet'
const directives =
  'directive @index(unique: Boolean) on FIELD_DEFINITION directive @relation(name: String) on FIELD_DEFINITION'

test('a collection’s SDL names types with the prefix and marks indexes and relations', () => {
  assert.equal(
    collectionSdl(network, 'Log'),
    `type Ethereum__Mainnet__Log {
  address: String
  data: String
  transactionHash: String
  blockHash: String
  removed: String
  topics: [String]
  blockNumber: Int @index
  transactionIndex: Int
  logIndex: Int
  block: Ethereum__Mainnet__Block @relation(name: "block_logs")
  transaction: Ethereum__Mainnet__Transaction @relation(name: "transaction_logs")
}
`,
  )
  assert.match(
    collectionSdl(network, 'Block'),
    /transactions: \[Ethereum__Mainnet__Transaction\] @relation\(name: "block_transactions"\)/,
  )
})

test('a Host’s copy adds unique indexes on block hash and transaction hash, and nothing else', () => {
  const added = schemaSdl(network, true)
    .split('\n')
    .filter((line) => line.includes('unique'))
  assert.deepEqual(added, [
    '  hash: String @index(unique: true)',
    '  hash: String @index(unique: true)',
  ])
  assert.equal(schemaSdl(network, true).replaceAll(' @index(unique: true)', ''), schemaSdl(network))
})

test('the whole schema is GraphQL with one type per collection', () => {
  const schema = buildASTSchema(parse(`${directives}\n${schemaSdl(network)}`))
  for (const name of Object.keys(collections) as CollectionName[]) {
    const type = schema.getType(`Ethereum__Mainnet__${name}`)
    assert.ok(isObjectType(type))
    const { fields, relations } = collections[name]
    assert.deepEqual(Object.keys(type.getFields()), [
      ...fields.map((field) => field.name),
      ...relations.map((relation) => relation.field),
    ])
  }
})
