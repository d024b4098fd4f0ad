import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'

import type { GraphqlResult } from '../../src/graphql/graphql.ts'
import { resultText } from '../../src/graphql/http/result-text.ts'
import { type ChainBlock, createChain } from '../support/chain/block-factory.ts'
import {
  costOf,
  type GraphqlRoom,
  openGraphqlRoom,
  openTestGraphql,
} from './support/graphql-room.ts'
import { putRows, servedView, storedFailure } from './support/served-views.ts'

const view = servedView('type Counted { n: Int }')

/** Blocks 1 to 6 without 4: the View has a row of 1, 3 and 6, failed at 5, and has not computed 2. */
async function openRoom(t: TestContext): Promise<GraphqlRoom> {
  const chain = createChain({ count: 6 })
  const room = await openGraphqlRoom(t, { chain: chain.filter(({ number }) => number !== 4) })
  for (const block of chain) {
    if ([1, 3, 6].includes(block.number)) await putRows(room, view, block, [{ n: block.number }])
    if (block.number === 5) await fail(room, block)
  }
  room.graphql.setViews([view])
  return room
}

async function fail({ store }: GraphqlRoom, { number, hash }: ChainBlock): Promise<void> {
  const failed = { height: number, blockHash: hash, failure: storedFailure }
  await store.putViewRows(view.slot, [failed])
}

const viewsOf = ({ extensions, errors }: GraphqlResult) => {
  assert.equal(errors, undefined)
  return extensions?.views
}

const two = { from: 2, to: 2 }
const five = { from: 5, to: 5 }
const all = {
  name: 'Counted',
  blocksLeft: 1,
  blocksFailed: 1,
  blocksLost: 0,
  left: [two],
  failed: [five],
  lost: [],
}

describe('an answer that lacks blocks of a View says which', () => {
  const cases: readonly [string, string, unknown][] = [
    ['for a whole collection', '{ Counted { n } }', [all]],
    ['for an aggregate', '{ COUNT(Counted: {}) }', [all]],
    ['for groups', '{ Counted(groupBy: [n]) { n COUNT(GROUP: {}) } }', [all]],
    ['for a filter that no number of a block is in', '{ Counted(filter: {n: 3}) { n } }', [all]],
    [
      'for a range, about that range alone',
      '{ Counted(filter: {_blockNumber: {_gt: 2, _lt: 9}}) { n } }',
      [{ ...all, blocksLeft: 0, left: [] }],
    ],
    [
      'for several ranges together',
      '{ a: Counted(filter: {_blockNumber: {_leq: 3}}) { n } b: COUNT(Counted: {filter: {_blockNumber: {_geq: 5}}}) }',
      [all],
    ],
    [
      'for a range or a number',
      '{ Counted(filter: {_or: [{_blockNumber: 5}, {_blockNumber: {_geq: 6}}]}) { n } }',
      [{ ...all, blocksLeft: 0, left: [] }],
    ],
    [
      'but not where the range has all blocks that are stored',
      '{ Counted(filter: {_blockNumber: {_geq: 3, _leq: 4}}) { n } }',
      undefined,
    ],
    [
      'but not where the blocks that are named have their rows',
      '{ Counted(filter: {_blockNumber: {_in: [3, 6]}}) { n } }',
      undefined,
    ],
    [
      'but not for a filter that no row can match',
      '{ Counted(filter: {_blockNumber: {_in: []}}) { n } }',
      undefined,
    ],
    ['but not for the contrary of all rows', '{ Counted(filter: {_not: {}}) { n } }', undefined],
    ['but not where no View is asked', '{ Block { number } }', undefined],
  ]
  for (const [which, query, expected] of cases) {
    test(which, async (t) => {
      const { graphql } = await openRoom(t)
      assert.deepEqual(viewsOf(await graphql.execute({ query })), expected)
    })
  }

  test('behind the data, until the blocks are done', async (t) => {
    const room = await openRoom(t)
    const query = '{ COUNT(Counted: {}) }'
    const before = resultText(await room.graphql.execute({ query }))
    assert.equal(before, `{"data":{"COUNT":3},"extensions":{"views":[${JSON.stringify(all)}]}}`)
    for (const block of room.chain.filter(({ number }) => number === 2 || number === 5))
      await putRows(room, view, block, [])
    assert.equal(resultText(await room.graphql.execute({ query })), '{"data":{"COUNT":3}}')
  })

  test('by at most 100 ranges, with the number of all blocks', async (t) => {
    const chain = createChain({ count: 210 })
    const room = await openGraphqlRoom(t, { chain })
    for (const block of chain) if (block.number % 2 === 0) await fail(room, block)
    room.graphql.setViews([view])
    const [found] = viewsOf(await room.graphql.execute({ query: '{ Counted { n } }' })) ?? []
    assert.ok(found !== undefined)
    const { blocksLeft, blocksFailed, left, failed } = found
    assert.deepEqual([blocksLeft, blocksFailed], [105, 105])
    assert.deepEqual([left.length, failed.length, failed[0]], [100, 100, two])
  })

  test('for a document of its cost for every 64 ranges', async (t) => {
    const chain = createChain({ count: 210 })
    const room = await openGraphqlRoom(t, { chain })
    room.graphql.setViews([view])
    const query = '{ COUNT(Counted: {}) }'
    const oneRange = await costOf(room, query)
    for (const block of chain) if (block.number % 2 === 0) await fail(room, block)
    assert.equal(await costOf(room, query), oneRange - 1 + Math.ceil(210 / 64))
  })
})

test('what an answer says of its Views counts towards its size', async (t) => {
  const { graphql, store } = await openRoom(t)
  const query = '{ COUNT(Counted: {}) }'
  const { extensions } = await graphql.execute({ query })
  const said = JSON.stringify(extensions?.views).length
  const codeWithin = async (maxResultBytes: number) => {
    const limited = openTestGraphql(store.reader, { limits: { maxResultBytes } })
    limited.setViews([view])
    return (await limited.execute({ query })).errors?.[0]?.extensions['code']
  }
  assert.equal(await codeWithin(said), undefined)
  assert.equal(await codeWithin(said - 1), 'GRAPHQL_SIZE_LIMIT')
})

test('an event of a subscription is about the rows of its block alone', async (t) => {
  const { graphql } = await openRoom(t)
  const query = 'subscription { Counted(filter: {_blockNumber: {_leq: 5}}) { n } }'
  const texts = []
  for (const height of [2, 3, 5])
    texts.push(resultText(await graphql.executeAt({ query }, { from: height, to: height })))
  const empty = '{"data":{"Counted":[]}}'
  assert.deepEqual(texts, [empty, '{"data":{"Counted":[{"n":3}]}}', empty])
})
