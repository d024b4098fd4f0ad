import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'

import { createChain } from '../support/chain/block-factory.ts'
import { costOf, type GraphqlRoom, openGraphqlRoom } from './support/graphql-room.ts'
import { putRows, servedView, storedFailure } from './support/served-views.ts'

const sdl = `
"Transfers of tokens."
type Transfer {
  "Who sent."
  from: String @index
  amount: BigInt
  price: Float
  place: Int
  ok: Boolean
  key: ID
  meta: JSON
  tags: [String]
  counts: [Int]
}`

const transfer = { ...servedView(sdl), address: `0x${'aB'.repeat(20)}` }
const sender = '0xAbCd000000000000000000000000000000000001'

/** Rows of two blocks of six; the others have none. */
async function openRoom(t: TestContext): Promise<GraphqlRoom> {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 6 }) })
  const [, second, , fourth] = room.chain
  assert.ok(second !== undefined && fourth !== undefined)
  await putRows(room, transfer, second, [
    { from: sender, amount: '100', price: 0.5, place: 1, ok: true, key: 'A', tags: ['x', 'y'] },
    { from: '0x02', amount: '-99999999999999999999', place: 2, meta: { b: [1], a: null } },
  ])
  await putRows(room, transfer, fourth, [
    { from: sender.toLowerCase(), amount: '20', price: 2, counts: [1, 2], ok: false },
    {},
  ])
  room.graphql.setViews([transfer])
  return room
}

describe('rows of a View are queried like documents', () => {
  const cases: readonly [string, string, unknown][] = [
    [
      'all of them in chain order',
      '{ Transfer { from amount place meta tags counts _attestations } }',
      [
        {
          from: sender,
          amount: '100',
          place: 1,
          meta: null,
          tags: ['x', 'y'],
          counts: null,
          _attestations: 1,
        },
        {
          from: '0x02',
          amount: '-99999999999999999999',
          place: 2,
          meta: { a: null, b: [1] },
          tags: null,
          counts: null,
          _attestations: 1,
        },
        {
          from: sender.toLowerCase(),
          amount: '20',
          place: null,
          meta: null,
          tags: null,
          counts: [1, 2],
          _attestations: 1,
        },
        {
          from: null,
          amount: null,
          place: null,
          meta: null,
          tags: null,
          counts: null,
          _attestations: 1,
        },
      ],
    ],
    [
      'by hex in any case',
      `{ Transfer(filter: {from: "${sender.toUpperCase().replace('X', 'x')}"}) { place } }`,
      [{ place: 1 }, { place: null }],
    ],
    [
      'by a list of hex',
      `{ Transfer(filter: {from: {_in: ["${sender}", "0x02"]}}) { place } }`,
      [{ place: 1 }, { place: 2 }, { place: null }],
    ],
    [
      'by text with a pattern',
      '{ Transfer(filter: {from: {_ilike: "0xABCD%"}}) { place } }',
      [{ place: 1 }, { place: null }],
    ],
    [
      'by numbers of any size',
      '{ Transfer(filter: {amount: {_lt: 100}}) { amount } }',
      [{ amount: '-99999999999999999999' }, { amount: '20' }],
    ],
    [
      'by hex of a number',
      '{ Transfer(filter: {amount: "0x64"}) { amount } }',
      [{ amount: '100' }],
    ],
    [
      'by floats',
      '{ Transfer(filter: {price: {_geq: 0.5}}, order: {price: DESC}) { price } }',
      [{ price: 2 }, { price: 0.5 }],
    ],
    [
      'by what JSON is there',
      '{ Transfer(filter: {meta: {_neq: null}}) { place } }',
      [{ place: 2 }],
    ],
    [
      'by elements of lists',
      '{ Transfer(filter: {counts: {_any: {_gt: 1}}}) { counts } }',
      [{ counts: [1, 2] }],
    ],
    ['by a whole list', '{ Transfer(filter: {tags: {_eq: ["x", "y"]}}) { key } }', [{ key: 'A' }]],
    [
      'ordered as numbers',
      '{ Transfer(order: {amount: ASC}) { amount } }',
      [{ amount: null }, { amount: '-99999999999999999999' }, { amount: '20' }, { amount: '100' }],
    ],
    [
      'the newest ones',
      '{ Transfer(order: {_blockNumber: DESC}, limit: 2) { amount } }',
      [{ amount: null }, { amount: '20' }],
    ],
    [
      'from an offset',
      '{ Transfer(offset: 1, limit: 2) { amount } }',
      [{ amount: '-99999999999999999999' }, { amount: '20' }],
    ],
    [
      'in groups',
      '{ Transfer(groupBy: [ok]) { ok COUNT(GROUP: {}) GROUP { amount } } }',
      [
        { ok: true, COUNT: 1, GROUP: [{ amount: '100' }] },
        { ok: null, COUNT: 2, GROUP: [{ amount: '-99999999999999999999' }, { amount: null }] },
        { ok: false, COUNT: 1, GROUP: [{ amount: '20' }] },
      ],
    ],
  ]
  for (const [what, query, expected] of cases) {
    test(what, async (t) => {
      const room = await openRoom(t)
      const { Transfer } = await room.query(query)
      assert.deepEqual(Transfer, expected)
    })
  }
})

