import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  maxObjectBytes,
  maxOrderKeys,
  maxPatternLength,
  maxValues,
} from '../../../src/graphql/budget/limits.ts'
import { commonSettings } from '../../../src/service/settings/common-settings.ts'
import { graphqlLimits } from '../../../src/service/settings/graphql-limits.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import {
  costOf,
  documentsRead,
  openGraphqlRoom,
  openTestGraphql,
  operatorLimits,
} from '../support/graphql-room.ts'
import { list, noHash, repeat } from '../support/repeat.ts'
import { servedView } from '../support/served-views.ts'

test('the settings of the programs start from the limits of the engine, whose refusals name them', () => {
  for (const program of ['generator', 'host'] as const) {
    const defaults = Object.entries(commonSettings(program)).map(([name, each]) => [
      name,
      each.default,
    ])
    assert.deepEqual(graphqlLimits(Object.fromEntries(defaults)), operatorLimits)
  }
})

test('a query may nest as deep as the limit, and not one level more', async (t) => {
  const { query, errors } = await openGraphqlRoom(t, { limits: { maxDepth: 4 } })
  assert.ok(await query('{ Block(limit: 1) { transactions { logs { data } } } }'))
  assert.deepEqual(
    await errors('{ Block(limit: 1) { transactions { logs { block { number } } } } }'),
    [
      'The query nests deeper than 4 levels. Select fewer levels, and ask for the documents further down by a query of their own.',
    ],
  )
})

test('groups, aggregates, versions and proofs count as levels as well', async (t) => {
  const { store, chain } = await openGraphqlRoom(t)
  const commits = `_commits(docID: "block-${chain[0]?.hash}")`
  const queries = [
    ['{ Log(groupBy: [blockNumber]) { blockNumber } }', 2],
    ['{ Log(groupBy: [blockNumber]) { _group { data } } }', 3],
    ['{ Log(groupBy: [blockNumber]) { _group { transaction { hash } } } }', 4],
    ['{ Log(limit: 1) { _version { cid } } }', 3],
    ['{ Log(limit: 1) { _version { signature { type } } } }', 4],
    ['{ Log(limit: 1) { _proof { cid } } }', 3],
    ['{ Log(limit: 1) { _proof { seals { type } } } }', 4],
    [`{ ${commits} { cid } }`, 2],
    [`{ ${commits} { signature { type } } }`, 3],
    ['{ Block(limit: 1) { transactions { _count(logs: {}) } } }', 3],
    [
      '{ Block(limit: 1) { transactions { COUNT(logs: {}) } SUM(transactions: {field: COUNT}) } }',
      3,
    ],
  ] as const
  for (const [query, levels] of queries) {
    const within = openTestGraphql(store.reader, { limits: { maxDepth: levels } })
    assert.deepEqual((await within.execute({ query })).errors ?? [], [], query)
    const beyond = openTestGraphql(store.reader, { limits: { maxDepth: levels - 1 } })
    const { errors = [] } = await beyond.execute({ query })
    assert.match(errors[0]?.message ?? '', /^The query nests deeper than/, query)
  }
})

test('what a View reads has as many levels as in a query of its own', async (t) => {
  const { store } = await openGraphqlRoom(t)
  const errorsWithin = async (maxDepth: number) => {
    const graphql = openTestGraphql(store.reader, { limits: { maxDepth } })
    graphql.setViews([servedView('type Sent { n: Int }', 'Log { transaction { hash } }')])
    return (await graphql.execute({ query: '{ Sent { _source } }' })).errors
  }
  assert.equal(await errorsWithin(3), undefined)
  assert.match((await errorsWithin(2))?.[0]?.message ?? '', /^The query nests deeper than 2 levels/)
})

test('depth counts through fragments', async (t) => {
  const { errors } = await openGraphqlRoom(t, { limits: { maxDepth: 3 } })
  const text = `{ Block { ...b } } fragment b on Block { transactions { ...t } }
    fragment t on Transaction { logs { data } }`
  assert.match((await errors(text))[0] ?? '', /nests deeper than 3 levels/)
})

