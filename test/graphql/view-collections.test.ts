import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'

import { createChain } from '../support/chain/block-factory.ts'
import { type GraphqlRoom, openGraphqlRoom } from './support/graphql-room.ts'
import { putRows, servedView } from './support/served-views.ts'

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

const transfer = servedView(sdl)
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
