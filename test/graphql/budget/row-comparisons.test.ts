/** How much one row may be compared with, in which time no other request runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxRowComparisons } from '../../../src/graphql/budget/limits.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { openGraphqlRoom } from '../support/graphql-room.ts'
import { list } from '../support/repeat.ts'

test('a single row is refused beyond its limit of comparisons', async (t) => {
  const shape = { transactions: 1, logs: 0, entries: 0, calldataBytes: 60_000 }
  const chain = createChain({ count: 1, shape })
  const { query, errors } = await openGraphqlRoom(t, { chain, limits: { maxConditions: 10_000 } })
  const [{ input }] = (await query('{ Transaction { input } }')).Transaction
  const text = 'query ($f: TransactionFilterArg) { Transaction(filter: $f) { hash } }'
  const patterns = (count: number) => ({
    f: { _or: list(count, (index) => ({ input: { _like: `%z${index}%` } })) },
  })
  const each = 1 + Math.floor(input.length / 64)
  const enough = Math.floor(maxRowComparisons / each)
  assert.ok(enough < 2_000, 'long values count for more')
  assert.deepEqual(await query(text, patterns(enough)), { Transaction: [] })
  assert.deepEqual(await errors(text, patterns(enough + 1)), [
    'A single row, with what hangs on it, takes more than 250000 comparisons. Ask for the documents below it by a query of their own, or use fewer conditions and aggregates.',
  ])
})

test('what is compared with the rows under a row counts towards its limit of comparisons', async (t) => {
  const shape = { transactions: 500, logs: 0, entries: 0, calldataBytes: 4 }
  const { graphql } = await openGraphqlRoom(t, { chain: createChain({ count: 1, shape }) })
  const query = 'query ($f: TransactionFilterArg) { COUNT(Block: {filter: {transactions: $f}}) }'
  for (const [count, code] of [[499], [501, 'GRAPHQL_COST_LIMIT']] as const) {
    const f = { _or: list(count, (index) => ({ transactionIndex: 1_000 + index })) }
    const { errors } = await graphql.execute({ query, variables: { f } })
    assert.equal(errors?.[0]?.extensions['code'], code)
  }
})

test('so does each key by which the rows under a row are sorted', async (t) => {
  const shape = { transactions: 500, logs: 0, entries: 0, calldataBytes: 4 }
  const { graphql } = await openGraphqlRoom(t, { chain: createChain({ count: 1, shape }) })
  const query =
    'query ($f: TransactionFilterArg, $o: [TransactionOrderArg]) { Block { transactions(filter: $f, order: $o, limit: 1) { hash } } }'
  const keys = ['hash', 'gas', 'nonce']
  const f = { _or: list(498, (index) => ({ transactionIndex: { _neq: 1_000 + index } })) }
  for (const [count, code] of [[1], [3, 'GRAPHQL_COST_LIMIT']] as const) {
    const o = keys.slice(0, count).map((key) => ({ [key]: 'ASC' }))
    const { errors } = await graphql.execute({ query, variables: { f, o } })
    assert.equal(errors?.[0]?.extensions['code'], code, errors?.[0]?.message)
  }
})
