import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultQueryLimits } from '../../../src/graphql/budget/limits.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { documentsRead, openGraphqlRoom } from '../support/graphql-room.ts'
import { list, noHash } from '../support/repeat.ts'

const chain = createChain({ count: 40, shape: { ...shapes.tiny, transactions: 10, logs: 20 } })

/** Queries by a list of values, the field that names the value of a row, and values that no row has. */
const lists: Readonly<
  Record<string, { query: string; field: string; none(index: number): string }>
> = {
  'hashes of transactions': {
    query: '($v: [String!]) { rows: Transaction(filter: {hash: {_in: $v}}) { hash } }',
    field: 'hash',
    none: noHash,
  },
  'hashes of blocks, for their logs': {
    query: '($v: [String!]) { rows: Log(filter: {blockHash: {_in: $v}}) { blockHash } }',
    field: 'blockHash',
    none: noHash,
  },
  addresses: {
    query: '($v: [String!]) { rows: Log(filter: {address: {_in: $v}}) { address } }',
    field: 'address',
    none: (index) => `0x${noHash(index).slice(-40)}`,
  },
  docIDs: {
    query: '($v: [ID!]) { rows: Log(docID: $v) { _docID } }',
    field: '_docID',
    none: (index) => `log-${noHash(index)}-0`,
  },
}

type Rows = readonly Readonly<Record<string, string>>[]

for (const [name, { query: text, field, none }] of Object.entries(lists)) {
  test(`24,000 ${name} are found for a tenth of the cost limit`, async (t) => {
    const { query, registry } = await openGraphqlRoom(t, { chain })
    const collection = text.includes('Transaction') ? 'Transaction' : 'Log'
    const all: Rows = (await query(`{ rows: ${collection} { ${field} } }`)).rows
    const every = [...new Set(all.map((row) => row[field] ?? ''))]
    const wanted = new Set(every.filter((_, index) => index % 3 === 0))
    const values = [...wanted, ...list(24_000 - wanted.size, none)]
    const before = await documentsRead(registry)
    const { rows } = await query(`query ${text}`, { v: values })
    assert.deepEqual(
      rows,
      all.filter((row) => wanted.has(row[field] ?? '')),
    )
    const looked = (await documentsRead(registry)) - before
    assert.ok(looked <= defaultQueryLimits.maxCost / 10, `${looked} documents looked at`)
  })
}