test('aggregates count and add up rows, also of a View beside a collection', async (t) => {
  const room = await openRoom(t)
  const found = await room.query(`{
    COUNT(Transfer: {filter: {from: {_neq: null}}})
    SUM(Transfer: {field: amount, filter: {amount: {_gt: 0}}})
    MAX(Transfer: {field: price})
    both: COUNT(Transfer: {}, Block: {})
  }`)
  assert.deepEqual(found, { COUNT: 3, SUM: 120, MAX: 2, both: 10 })
  const { Transfer } = await room.query('{ Transfer { tagged: COUNT(tags: {}) } }')
  assert.deepEqual(Transfer, [{ tagged: 2 }, { tagged: 0 }, { tagged: 0 }, { tagged: 0 }])
})

test('a row is named by View, block hash and place, and found by its name', async (t) => {
  const room = await openRoom(t)
  const { Transfer } = await room.query('{ Transfer { _docID _blockNumber } }')
  const [, second, , fourth] = room.chain
  const named = (hash: string | undefined, place: number) => `row-${transfer.id}-${hash}-${place}`
  assert.deepEqual(Transfer, [
    { _docID: named(second?.hash, 0), _blockNumber: second?.number },
    { _docID: named(second?.hash, 1), _blockNumber: second?.number },
    { _docID: named(fourth?.hash, 0), _blockNumber: fourth?.number },
    { _docID: named(fourth?.hash, 1), _blockNumber: fourth?.number },
  ])
  const docID = named(fourth?.hash, 0)
  const one = await room.query(`{ Transfer(docID: ["${docID}"]) { amount } }`)
  assert.deepEqual(one.Transfer, [{ amount: '20' }])
  const none = await room.query(
    `{ Transfer(docID: ["${docID.replace('row-0x0', 'row-0x1')}"]) { amount } }`,
  )
  assert.deepEqual(none.Transfer, [])
})

test('a row is also found by its name with the View’s ID of the registry chain', async (t) => {
  const room = await openRoom(t)
  const fourth = room.chain[3]
  const docID = `row-${transfer.address}-${fourth?.hash}-0`
  for (const condition of [
    `docID: "${docID}"`,
    `docID: ["row-0x00-${fourth?.hash}-0", "${docID.toLowerCase()}"]`,
    `filter: {_docID: {_eq: "${docID}"}}`,
    `filter: {_docID: {_in: ["${docID}"]}}`,
  ]) {
    const { Transfer } = await room.query(`{ Transfer(${condition}) { _docID amount } }`)
    const named = `row-${transfer.id}-${fourth?.hash}-0`
    assert.deepEqual(Transfer, [{ _docID: named, amount: '20' }], condition)
  }
  const other = docID.replace(/aB/, 'aC')
  assert.deepEqual(await room.query(`{ Transfer(docID: "${other}") { amount } }`), { Transfer: [] })
})

