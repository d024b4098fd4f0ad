import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentsRead, openGraphqlRoom } from '../support/graphql-room.ts'

test('every aggregate has both spellings, over collections and over links', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const data = await query(`{
    a: COUNT(Block: {}) b: _count(Ethereum__Mainnet__Block: {filter: {number: {_gt: 2}}})
    c: SUM(Block: {field: number}) d: _sum(Block: {field: number, limit: 2, order: {number: DESC}})
    e: AVG(Block: {field: number}) f: _avg(Block: {field: number, offset: 4})
    g: MIN(Block: {field: number}) h: _min(Log: {field: logIndex, filter: {logIndex: {_gt: 0}}})
    i: MAX(Block: {field: number}) j: _max(Transaction: {field: transactionIndex})
    Block(limit: 1) { COUNT(transactions: {}) _sum(transactions: {field: transactionIndex}) } }`)
  assert.deepEqual(data, {
    ...{ a: 6, b: 4, c: 21, d: 11, e: 3.5, f: 5.5, g: 1, h: 1, i: 6, j: 1 },
    Block: [{ COUNT: 2, _sum: 1 }],
  })
})

test('an aggregate over several targets takes them together', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `{ COUNT(Block: {}, Log: {}) Transaction(limit: 1, order: {blockNumber: DESC}) {
    logs { _docID } accessList { _docID } n: COUNT(logs: {}, accessList: {}, _version: {}) } }`
  const { COUNT, Transaction } = await query(text)
  assert.equal(COUNT, 24)
  const [{ logs, accessList, n }] = Transaction
  assert.equal(n, logs.length + accessList.length + 1)
})

test('the sum of nothing is 0, and its minimum and maximum are null', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const none = 'filter: {number: 99}'
  const text = `{ n: COUNT(Block: {${none}}) s: SUM(Block: {field: number, ${none}}) a: AVG(Block: {field: number, ${none}})
    l: MIN(Block: {field: number, ${none}}) g: MAX(Block: {field: number, ${none}}) }`
  assert.deepEqual(await query(text), { n: 0, s: 0, a: 0, l: null, g: null })
})

test('rows without a value are skipped, also in minimum and maximum', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const values = (await query('{ Transaction { maxFeePerGas } }')).Transaction.flatMap(
    (one: { maxFeePerGas: string | null }) =>
      one.maxFeePerGas === null ? [] : Number(one.maxFeePerGas),
  )
  const data = await query(`{ a: AVG(Transaction: {field: maxFeePerGas})
    l: MIN(Transaction: {field: maxFeePerGas}) g: MAX(Transaction: {field: maxFeePerGas}) }`)
  const sum = values.reduce((total: number, value: number) => total + value, 0)
  assert.deepEqual(data, {
    a: sum / values.length,
    l: Math.min(...values),
    g: Math.max(...values),
  })
})

test('an aggregate takes the rows from its offset to its limit', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const root = `{ a: COUNT(Block: {offset: 4, limit: 3}) b: COUNT(Block: {offset: 1, limit: 3}) c: COUNT(Block: {offset: 9})
    d: SUM(Block: {field: number, offset: 4, limit: 3}) e: SUM(Block: {field: number, limit: 3}) f: SUM(Block: {field: number, offset: 9}) }`
  assert.deepEqual(await query(root), { a: 2, b: 3, c: 0, d: 11, e: 6, f: 0 })
  const below = `a: COUNT(logs: {offset: 1}) b: COUNT(logs: {limit: 1}) c: COUNT(logs: {offset: 9})
    d: COUNT(logs: {offset: 1, filter: {logIndex: {_geq: 1}}}) e: MAX(logs: {field: logIndex, limit: 1})`
  const { Transaction } = await query(`{ Transaction(limit: 2) { logs { logIndex } ${below} } }`)
  assert.deepEqual(Transaction, [
    { logs: [{ logIndex: 0 }], a: 0, b: 1, c: 0, d: 0, e: 0 },
    { logs: [{ logIndex: 1 }, { logIndex: 2 }], a: 1, b: 1, c: 0, d: 1, e: 1 },
  ])
})

test('the elements of a list are counted, with a filter, an offset and a limit', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Log } = await query(`{ Log(limit: 1) { a: COUNT(topics: {}) b: _count(topics: {limit: 2})
    c: COUNT(topics: {offset: 2}) d: COUNT(topics: {filter: {_like: "0xddf252ad%"}})
    e: COUNT(topics: {filter: {_or: [{_like: "0xddf252ad%"}, {_eq: "0x00"}]}}) } }`)
  assert.deepEqual(Log, [{ a: 3, b: 2, c: 1, d: 1, e: 1 }])
})

test('an alias of an aggregate filters rows', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query($n: Int) { Transaction(filter: {blockNumber: 1, _alias: {logs: {_geq: $n}}}) {
    transactionIndex logs: COUNT(logs: {}) } }`
  assert.deepEqual((await query(text, { n: 2 })).Transaction, [{ transactionIndex: 1, logs: 2 }])
  assert.equal((await query(text)).Transaction.length, 2)
})

test('an aggregate over aggregates takes those of the same link alone', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const text = (logs: string) => `{ Transaction(limit: 1) { s: SUM(logs: {field: COUNT})
    block { COUNT(transactions: {}) } logs { ${logs} } } }`
  const { Transaction } = await query(text('COUNT(topics: {})'))
  assert.deepEqual(Transaction, [{ s: 3, block: { COUNT: 2 }, logs: [{ COUNT: 3 }] }])
  assert.deepEqual(await errors(text('logIndex')), [
    'The aggregate COUNT is not selected inside what is aggregated. Select COUNT there as well.',
  ])
})

test('of several aggregates of a link the one that is named is aggregated', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Block } = await query(`{ Block(limit: 1) { rows: SUM(transactions: {field: COUNT})
    highest: SUM(transactions: {field: MAX}) transactions { COUNT(logs: {}) MAX(logs: {field: logIndex}) } } }`)
  assert.deepEqual(Block, [
    {
      ...{ rows: 3, highest: 2 },
      transactions: [
        { COUNT: 1, MAX: 0 },
        { COUNT: 2, MAX: 2 },
      ],
    },
  ])
})

test('a target that is null is taken whole', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text =
    'query ($all: Ethereum__Mainnet__Block__CountSelector) { a: COUNT(Block: null) b: COUNT(Block: $all) }'
  assert.deepEqual(await query(text, { all: null }), { a: 6, b: 6 })
})

test('an aggregate without a target is refused', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  assert.deepEqual(await errors('{ Transaction { COUNT } }'), [
    'aggregate must be provided with a property to aggregate. Name one of: GROUP, logs, accessList, _version.',
  ])
  const [message = ''] = await errors('{ SUM(Block: {}) }')
  assert.match(message, /Field "Ethereum__Mainnet__Block__NumericSelector.field" of required type/)
})

test('counting the rows that a filter leaves reads each of them', async (t) => {
  const { query, registry } = await openGraphqlRoom(t)
  assert.deepEqual(await query('{ COUNT(Log: {filter: {logIndex: {_neq: 1000}}}) }'), { COUNT: 18 })
  assert.equal(await documentsRead(registry), 6 + 18)
})

test('counting whole collections reads no documents', async (t) => {
  const { query, registry } = await openGraphqlRoom(t)
  await query('{ COUNT(Log: {}, Transaction: {filter: {blockNumber: {_geq: 3}}}) }')
  assert.equal(await documentsRead(registry), 6 + 4)
})