test('rows are limited over all lists of an answer together', async (t) => {
  const { query, errors } = await openGraphqlRoom(t, { limits: { maxRows: 18 } })
  assert.equal((await query('{ Log { data } }')).Log.length, 18)
  assert.equal(
    (await query('{ Log(limit: 0) { data block { number } transaction { hash } } }')).Log.length,
    18,
  )
  const message =
    'The answer has more than 18 rows. Set a smaller `limit` (0 means none), also on nested lists, and page with `offset` or a range of block numbers; the operator sets GRAPHQL_MAX_ROWS.'
  assert.deepEqual(await errors('{ Log { data } Block(limit: 1) { number } }'), [message])
  assert.deepEqual(await errors('{ Block { transactions { hash logs { data } } } }'), [message])
  assert.deepEqual(
    await errors('{ Log(order: {data: ASC}) { data } Block(limit: 1) { number } }'),
    [message],
  )
  assert.deepEqual(await errors('{ Log(groupBy: [data]) { _group { data } } }'), [message])
})

test('cost counts the documents that are read, however few of them are returned', async (t) => {
  const text = '{ Log(filter: {data: {_like: "%nothing%"}}) { data } }'
  const cost = 6 + 18
  const enough = await openGraphqlRoom(t, { limits: { maxCost: cost } })
  assert.deepEqual((await enough.query(text)).Log, [])
  const tooLittle = openTestGraphql(enough.store.reader, { limits: { maxCost: cost - 1 } })
  const { errors, data } = await tooLittle.execute({ query: text })
  assert.equal(data, null)
  assert.equal(
    errors?.[0]?.message,
    `The query looks at more than ${cost - 1} documents; one counts again for every 8 conditions and keys that it is compared with. Narrow the range of blocks, filter on an indexed field (number, hash, from, to, address, topics), or order by block number with a limit.`,
  )
  assert.equal(errors?.[0]?.extensions['code'], 'GRAPHQL_COST_LIMIT')
})

test('an offset beyond the rows of a list costs nothing', async (t) => {
  const room = await openGraphqlRoom(t)
  const rows = await costOf(room, '{ Transaction { hash } }')
  assert.equal(await costOf(room, '{ Transaction { hash logs(offset: 9) { data } } }'), rows)
})

test('a filter that nothing meets reads nothing, also on what is linked', async (t) => {
  const room = await openGraphqlRoom(t)
  for (const filter of ['{_or: []}', '{logs: {_or: []}}', '{block: {_not: {}}}'])
    assert.equal(await costOf(room, `{ Transaction(filter: ${filter}) { hash } }`), 0, filter)
})

test('cost counts a row at the end of a link once for neighbours that share it', async (t) => {
  const room = await openGraphqlRoom(t)
  const cost = (text: string) => costOf(room, text)
  const logs = await cost('{ Log { logIndex } }')
  assert.equal(await cost('{ Log { logIndex block { number } } }'), logs + 6)
  assert.equal(await cost('{ Log { logIndex transaction { hash } } }'), logs + 12)
})

test('cost counts a document again for every 8 conditions and keys', async (t) => {
  const room = await openGraphqlRoom(t)
  const looked = (patterns: number, order: string) => {
    const filter = `{_or: [${repeat(patterns, () => '{data: {_like: "%nothing%"}}')}]}`
    return costOf(room, `{ Log(filter: ${filter}${order}) { data } }`)
  }
  const blocks = 6
  const logs = 18
  assert.equal(await looked(8, ''), blocks + logs)
  assert.equal(await looked(9, ''), blocks + 2 * logs)
  assert.equal(await looked(16, ''), blocks + 2 * logs)
  assert.equal(await looked(6, ', order: [{data: ASC}, {address: ASC}]'), blocks + logs)
  assert.equal(await looked(7, ', order: [{data: ASC}, {address: ASC}]'), blocks + 2 * logs)
  const summed = (patterns: number) => {
    const filter = `{_or: [${repeat(patterns, () => '{data: {_like: "%"}}')}]}`
    return costOf(room, `{ SUM(Log: {field: logIndex, filter: ${filter}}) }`)
  }
  assert.equal(await summed(7), blocks + logs, 'with one for what is added')
  assert.equal(await summed(8), blocks + 2 * logs)
  const ofBlocks = (patterns: number) => {
    const filter = `{_or: [${repeat(patterns, () => '{hash: {_like: "%nothing%"}}')}]}`
    return costOf(room, `{ Block(filter: ${filter}) { number } }`)
  }
  assert.equal(await ofBlocks(7), blocks, 'with one for where the block is')
  assert.equal(await ofBlocks(8), 2 * blocks)
})