test('the source of a row is the document that the View read', async (t) => {
  const room = await openGraphqlRoom(t)
  const [first] = room.chain
  assert.ok(first !== undefined)
  const query = 'Transaction(order: {transactionIndex: DESC}) { sender: from block { number } }'
  const view = servedView('type Sent { n: Int }', query, 7)
  await putRows(room, view, first, [{ n: 0 }, { n: 1 }])
  room.graphql.setViews([view])
  const { Sent } = await room.query('{ Sent(order: {n: DESC}) { n _source } }')
  const { Transaction } = await room.query(
    `{ Transaction(filter: {blockNumber: ${first.number}}, order: {transactionIndex: DESC}) { sender: from block { number } } }`,
  )
  assert.deepEqual(Sent, [
    { n: 1, _source: Transaction[1] },
    { n: 0, _source: Transaction[0] },
  ])
})

test('blocks without rows are not read, and an index narrows the rows that are', async (t) => {
  const chain = createChain({ count: 200 })
  const room = await openGraphqlRoom(t, { chain })
  const view = servedView('type Rare { name: String @index n: Int }', 'Log { address }', 3)
  const last = chain.at(-1)
  assert.ok(last !== undefined)
  const documents = Array.from({ length: 640 }, (_, n) => ({ name: `name ${n >> 6}`, n }))
  await putRows(room, view, last, documents)
  room.graphql.setViews([view])
  assert.ok((await costOf(room, '{ Rare(limit: 1) { n } }')) < 50)
  const named = '{ Rare(filter: {name: "name 7"}) { n } }'
  const { Rare } = await room.query(named)
  assert.deepEqual(
    Rare.map(({ n }: { n: number }) => n),
    documents.slice(7 * 64, 8 * 64).map(({ n }) => n),
  )
  assert.ok((await costOf(room, named)) < 150)
  assert.ok((await costOf(room, '{ Rare(filter: {n: 7}) { n } }')) >= 640)
})

test('what only some operators can compare is refused with what is possible', async (t) => {
  const room = await openRoom(t)
  const refusals: readonly [string, RegExp][] = [
    [
      '{ Transfer(filter: {meta: {_eq: 1}}) { place } }',
      /knows only whether it has a value.*_neq: null/,
    ],
    [
      '{ Transfer(filter: {meta: {_gt: 1}}) { place } }',
      /"_gt" is not defined by type "JSONOperatorBlock"/,
    ],
    ['{ Transfer(order: {meta: ASC}) { place } }', /"meta" is not defined/],
    ['{ Transfer(filter: {amount: "1.5"}) { place } }', /BigInt cannot represent "1.5"/],
    ['{ Transfer(cid: "x") { place } }', /Unknown argument "cid"/],
    ['{ Transfer { _proof { root } } }', /Cannot query field "_proof"/],
  ]
  for (const [query, message] of refusals)
    assert.match((await room.errors(query))[0] ?? '', message)
})

test('who asks for a block at which a View failed is refused, who asks for more is not', async (t) => {
  const room = await openRoom(t)
  const [first] = room.chain
  assert.ok(first !== undefined)
  const { number: height, hash: blockHash } = first
  await room.store.putViewRows(transfer.slot, [{ height, blockHash, failure: storedFailure }])
  for (const filter of [`{_eq: ${height}}`, `{_in: [${height}, ${height + 1}, ${height + 3}]}`]) {
    const [error] = await room.errors(`{ Transfer(filter: {_blockNumber: ${filter}}) { place } }`)
    const named = `View Transfer failed at block ${height}.*: lens 2 trapped.*\\. GET /api/v0/views`
    assert.match(error ?? '', new RegExp(named))
  }
  const { Transfer } = await room.query(
    `{ Transfer(filter: {_blockNumber: {_geq: ${height}}}) { place } }`,
  )
  assert.equal(Transfer.length, 4)
})

