import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChain } from '../../support/chain/block-factory.ts'
import { costOf, openGraphqlRoom } from '../support/graphql-room.ts'
import { repeat } from '../support/repeat.ts'
import { putRows, servedView } from '../support/served-views.ts'

test('rows are grouped by one key or several, with aggregates and members', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Log } = await query(`{ Log(groupBy: [blockNumber], limit: 2) {
    __typename blockNumber rows: COUNT(GROUP: {}) last: _max(_group: {field: logIndex})
    GROUP(order: {logIndex: DESC}, limit: 1) { logIndex } } }`)
  const group = { __typename: 'Ethereum__Mainnet__Log', rows: 3, last: 2, GROUP: [{ logIndex: 2 }] }
  assert.deepEqual(Log, [
    { ...group, blockNumber: 1 },
    { ...group, blockNumber: 2 },
  ])
  const both = await query(
    '{ Log(groupBy: [blockNumber, transactionIndex]) { blockNumber transactionIndex } }',
  )
  assert.equal(both.Log.length, 12)
})

test('no keys make one group of all rows', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Block } = await query(
    '{ Block(groupBy: []) { n: COUNT(_group: {}) s: _sum(_group: {field: number}) } }',
  )
  assert.deepEqual(Block, [{ n: 6, s: 21 }])
  const empty = await query('{ Block(groupBy: [], filter: {number: 99}) { n: COUNT(_group: {}) } }')
  assert.deepEqual(empty.Block, [])
})

test('a single link groups by its id', async (t) => {
  const { query, chain } = await openGraphqlRoom(t)
  const { Log } = await query(
    '{ Log(groupBy: [block], limit: 1) { block_id n: _count(_group: {}) } }',
  )
  assert.deepEqual(Log, [{ block_id: `block-${chain[0]?.hash}`, n: 3 }])
})

test('an alias of a key filters and orders groups, and one of neither is refused', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const groups = (args: string, also = '') =>
    `{ Log(groupBy: [blockNumber], ${args}) { at: blockNumber ${also} } }`
  const found = await query(
    groups('filter: {_alias: {at: {_geq: 4}}}, order: {_alias: {at: DESC}}'),
  )
  assert.deepEqual(found.Log, [{ at: 6 }, { at: 5 }, { at: 4 }])
  for (const also of ['it: __typename', 'it: GROUP { data }', ''])
    assert.deepEqual(await errors(groups('filter: {_alias: {it: {_eq: 1}}}', also)), [
      'field or alias not found. Name: it. Give a field of the same selection this alias.',
    ])
})

test('an alias of an aggregate filters and orders groups', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `{ Log(groupBy: [transactionIndex], filter: {blockNumber: {_leq: 4}, _alias: {n: {_gt: 4}}},
    order: {_alias: {n: DESC}}) { transactionIndex n: COUNT(GROUP: {}) } }`
  assert.deepEqual((await query(text)).Log, [{ transactionIndex: 1, n: 8 }])
})

test('groups come in the order of the chain, of a key or of an aggregate, page by page', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const blocks = async (args: string) => {
    const text = `{ Log(groupBy: [blockNumber]${args}) { blockNumber n: SUM(GROUP: {field: blockNumber}) } }`
    return (await query(text)).Log.map((group: { blockNumber: number }) => group.blockNumber)
  }
  assert.deepEqual(await blocks(''), [1, 2, 3, 4, 5, 6])
  assert.deepEqual(await blocks(', offset: 4'), [5, 6])
  assert.deepEqual(await blocks(', order: {blockNumber: DESC}'), [6, 5, 4, 3, 2, 1])
  assert.deepEqual(await blocks(', order: {_alias: {n: DESC}}, offset: 1, limit: 2'), [5, 4])
  assert.deepEqual(await blocks(', order: {_alias: {n: ASC}}, limit: 2'), [1, 2])
  assert.deepEqual(await blocks(', filter: {_alias: {n: {_gt: 9}}}, offset: 1, limit: 2'), [5, 6])
  const both = await query(
    '{ Log(groupBy: [logIndex, blockNumber], order: [{logIndex: DESC}, {blockNumber: ASC}], limit: 2) { logIndex blockNumber } }',
  )
  assert.deepEqual(both.Log, [
    { logIndex: 2, blockNumber: 1 },
    { logIndex: 2, blockNumber: 2 },
  ])
})