test('conditions count names and objects in the text and at every use of a variable', async (t) => {
  const { query, errors } = await openGraphqlRoom(t, { limits: { maxConditions: 12 } })
  const message =
    'The query has more than 12 conditions: names and objects in filters, orders and selectors, those of a variable once for each place where it stands. `_in` stands for many `_or`; ask in several requests, or the operator sets GRAPHQL_MAX_CONDITIONS.'
  const inText = (count: number) =>
    `{ Log(filter: {_or: [${repeat(count, () => '{data: "0x"}')}]}) { data } }`
  assert.ok(
    await query('{ Log(filter: {_or: [{data: "0x"}, {data: "0x"}, {data: "0x"}]}) { data } }'),
  )
  assert.deepEqual(await errors(inText(4)), [message])
  const places = (count: number) =>
    `query ($f: LogFilterArg) { ${repeat(count, (index) => `a${index}: Log(filter: $f) { data }`)} }`
  const f = { address: '0x', blockNumber: { _ge: 1 } }
  assert.ok(await query(places(3), { f }), 'four names in each: three fields, one of them without')
  assert.deepEqual(await errors(places(4), { f }), [message])
  const filters = list(13, () => ({}))
  assert.deepEqual(
    await errors('query ($f: [LogFilterArg!]) { Log(filter: {_and: $f}) { data } }', {
      f: filters,
    }),
    [message],
    'before anything is made of them',
  )
  const unused = 'query ($f: [LogFilterArg!]) { __typename }'
  assert.ok(await query(unused, { f: filters.slice(1) }))
  assert.deepEqual(await errors(unused, { f: filters }), [message])
  const count = (index: number) => `n${index}: COUNT(Log: {filter: {data: {_eq: "0x"}}})`
  const below = 'transactions(filter: {value: {_ge: 1}, to: {_eq: "0x"}}) { hash }'
  assert.ok(await query(`{ Block { ${below} } ${repeat(2, count)} }`), 'four and twice three')
  assert.deepEqual(await errors(`{ Block { ${below} } ${repeat(3, count)} }`), [message])
})

test('values of lists and variables count at each use, and long text by its length', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const message =
    'The query has more than 50000 values in lists and variables, once for each place where they stand; a text counts for every 100 characters. Ask for parts of long lists in several requests.'
  const text = 'query ($h: [String!]) { Block(filter: {hash: {_in: $h}}) { number } }'
  const hashes = (count: number) => ({ h: list(count, noHash) })
  assert.deepEqual(await query(text, hashes(maxValues - 1)), { Block: [] })
  assert.deepEqual(await errors(text, hashes(maxValues)), [message])
  const unused = 'query ($h: [String!]) { __typename }'
  assert.ok(await query(unused, hashes(maxValues - 1)))
  assert.deepEqual(await errors(unused, hashes(maxValues)), [message])
  const twice = text.replace(/}$/, 'b: Log(filter: {blockHash: {_in: $h}}) { data } }')
  assert.deepEqual(await query(twice, hashes(24_000)), { Block: [], b: [] })
  assert.deepEqual(await errors(twice, hashes(maxValues / 2)), [message])
  const pattern = 'query ($p: String) { Log(filter: {data: {_like: $p}}) { data } }'
  const letters = (maxValues - 1) * 100
  assert.deepEqual(await query(pattern, { p: 'z'.repeat(letters + 99) }), { Log: [] })
  assert.deepEqual(await errors(pattern, { p: 'z'.repeat(letters + 100) }), [message])
})

test('a pattern is refused beyond its limit of characters', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const text = 'query ($p: String) { Log(filter: {data: {_like: $p}}) { data } }'
  const zeros = '0'.repeat(maxPatternLength)
  assert.ok(await query(text, { p: `%${zeros}%` }))
  assert.deepEqual(await errors(text, { p: `%${zeros}0%` }), [
    'A pattern has more than 200 characters between two %. Leave out the % at one end, or look for a part of the text.',
  ])
  for (const p of [`%${zeros}0`, `${zeros}0%`, `${zeros}%0`]) assert.ok(await query(text, { p }))
})

