import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ServedView } from '../../../src/graphql/catalog/view-entity.ts'
import { createRowPacker } from '../../../src/views/rows/rows.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import {
  costOf,
  type GraphqlRoom,
  openGraphqlRoom,
  openTestGraphql,
} from '../support/graphql-room.ts'
import { servedView } from '../support/served-views.ts'

/** Blocks of which a View has two rows of one document and one of another. */
async function openSources(t: TestContext): Promise<GraphqlRoom & { readonly view: ServedView }> {
  const room = await openGraphqlRoom(t)
  const view = servedView('type Sent { n: Int }', 'Transaction { input hash }', 7)
  for (const { number, hash } of room.chain) {
    const packer = createRowPacker(view.rowType)
    for (const [n, source] of [1, 0, 0].entries()) packer.add({ n }, source)
    const stored = { height: number, blockHash: hash, rows: packer.finish() }
    await room.store.putViewRows(view.slot, [stored])
  }
  room.graphql.setViews([view])
  return { ...room, view }
}

test('sources count towards the size of an answer once for each row that shows them', async (t) => {
  const { query, store, view } = await openSources(t)
  const text = '{ Sent(order: {n: ASC}) { _source } }'
  const bytes = Buffer.byteLength(JSON.stringify(await query(text)))
  const codeWithin = async (maxResultBytes: number) => {
    const limited = openTestGraphql(store.reader, { limits: { maxResultBytes } })
    limited.setViews([view])
    return (await limited.execute({ query: text })).errors?.[0]?.extensions['code']
  }
  assert.equal(await codeWithin(Math.ceil(bytes * 1.02)), undefined)
  assert.equal(await codeWithin(Math.floor(bytes * 0.98)), 'GRAPHQL_SIZE_LIMIT')
})

test('the sources of a block are read once, whatever the order of its rows', async (t) => {
  const room = await openSources(t)
  const costOfSources = async (order: string): Promise<number> =>
    (await costOf(room, `{ Sent(order: ${order}) { n _source } }`)) -
    (await costOf(room, `{ Sent(order: ${order}) { n } }`))
  assert.equal(await costOfSources('{n: ASC}'), await costOfSources('{_blockNumber: ASC}'))
})

test('rows that were made of no document read none for their sources', async (t) => {
  const room = await openGraphqlRoom(t)
  const view = servedView('type Sent { n: Int }', 'Transaction { hash }')
  const [{ number, hash } = assert.fail()] = room.chain
  const packer = createRowPacker(view.rowType)
  packer.add({ n: 1 }, null)
  await room.store.putViewRows(view.slot, [
    { height: number, blockHash: hash, rows: packer.finish() },
  ])
  room.graphql.setViews([view])
  const text = '{ Sent { n _source } }'
  assert.deepEqual(await room.query(text), { Sent: [{ n: 1, _source: null }] })
  assert.equal(await costOf(room, text), await costOf(room, '{ Sent { n } }'))
})

test('a row may be made of any document of a block of many', async (t) => {
  const shape = { transactions: 4, logs: 600, entries: 0, calldataBytes: 4 }
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 1, shape }) })
  const view = servedView('type Sent { n: Int }', 'Log { logIndex }')
  const [{ number, hash } = assert.fail()] = room.chain
  const packer = createRowPacker(view.rowType)
  const places = [599, 0, 300]
  for (const place of places) packer.add({ n: place }, place)
  await room.store.putViewRows(view.slot, [
    { height: number, blockHash: hash, rows: packer.finish() },
  ])
  room.graphql.setViews([view])
  assert.deepEqual(await room.query('{ Sent { n _source } }'), {
    Sent: places.map((place) => ({ n: place, _source: { logIndex: place } })),
  })
})

test('documents far behind those that rows were made of are not read', async (t) => {
  const shape = { transactions: 4, logs: 600, entries: 0, calldataBytes: 4 }
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 1, shape }) })
  const [{ number, hash } = assert.fail()] = room.chain
  const views: ServedView[] = []
  for (const [name, place] of [
    ['Early', 0],
    ['Late', 599],
  ] as const) {
    const query = 'Log(filter: {logIndex: {_neq: 1000}}) { logIndex }'
    const view = servedView(`type ${name} { n: Int }`, query, 1 + views.length)
    const packer = createRowPacker(view.rowType)
    packer.add({ n: place }, place)
    const stored = { height: number, blockHash: hash, rows: packer.finish() }
    await room.store.putViewRows(view.slot, [stored])
    views.push(view)
  }
  room.graphql.setViews(views)
  const costOfSource = (name: string): Promise<number> => costOf(room, `{ ${name} { _source } }`)
  assert.ok((await costOfSource('Early')) < (await costOfSource('Late')))
})