test('the key of a group is written in the format that the query asks for', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const formats = '{ address checksum: address(format: CHECKSUM) }'
  const { first, groups } = await query(
    `{ first: Log(limit: 1) ${formats} groups: Log(groupBy: [address], limit: 1) ${formats} }`,
  )
  assert.deepEqual(groups, first)
  assert.notEqual(groups[0].checksum, groups[0].address)
})

test('a value that is missing makes a group of its own', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Transaction } = await query(
    '{ Transaction(groupBy: [maxFeePerGas]) { maxFeePerGas n: COUNT(GROUP: {}) } }',
  )
  const all: readonly { maxFeePerGas: string | null }[] = (
    await query('{ Transaction { maxFeePerGas } }')
  ).Transaction
  const counted = Map.groupBy(all, (one) => one.maxFeePerGas)
  assert.ok(counted.has(null) && counted.size > 1)
  assert.deepEqual(
    Transaction,
    [...counted].map(([maxFeePerGas, rows]) => ({ maxFeePerGas, n: rows.length })),
  )
})

test('a missing value is no text, and a list is no text that looks like it', async (t) => {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 1 }) })
  const view = servedView('type Mixed { text: String json: JSON list: [String] }')
  const [block = assert.fail()] = room.chain
  await putRows(room, view, block, [
    { text: '[null]', json: [1], list: ['a'] },
    { json: '[[1]]' },
    { text: 'null', json: [1], list: ['a'] },
    { text: '[null]', list: ['a', 'b'] },
  ])
  room.graphql.setViews([view])
  const groups = async (key: string) =>
    (await room.query(`{ Mixed(groupBy: [${key}]) { ${key} n: COUNT(GROUP: {}) } }`)).Mixed
  assert.deepEqual(await groups('text'), [
    { text: '[null]', n: 2 },
    { text: null, n: 1 },
    { text: 'null', n: 1 },
  ])
  assert.deepEqual(await groups('json'), [
    { json: [1], n: 2 },
    { json: '[[1]]', n: 1 },
    { json: null, n: 1 },
  ])
  assert.deepEqual(await groups('list'), [
    { list: ['a'], n: 2 },
    { list: null, n: 1 },
    { list: ['a', 'b'], n: 1 },
  ])
})

test('groups nest, and an outer aggregate is taken over the inner one', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `{ Log(groupBy: [transactionIndex]) { transactionIndex
    total: _sum(_group: {field: _count}) most: MAX(_group: {field: COUNT})
    _group(groupBy: [blockNumber], limit: 1) { blockNumber n: _count(_group: {}) } } }`
  assert.deepEqual((await query(text)).Log, [
    { transactionIndex: 0, total: 6, most: 1, _group: [{ blockNumber: 1, n: 1 }] },
    { transactionIndex: 1, total: 12, most: 2, _group: [{ blockNumber: 1, n: 2 }] },
  ])
})

test('an aggregate takes those members that its own conditions, order and page leave', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const parts = {
    '{field: logIndex, filter: {logIndex: {_gt: 0}}}': 3,
    '{field: logIndex, order: {logIndex: DESC}, limit: 1}': 2,
    '{field: logIndex, offset: 2}': 2,
    '{field: logIndex, limit: 2}': 1,
    '{field: logIndex, filter: {logIndex: {_neq: 1}}, offset: 1, limit: 1}': 2,
    '{field: logIndex, limit: 0}': 3,
  }
  const sums = Object.keys(parts).map((part, index) => `s${index}: SUM(GROUP: ${part})`)
  const { Log } = await query(`{ Log(groupBy: [blockNumber], limit: 1) { ${sums.join(' ')}
    n: COUNT(GROUP: {filter: {logIndex: {_gt: 0}}, limit: 1}) } }`)
  assert.deepEqual(Object.values(Log[0]), [...Object.values(parts), 1])
})

test('of several aggregates inside the outer ones take the one that they name', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Log } = await query(`{ Log(groupBy: [transactionIndex], offset: 1) {
    sums: SUM(GROUP: {field: SUM}) counts: SUM(GROUP: {field: COUNT}) most: MAX(GROUP: {field: SUM})
    few: SUM(GROUP: {field: COUNT, filter: {blockNumber: {_leq: 2}}})
    GROUP(groupBy: [blockNumber], limit: 1) { s: SUM(GROUP: {field: logIndex}) n: COUNT(GROUP: {}) } } }`)
  assert.deepEqual(Log, [{ sums: 18, counts: 12, most: 3, few: 4, GROUP: [{ s: 3, n: 2 }] }])
})