test('equal values in a list are looked up once', async (t) => {
  const { query, registry, chain } = await openGraphqlRoom(t)
  const looked = async (text: string, variables: object) => {
    const before = await documentsRead(registry)
    assert.equal((await query(text, { ...variables })).Block.length, 1)
    return (await documentsRead(registry)) - before
  }
  const { hash } = chain[2] ?? { hash: '' }
  const byHash = 'query ($v: [String!]) { Block(filter: {hash: {_in: $v}}) { number } }'
  const byID = 'query ($v: [ID!]) { Block(docID: $v) { number } }'
  const spellings = (value: string) =>
    list(20_000, (index) => (index % 2 === 0 ? value : value.toUpperCase().replace('0X', '0x')))
  assert.equal(await looked(byHash, { v: spellings(hash) }), await looked(byHash, { v: [hash] }))
  assert.equal(
    await looked(byID, { v: spellings(`block-${hash}`) }),
    await looked(byID, { v: [`block-${hash}`] }),
  )
})

test('an order is refused beyond its limit of distinct keys', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const text = 'query ($o: [LogOrderArg]) { Log(order: $o) { blockNumber logIndex } }'
  const names = [
    'data',
    'address',
    'blockHash',
    'blockNumber',
    'transactionHash',
    'removed',
    'transactionIndex',
    'logIndex',
    '_docID',
    'block_id',
    'transaction_id',
    '_attestations',
  ]
  const keys: object[] = [
    ...names.map((name) => ({ [name]: 'ASC' })),
    ...['hash', 'from', 'to', 'value', 'input'].map((name) => ({ transaction: { [name]: 'ASC' } })),
  ]
  assert.equal(keys.length, maxOrderKeys + 1)
  assert.ok(await query(text, { o: keys.slice(1) }))
  assert.deepEqual(await errors(text, { o: keys }), [
    'The query orders a list by more than 16 keys. Leave out those that never decide.',
  ])
  const once = await query(text, { o: [{ data: 'ASC' }, { logIndex: 'DESC' }] })
  const often = list(400, (index) => (index % 2 === 0 ? { data: 'ASC' } : { logIndex: 'DESC' }))
  assert.deepEqual(await query(text, { o: often }), once)
})

test('a group key that is named often counts once', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = 'query ($g: [LogField!]) { Log(groupBy: $g) { address n: COUNT(GROUP: {}) } }'
  const once = await query(text, { g: ['address'] })
  assert.deepEqual(await query(text, { g: list(40_000, () => 'address') }), once)
  const names = repeat(9_000, (index) => (index % 2 === 0 ? 'block_id' : '_blockID'))
  assert.deepEqual(
    await query(`{ Log(groupBy: [${names}]) { block_id } }`),
    await query('{ Log(groupBy: [block]) { block_id } }'),
  )
})

test('a single object is limited in size, without those below it', async (t) => {
  const shape = { transactions: 1, logs: 0, entries: 0, calldataBytes: 200_000 }
  const { query, errors } = await openGraphqlRoom(t, { chain: createChain({ count: 1, shape }) })
  const text = (count: number) =>
    `{ Transaction { ${repeat(count, (index) => `a${index}: input`)} } }`
  const [row] = (await query(text(1))).Transaction
  const enough = Math.floor(maxObjectBytes / (row.a0.length + '"a00":"",'.length))
  assert.ok(await query(text(enough)))
  const message =
    'One object of the answer is larger than 16777216 bytes, without those below it. Select each field once; input, data, logsBloom and delta are the largest.'
  assert.deepEqual(await errors(text(enough + 1)), [message])
  const deltas = `{ Transaction { _version { ${repeat(90, (index) => `d${index}: delta`)} } } }`
  assert.deepEqual(await errors(deltas), [message])
  const [{ hash }] = (await query('{ Transaction { hash } }')).Transaction
  assert.deepEqual(
    await errors(
      deltas.replace('Transaction { _version', `_commits(docID: "tx-${hash}")`).replace(/}$/, ''),
    ),
    [message],
  )
})

