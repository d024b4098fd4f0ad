/** Views of which a program has the rows, but neither the query nor the documents that they were made of. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { introspectionFromSchema } from 'graphql'
import type { ServedView } from '../../src/graphql/catalog/view-entity.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { testSigner } from '../support/chain/sealed-blocks.ts'
import { metricValue } from '../support/metric-value.ts'
import { signedLeaves } from '../support/signed-statements.ts'
import { type GraphqlRoom, openGraphqlRoom } from './support/graphql-room.ts'
import { putRows, servedView } from './support/served-views.ts'

const sdl = 'type Sent { from: String @index amount: BigInt }'
const known = servedView(sdl, 'Log { address }', 3)
const alone: ServedView = { ...known, query: null }

/** Six blocks, two with rows. */
async function openRoom(t: TestContext, view: ServedView): Promise<GraphqlRoom> {
  const room = await openGraphqlRoom(t, { signers: () => ['one', 'two'] })
  const [first, , third] = room.chain
  assert.ok(first !== undefined && third !== undefined)
  await putRows(room, view, first, [{ from: '0x01', amount: '5' }, { from: '0x02' }])
  await putRows(room, view, third, [{ from: '0x02', amount: '7' }])
  room.graphql.setViews([view])
  return room
}

describe('a View without its query answers as with it', () => {
  const queries: readonly string[] = [
    '{ Sent { _docID from amount _blockNumber _attestations _hosts _deleted } }',
    '{ Sent(filter: {from: "0x02"}, order: {_blockNumber: DESC}) { amount } }',
    '{ Sent(filter: {_blockNumber: {_gt: 1}}, limit: 1) { from } }',
    '{ COUNT(Sent: {}) SUM(Sent: {field: amount}) MAX(Sent: {field: amount}) }',
    '{ Sent(groupBy: [from]) { from COUNT(GROUP: {}) GROUP { amount } } }',
    '{ AttestationRecord_Sent { _docID source_doc vote_count rowsRoot rowCount blockHash } }',
  ]
  for (const query of queries)
    test(query, async (t) => {
      const rooms = [await openRoom(t, known), await openRoom(t, alone)]
      for (const { store, chain } of rooms) {
        const hash = chain[0]?.hash ?? assert.fail()
        const rowsRoot = store.reader.read((snapshot) => snapshot.viewRows(3, 1))?.root ?? ''
        const signer = testSigner('host')
        const leaves = [{ view: known.id, rowsRoot, count: 2 }]
        await store.putRowStatements(1, [signedLeaves(1, hash, leaves, { signer, runtime: 1 })])
        store.reader.countRowVotesOf({ hosts: new Set([signer.identity]), runtime: 1 })
      }
      const [expected, found] = await Promise.all(rooms.map((room) => room.query(query)))
      assert.notDeepEqual(Object.values(found)[0], [])
      assert.deepEqual(found, expected)
    })

  test('by the docID of a row', async (t) => {
    const { query } = await openRoom(t, alone)
    const { Sent } = await query('{ Sent { _docID } }')
    for (const { _docID } of Sent)
      assert.deepEqual(await query(`{ Sent(docID: "${_docID}") { _docID } }`), {
        Sent: [{ _docID }],
      })
  })
})

test('_source of a View without its query is null, and says so where it is described', async (t) => {
  const { query } = await openRoom(t, alone)
  assert.deepEqual(await query('{ Sent(limit: 1) { made: _source from } }'), {
    Sent: [{ made: null, from: '0x01' }],
  })
  const { groups } = await query(
    '{ groups: Sent(groupBy: [from], limit: 1) { GROUP { _source amount } } }',
  )
  assert.deepEqual(groups, [{ GROUP: [{ _source: null, amount: '5' }] }])
  const { __type } = await query('{ __type(name: "Sent") { fields { name description } } }')
  const field = __type.fields.find(({ name }: { name: string }) => name === '_source')
  assert.match(field.description, /^Null: /)
})

test('two schemas, with the query of a View and without it, differ in that description alone', async (t) => {
  const texts = []
  for (const view of [known, alone]) {
    const { graphql } = await openRoom(t, view)
    const { __schema } = introspectionFromSchema(graphql.schema)
    texts.push(JSON.stringify(__schema).replace(/(The last document that|Null: )[^"]*/, '…'))
  }
  assert.equal(texts[0], texts[1])
})

test('queries of a View without its query stay compiled while other Views come', async (t) => {
  const room = await openRoom(t, alone)
  const other: ServedView = {
    ...servedView('type Other { n: Int }', 'Log { data }', 4),
    query: null,
  }
  const text = '{ Sent { amount } }'
  const fromCache = () =>
    metricValue(room.registry, 'viewmesh_graphql_plans_total', { from: 'cache' })
  const before = await room.query(text)
  const served = new Promise<void>((resolve) => void room.graphql.onViews(resolve))
  room.graphql.setViews([alone, other])
  await served
  const count = await fromCache()
  assert.deepEqual(await room.query(text), before)
  assert.equal(await fromCache(), count + 1)
  assert.deepEqual(await room.query('{ Other { n } }'), { Other: [] })
})

test('a View whose query becomes known shows from then on what its rows were made of', async (t) => {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 1 }) })
  const [block] = room.chain
  assert.ok(block !== undefined)
  await putRows(room, alone, block, [{ from: '0x01' }])
  room.graphql.setViews([alone])
  const text = '{ Sent { _source } }'
  assert.deepEqual(await room.query(text), { Sent: [{ _source: null }] })
  const served = new Promise<void>((resolve) => void room.graphql.onViews(resolve))
  room.graphql.setViews([known])
  await served
  const { Log } = await room.query('{ Log(limit: 1) { address } }')
  assert.deepEqual(await room.query(text), { Sent: [{ _source: Log[0] }] })
})