test('an aggregate is taken over the ones that members have', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Transaction } = await query(`{ Transaction(groupBy: [blockNumber], limit: 1) {
    all: SUM(GROUP: {field: COUNT}) one: MAX(GROUP: {field: COUNT, limit: 1})
    GROUP { logIndexes: MAX(logs: {field: logIndex}) COUNT(logs: {}) } } }`)
  assert.deepEqual(Transaction, [
    {
      ...{ all: 3, one: 1 },
      GROUP: [
        { logIndexes: 0, COUNT: 1 },
        { logIndexes: 2, COUNT: 2 },
      ],
    },
  ])
})

test('a list under a row can be grouped', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `{ Block(limit: 1) { transactions(groupBy: [type], order: {type: DESC}) { type n: _count(_group: {}) } } }`
  assert.deepEqual((await query(text)).Block, [
    {
      transactions: [
        { type: '0x2', n: 1 },
        { type: '0x0', n: 1 },
      ],
    },
  ])
})

test('the groups of a list under a row come in the order of the chain', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `{ Transaction(filter: {blockNumber: 2}) { logs(groupBy: [logIndex]) { logIndex } } }`
  assert.deepEqual((await query(text)).Transaction, [
    { logs: [{ logIndex: 0 }] },
    { logs: [{ logIndex: 1 }, { logIndex: 2 }] },
  ])
  const members = `{ Block(limit: 1) { transactions(groupBy: [blockNumber]) { GROUP { transactionIndex } } } }`
  assert.deepEqual((await query(members)).Block, [
    { transactions: [{ GROUP: [{ transactionIndex: 0 }, { transactionIndex: 1 }] }] },
  ])
})

test('each row that is grouped is compared with the keys and the filters of all aggregates', async (t) => {
  const room = await openGraphqlRoom(t)
  const cost = (text: string) => costOf(room, text)
  const four = repeat(4, (index) => `{data: {_like: "%0z${index}%"}}`)
  const count = `COUNT(GROUP: {filter: {_or: [${four}]}})`
  const [blocks, transactions, rows] = [6, 12, 18]
  for (const [below, times] of [
    ['address', 1],
    [`a: ${count}`, 1],
    [`a: ${count} b: ${count}`, 2],
    [`a: ${count} b: ${count} c: ${count} d: ${count}`, 3],
  ] as const) {
    const grouped = `(groupBy: [address]) { ${below} }`
    assert.equal(await cost(`{ Log${grouped} }`), blocks + times * rows)
    assert.equal(
      await cost(`{ Transaction { logs${grouped} } }`),
      blocks + transactions + rows + times * rows,
      'once more as linked rows',
    )
  }
})

test('each member of a group that is compared with a filter counts once more', async (t) => {
  const room = await openGraphqlRoom(t)
  const cost = (filter: string) =>
    costOf(room, `{ Log(groupBy: [address]) { GROUP(filter: ${filter}) { data } } }`)
  const rows = 18
  assert.equal(await cost('{logIndex: {_neq: 1000}}'), (await cost('null')) + rows)
})

test('a field that is no key cannot be selected beside the members', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  const cases: Readonly<Record<string, string>> = {
    '{ Log(groupBy: [address]) { data } }':
      'cannot select a non-group-by field at group-level. Field: data. Add it to groupBy, or select it inside GROUP.',
    '{ Log(groupBy: [address], order: {data: ASC}) { address } }':
      'cannot select a non-group-by field at group-level. Field: data. Add it to groupBy, or select it inside GROUP.',
    '{ Log { address _group { data } } }':
      '_group may only be referenced when within a groupBy request. Add groupBy to the field around it.',
    '{ Log { n: COUNT(GROUP: {}) } }':
      'GROUP may only be referenced when within a groupBy request. Add groupBy to the field around it.',
    '{ Block(groupBy: [transactions]) { number } }':
      'invalid field value to groupBy. Field: transactions. Group by a value or a single link.',
    '{ Log(groupBy: [address]) { address s: _sum(_group: {field: _count}) _group(groupBy: [data]) { data } } }':
      'The aggregate _count is not selected inside what is aggregated. Select _count there as well.',
  }
  for (const [text, message] of Object.entries(cases)) {
    assert.deepEqual(await errors(text), [message], text)
  }
})

test('a list that is grouped by null is none of groups', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = 'query ($g: [LogField!]) { Log(groupBy: $g, limit: 2) { logIndex } }'
  const rows = [{ logIndex: 0 }, { logIndex: 1 }]
  assert.deepEqual(await query(text, { g: null }), { Log: rows })
  assert.deepEqual(await query('{ Log(groupBy: null, limit: 2) { logIndex } }'), { Log: rows })
})