test('an answer may have exactly as many bytes as the limit', async (t) => {
  const text = '{ Log { address topics data blockNumber } Block(limit: 2) { number logsBloom } }'
  const { query, store } = await openGraphqlRoom(t)
  const { Log, Block } = await query(text)
  const bytes = [...Log, ...Block].reduce(
    (sum, row) => sum + Buffer.byteLength(JSON.stringify(row)) + 1,
    0,
  )
  const within = async (maxResultBytes: number) =>
    (await openTestGraphql(store.reader, { limits: { maxResultBytes } }).execute({ query: text }))
      .errors
  assert.equal(await within(bytes), undefined)
  assert.deepEqual(
    (await within(bytes - 1))?.map(({ message, extensions }) => [message, extensions['code']]),
    [
      [
        `The answer is larger than ${bytes - 1} bytes. Select fewer fields (input, data and logsBloom are the largest) or set a smaller \`limit\`.`,
        'GRAPHQL_SIZE_LIMIT',
      ],
    ],
  )
})

const nested: Readonly<Record<string, string>> = {
  'of everything': `{ Log(limit: 5) { address topics data blockNumber block { hash number } n: COUNT(topics: {}) }
    Block(limit: 2) { number transactions { to status logs { logIndex } } } }`,
  'of single links, once for each row': '{ Log { block { logsBloom } } }',
  'of lists under rows': '{ Transaction { logs { data topics } } }',
  'of groups': '{ Log(groupBy: [data, address]) { data address } }',
  'of groups under rows': '{ Transaction { logs(groupBy: [data, address]) { data address } } }',
  'of members of groups': '{ Log(groupBy: [blockNumber]) { GROUP { data topics } } }',
  'of versions': '{ Log { _version { cid height delta } } }',
  'of proofs': '{ Log { _proof { cid root path seals { type value } } } }',
}

for (const [which, text] of Object.entries(nested))
  test(`the size of an answer counts what is nested in it: ${which}`, async (t) => {
    const { query, store } = await openGraphqlRoom(t)
    const bytes = Buffer.byteLength(JSON.stringify(await query(text)))
    const within = async (maxResultBytes: number) =>
      (await openTestGraphql(store.reader, { limits: { maxResultBytes } }).execute({ query: text }))
        .errors
    assert.equal(await within(bytes), undefined)
    // Not counted: the brackets of nested lists, and aggregates.
    assert.match(
      (await within(Math.floor(bytes * 0.98)))?.[0]?.message ?? '',
      /^The answer is larger/,
    )
  })

test('a query that takes too long is stopped while it runs', async (t) => {
  const shape = { transactions: 20, logs: 60, entries: 0, calldataBytes: 4 }
  const { query, store } = await openGraphqlRoom(t, { chain: createChain({ count: 12, shape }) })
  const once = 'Log(filter: {data: {_like: "%nothing%"}}) { data }'
  const text = `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: ${once}`).join(' ')} }`
  assert.deepEqual((await query(text)).a39, [])
  const hasty = openTestGraphql(store.reader, { limits: { maxMs: 1 } })
  const { errors } = await hasty.execute({ query: text })
  assert.match(errors?.[0]?.message ?? '', /^The query takes longer than 1 ms. Narrow the range/)
})

test('a sorted list and one of groups end at twice the row limit', async (t) => {
  const { query, errors } = await openGraphqlRoom(t, { limits: { maxRows: 6 } })
  const message =
    'The query asks for rows beyond number 12 of a sorted list. Set a smaller `offset`, filter from the last value of the page before, or order by block number.'
  for (const text of [
    '{ Log(order: {data: ASC}, offset: 12, limit: 1) { data } }',
    '{ Log(groupBy: [_docID], offset: 12, limit: 1) { _docID } }',
  ]) {
    assert.equal((await query(text)).Log.length, 1)
    assert.deepEqual(await errors(text.replace('limit: 1', 'limit: 2')), [message])
  }
})

test('a sorted list and one of groups are refused beyond the row limit, not cut', async (t) => {
  const { errors } = await openGraphqlRoom(t, { limits: { maxRows: 6 } })
  for (const text of [
    '{ Log(order: {data: ASC}) { data } }',
    '{ Log(groupBy: [_docID]) { _docID } }',
  ])
    assert.match((await errors(text))[0] ?? '', /^The answer has more than 6 rows\./)
})
