/** The engine over a store that holds rows of Views and no documents, as an application's does. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createChain } from '../support/chain/block-factory.ts'
import { type GraphqlRoom, openGraphqlRoom } from './support/graphql-room.ts'
import { putRows, servedView } from './support/served-views.ts'

const view = { ...servedView('type Held { n: Int @index }', 'Log { address }', 8), query: null }

/** Blocks 1 to 32, of all of which the documents were pruned and the rows are kept. */
async function openRoom(t: TestContext): Promise<GraphqlRoom> {
  const room = await openGraphqlRoom(t, {
    chain: createChain({ count: 32 }),
    retainBlocks: 0,
    retainRows: 32,
    signers: () => ['one', 'two'],
  })
  for (const block of room.chain) await putRows(room, view, block, [{ n: block.number }])
  await room.store.prune()
  assert.equal(
    room.store.reader.read((snapshot) => snapshot.range()),
    null,
  )
  room.graphql.setViews([view])
  return room
}

describe('a store without documents', () => {
  test('answers rows of Views by value, number, docID and attestations', async (t) => {
    const { graphql, query } = await openRoom(t)
    const { first, sum, own } = await query(`{
      first: Held(filter: {n: {_in: [3, 31]}}) { n _docID _blockNumber _attestations _hosts _source }
      sum: SUM(Held: {field: n, filter: {_attestations: {_geq: 2}}})
      own: Held(filter: {_blockNumber: {_gt: 30}}, order: {n: DESC}) { n }
    }`)
    assert.equal(sum, (32 * 33) / 2)
    assert.deepEqual(own, [{ n: 32 }, { n: 31 }])
    const [{ _docID }] = first
    const votes = { _attestations: 2, _hosts: 0, _source: null }
    assert.deepEqual(
      first.map((row: object) => ({ ...row, _docID: null })),
      [3, 31].map((n) => ({ n, _docID: null, _blockNumber: n, ...votes })),
    )
    const some = { query: `{ Held(docID: "${_docID}") { n } }`, minimumAttestations: 2 }
    const { data, extensions } = await graphql.execute(some)
    assert.deepEqual([data?.join(''), extensions], ['{"Held":[{"n":3}]}', undefined])
  })

  const empty: readonly string[] = [
    '{ Block { number transactions { hash } } }',
    '{ Block(filter: {number: 3}) { hash _version { cid } _proof { root } } }',
    '{ Transaction(order: {blockNumber: DESC}, limit: 2) { hash logs { address } } }',
    '{ Log(filter: {address: "0x5fbdb2315678afecb367f032d93f642f64180aa3"}) { data } }',
    '{ Log(groupBy: [address]) { address COUNT(GROUP: {}) } }',
    '{ AccessListEntry { address } }',
    '{ BlockSignature { blockNumber } }',
    '{ SnapshotSignature { blockNumber: __typename } }',
    '{ AttestationRecord { vote_count } }',
    '{ AttestationRecord(filter: {attested_doc: {_like: "block:3:%"}}) { source_doc CIDs } }',
    '{ _commits(docID: "block-0x00") { cid } }',
  ]
  for (const query of empty)
    test(`has no documents: ${query.slice(0, 60)}`, async (t) => {
      const room = await openRoom(t)
      const answer = await room.query(query)
      assert.deepEqual(Object.values(answer), [[]])
    })

  test('counts no documents, and describes all collections', async (t) => {
    const { query } = await openRoom(t)
    assert.deepEqual(await query('{ COUNT(Block: {}, Log: {}) MAX(Block: {field: number}) }'), {
      COUNT: 0,
      MAX: null,
    })
    const { __schema } = await query('{ __schema { queryType { fields { name } } } }')
    const names = __schema.queryType.fields.map(({ name }: { name: string }) => name)
    assert.deepEqual(
      ['Held', 'AttestationRecord_Held', 'Block', 'Ethereum__Mainnet__Block'].filter(
        (name) => !names.includes(name),
      ),
      [],
    )
  })
})
