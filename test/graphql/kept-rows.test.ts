import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'

import { createChain } from '../support/chain/block-factory.ts'
import { type GraphqlRoom, openGraphqlRoom } from './support/graphql-room.ts'
import { putRows, servedView, storedFailure } from './support/served-views.ts'

const view = servedView('type Kept { n: Int @index }', 'Log { address }')

/**
 * Blocks 1 to 40, of which 31 to 40 have documents and 11 to 40 rows: one of each, with its height, but of 14, which was
 * pruned before it was done, of 18, at which the View failed, and of the first two.
 */
async function openRoom(t: TestContext): Promise<GraphqlRoom> {
  const room = await openGraphqlRoom(t, {
    chain: createChain({ count: 40 }),
    retainBlocks: 10,
    retainRows: 30,
    signers: () => ['one', 'two'],
  })
  for (const block of room.chain.filter(({ number }) => number > 12 && number !== 14)) {
    const failed = { height: 18, blockHash: block.hash, failure: storedFailure }
    if (block.number === 18) await room.store.putViewRows(view.slot, [failed])
    else await putRows(room, view, block, [{ n: block.number }])
  }
  assert.equal(await room.store.prune(), 15)
  room.graphql.setViews([view])
  return room
}

const done = Array.from({ length: 28 }, (_, index) => 13 + index).filter(
  (height) => height !== 14 && height !== 18,
)
const idOf = ({ chain }: GraphqlRoom, height: number): string => {
  const hash = chain.find(({ number }) => number === height)?.hash
  return `row-${view.id}-${hash}-0`
}

describe('rows of blocks whose documents were pruned', () => {
  test('answer with identity, height and votes, and without their source', async (t) => {
    const room = await openRoom(t)
    const { Kept } = await room.query(
      '{ Kept(filter: {n: {_in: [13, 35]}}) { _docID _blockNumber _attestations _source } }',
    )
    assert.deepEqual(
      [Kept[0], { ...Kept[1], _source: null }],
      [13, 35].map((height) => ({
        _docID: idOf(room, height),
        _blockNumber: height,
        _attestations: 2,
        _source: null,
      })),
    )
    assert.notEqual(Kept[1]._source, null)
  })

  const queries: readonly [string, (room: GraphqlRoom) => string, readonly number[]][] = [
    ['all of them', () => '{ Kept { n } }', done],
    ['the newest first', () => '{ Kept(order: {_blockNumber: DESC}) { n } }', done.toReversed()],
    ['by identity', (room) => `{ Kept(filter: {_docID: "${idOf(room, 15)}"}) { n } }`, [15]],
    ['by number', () => '{ Kept(filter: {_blockNumber: 25}) { n } }', [25]],
    ['by range', () => '{ Kept(filter: {_blockNumber: {_lt: 17}}) { n } }', [13, 15, 16]],
    ['by an indexed value', () => '{ Kept(filter: {n: {_eq: 13}}) { n } }', [13]],
    ['by votes', () => '{ Kept(filter: {_attestations: {_geq: 2}}, limit: 2) { n } }', [13, 15]],
  ]
  for (const [how, query, expected] of queries)
    test(`are found ${how}`, async (t) => {
      const room = await openRoom(t)
      const { Kept } = await room.query(query(room))
      assert.deepEqual(
        Kept.map(({ n }: { n: number }) => n),
        expected,
      )
    })

  test('count in aggregates, while documents of those blocks do not', async (t) => {
    const room = await openRoom(t)
    const { rows, blocks, old } = await room.query(
      '{ rows: COUNT(Kept: {}) blocks: COUNT(Block: {}) old: Block(filter: {number: 15}) { hash } }',
    )
    assert.deepEqual([rows, blocks, old], [done.length, 10, []])
  })

  test('that were not computed in time are lost, which ranges list and names refuse', async (t) => {
    const { graphql, errors } = await openRoom(t)
    const { extensions } = await graphql.execute({ query: '{ COUNT(Kept: {}) }' })
    assert.deepEqual(extensions?.views, [
      {
        name: 'Kept',
        blocksLeft: 0,
        blocksFailed: 1,
        blocksLost: 1,
        left: [],
        failed: [{ from: 18, to: 18 }],
        lost: [{ from: 14, to: 14 }],
      },
    ])
    assert.deepEqual(await errors('{ Kept(filter: {_blockNumber: 14}) { n } }'), [
      'There are no rows of the View Kept at block 14: they went because the View took too much of the store, or were not computed before the block was pruned. Ask a Host that keeps more. GET /api/v0/views/{id} says which blocks are done, how the View stands, and what to do.',
    ])
    assert.match(String(await errors('{ Kept(filter: {_blockNumber: 18}) { n } }')), /failed/)
  })

  test('before the first of a View are not its blocks, so that nothing is missing', async (t) => {
    const { graphql } = await openRoom(t)
    const query = '{ Kept(filter: {_blockNumber: {_in: [11, 12]}}) { n } }'
    const { data, extensions } = await graphql.execute({ query })
    assert.deepEqual([data?.join(''), extensions], ['{"Kept":[]}', undefined])
  })
})

test('rows that went since their View took too much are lost as well', async (t) => {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 40 }), maxViewBytes: 1_000 })
  for (const block of room.chain) await putRows(room, view, block, [{ n: block.number }])
  room.graphql.setViews([view])
  const { data, extensions } = await room.graphql.execute({ query: '{ Kept(limit: 1) { n } }' })
  const [{ n }] = JSON.parse(data?.join('') ?? '').Kept
  assert.ok(n > 10)
  const lost = [{ from: 1, to: n - 1 }]
  const [found] = extensions?.views ?? []
  assert.deepEqual([found?.blocksLost, found?.lost, found?.left], [n - 1, lost, []])
  assert.match(String(await room.errors('{ Kept(filter: {_blockNumber: 2}) { n } }')), /too much/)
})