/** The hash of no block that is stored. */
const noBlock = `0x${'7'.repeat(64)}`

describe('a query that names a stored block', () => {
  const filters: readonly [
    string,
    (height: number, hash: string) => string,
    'refused' | 'empty',
  ][] = [
    ['by its number', (height) => `_blockNumber: {_eq: ${height}}`, 'refused'],
    [
      'among other numbers',
      (height) => `_blockNumber: {_in: [9000, ${height}, ${height + 1}]}`,
      'refused',
    ],
    [
      'among other numbers, and by a value of the rows',
      (height) => `_blockNumber: {_in: [${height}, ${height + 1}]}, place: {_neq: -1}`,
      'refused',
    ],
    [
      'by a range of it alone',
      (height) => `_blockNumber: {_geq: ${height}, _leq: ${height}}`,
      'refused',
    ],
    [
      'by the docID of a row',
      (_, hash) => `_docID: {_eq: "row-${transfer.id}-${hash}-0"}`,
      'refused',
    ],
    [
      'by the docIDs of two rows',
      (_, hash) =>
        `_docID: {_in: ["row-${transfer.id}-${noBlock}-0", "row-${transfer.id}-${hash}-0"]}`,
      'refused',
    ],
    [
      'and by an alternative',
      (height, hash) =>
        `_or: [{_blockNumber: {_eq: ${height}}}, {_docID: {_in: ["row-${transfer.id}-${hash}-0"]}}]`,
      'refused',
    ],
    [
      'and another one that has rows',
      (height, hash) =>
        `_blockNumber: {_eq: ${height + 1}}, _docID: {_eq: "row-${transfer.id}-${hash}-0"}`,
      'empty',
    ],
    ['and a height that is not stored', () => '_blockNumber: {_in: [9000, 9001]}', 'empty'],
    [
      'and docIDs of blocks that are not stored',
      (height) =>
        `_blockNumber: {_geq: ${height}}, _docID: {_in: ["row-${transfer.id}-${noBlock}-0", "row-${transfer.id}-${noBlock}-1"]}`,
      'empty',
    ],
  ]
  for (const [how, filter, outcome] of filters) {
    test(`${how} is ${outcome} where its rows are not computed or failed`, async (t) => {
      const room = await openRoom(t)
      const [first, , third] = room.chain
      assert.ok(first !== undefined && third !== undefined)
      const failed = { height: first.number, blockHash: first.hash, failure: storedFailure }
      await room.store.putViewRows(transfer.slot, [failed])
      const codes = []
      for (const { number, hash } of [first, third]) {
        const query = `{ Transfer(filter: {${filter(number, hash)}}) { place } }`
        const { data, errors } = await room.graphql.execute({ query })
        codes.push(errors?.[0]?.extensions['code'] ?? JSON.parse((data ?? []).join('')).Transfer)
      }
      const refused = ['GRAPHQL_VIEW_FAILED', 'GRAPHQL_VIEW_NOT_COMPUTED']
      assert.deepEqual(codes, outcome === 'refused' ? refused : [[], []])
    })
  }

  test('is answered once the View has done it, with rows or without', async (t) => {
    const room = await openRoom(t)
    const third = room.chain[2]
    assert.ok(third !== undefined)
    const query = `{ COUNT(Transfer: {filter: {_blockNumber: {_eq: ${third.number}}}}) }`
    assert.match(
      (await room.errors(query))[0] ?? '',
      /not stored yet\. Ask again later\. GET \/api/,
    )
    await putRows(room, transfer, third, [])
    assert.deepEqual(await room.query(query), { COUNT: 0 })
  })
})
