import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  defaultLimits,
  maxFragments,
  maxNesting,
  maxSameFields,
  maxSelections,
  maxTokens,
} from '../../src/graphql/limits.ts'
import { commonSettings } from '../../src/service/common-settings.ts'
import { createChain } from '../support/block-factory.ts'
import { openGraphqlRoom, openTestGraphql } from '../support/graphql-room.ts'

test('the settings of the programs start from the limits of the engine', () => {
  for (const program of ['generator', 'host'] as const) {
    const settings = commonSettings(program)
    assert.deepEqual(
      {
        maxDepth: settings.graphqlMaxDepth.default,
        maxCost: settings.graphqlMaxCost.default,
        maxRows: settings.graphqlMaxRows.default,
        maxResultBytes: settings.graphqlMaxResultBytes.default,
        maxMs: settings.graphqlMaxMs.default,
      },
      defaultLimits,
    )
  }
})

test('depth: as many levels as allowed, not one more', async (t) => {
  const { query, errors } = await openGraphqlRoom(t, { limits: { maxDepth: 4 } })
  assert.ok(await query('{ Block(limit: 1) { transactions { logs { data } } } }'))
  assert.deepEqual(
    await errors('{ Block(limit: 1) { transactions { logs { block { number } } } } }'),
    [
      'The query nests deeper than 4 levels. Select fewer levels, and ask for the documents further down by a query of their own.',
    ],
  )
})

test('depth counts through fragments', async (t) => {
  const { errors } = await openGraphqlRoom(t, { limits: { maxDepth: 3 } })
  const text = `{ Block { ...b } } fragment b on Block { transactions { ...t } }
    fragment t on Transaction { logs { data } }`
  assert.match((await errors(text))[0] ?? '', /nests deeper than 3 levels/)
})

test('rows: all lists of an answer together', async (t) => {
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

test('cost: documents looked at, however few of them are shown', async (t) => {
  const text = '{ Log(filter: {data: {_like: "%nothing%"}}) { data } }'
  const cost = 6 + 18
  const enough = await openGraphqlRoom(t, { limits: { maxCost: cost } })
  assert.deepEqual((await enough.query(text)).Log, [])
  const tooLittle = openTestGraphql(enough.store.reader, { limits: { maxCost: cost - 1 } })
  const { errors, data } = await tooLittle.execute({ query: text })
  assert.equal(data, null)
  assert.equal(
    errors?.[0]?.message,
    `The query looks at more than ${cost - 1} documents. Narrow the range of blocks, filter on an indexed field (number, hash, from, to, address, topics), or order by block number with a limit.`,
  )
  assert.equal(errors?.[0]?.extensions['code'], 'GRAPHQL_COST_LIMIT')
})

test('size: the bytes of the answer’s rows as JSON, a comma each; one byte less is too little', async (t) => {
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

test('size: what hangs below the rows counts too', async (t) => {
  const text = `{ Log(limit: 5) { address topics data blockNumber block { hash number } n: COUNT(topics: {}) }
    Block(limit: 2) { number transactions { to status logs { logIndex } } } }`
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

test('time: a query that takes longer is stopped while it works', async (t) => {
  const shape = { transactions: 20, logs: 60, entries: 0, calldataBytes: 4 }
  const { query, store } = await openGraphqlRoom(t, { chain: createChain({ count: 12, shape }) })
  const once = 'Log(filter: {data: {_like: "%nothing%"}}) { data }'
  const text = `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: ${once}`).join(' ')} }`
  assert.deepEqual((await query(text)).a39, [])
  const hasty = openTestGraphql(store.reader, { limits: { maxMs: 1 } })
  const { errors } = await hasty.execute({ query: text })
  assert.match(errors?.[0]?.message ?? '', /^The query takes longer than 1 ms. Narrow the range/)
})

test('syntax: tokens, open brackets and fields', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const ids = (count: number) => `{ Log(docID: [${Array(count).fill('"x"').join(' ')}]) { data } }`
  const otherTokens = 12
  assert.deepEqual((await query(ids(maxTokens - otherTokens))).Log, [])
  assert.match(
    (await errors(ids(maxTokens - otherTokens + 1)))[0] ?? '',
    /^The query has more than 10000 tokens/,
  )
  const nested = (depth: number) =>
    `{ Log(filter: ${'{_not: '.repeat(depth)}{}${'}'.repeat(depth)}) { data } }`
  assert.ok(await query(nested(maxNesting - 3)))
  assert.match(
    (await errors(nested(maxNesting - 2)))[0] ?? '',
    /^The query has more than 64 brackets open at once/,
  )
  const fields = (count: number) =>
    `{ Block(limit: 1) { ${Array.from({ length: count }, (_, index) => `f${index}: number`).join(' ')} } }`
  assert.ok(await query(fields(maxSelections - 1)))
  assert.match(
    (await errors(fields(maxSelections)))[0] ?? '',
    /^The query selects more than 1000 fields/,
  )
})

test('syntax: fields of one name in one place, and fragments', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const same = (count: number) => `{ Block(limit: 1) { ${'number '.repeat(count)} hash } }`
  assert.deepEqual(Object.keys((await query(same(maxSameFields))).Block[0]), ['number', 'hash'])
  assert.deepEqual(await errors(same(maxSameFields + 1)), [
    'The query selects number more than 20 times in one place. Select it once, or give each an alias of its own.',
  ])
  const fragments = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `f${index}`)
    const spreads = names.map((name) => `...${name}`).join(' ')
    const definitions = names.map((name) => `fragment ${name} on Block { number }`).join(' ')
    return `{ Block(limit: 1) { ${spreads} } } ${definitions}`
  }
  assert.deepEqual((await query(fragments(maxFragments))).Block, [{ number: 1 }])
  assert.deepEqual(await errors(fragments(maxFragments + 1)), [
    'The query has more than 50 fragments. Write some of them out.',
  ])
})

test('rows: a sorted list is followed no further than twice the rows of an answer', async (t) => {
  const { query, errors } = await openGraphqlRoom(t, { limits: { maxRows: 6 } })
  assert.equal(
    (await query('{ Log(order: {data: ASC}, offset: 12, limit: 1) { data } }')).Log.length,
    1,
  )
  assert.deepEqual(await errors('{ Log(order: {data: ASC}, offset: 12, limit: 2) { data } }'), [
    'The query asks for rows beyond number 12 of a sorted list. Set a smaller `offset`, filter from the last value of the page before, or order by block number.',
  ])
})

test('syntax: fragments do not multiply unnoticed', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  const doubling = Array.from(
    { length: 10 },
    (_, index) =>
      `fragment f${index} on Block { a${index}: transactions { block { ...f${index + 1} } } b${index}: transactions { block { ...f${index + 1} } } }`,
  )
  const text = `{ Block { ...f0 } } ${doubling.join(' ')} fragment f10 on Block { number }`
  assert.match((await errors(text))[0] ?? '', /selects more than 1000 fields|nests deeper/)
})

test('variables nest no deeper than brackets may', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const text = 'query($f: BlockFilterArg) { Block(filter: $f) { number } }'
  const nested = (depth: number): unknown => (depth === 0 ? {} : { _not: nested(depth - 1) })
  assert.ok(await query(text, { f: nested(maxNesting - 1) }))
  assert.match(
    (await errors(text, { f: nested(maxNesting + 1) }))[0] ?? '',
    /^The variables nest deeper than 64 levels/,
  )
  let hostile: unknown = {}
  for (let depth = 0; depth < 200_000; depth++) hostile = { _not: hostile }
  assert.match((await errors(text, { f: hostile }))[0] ?? '', /^The variables nest deeper/)
})
