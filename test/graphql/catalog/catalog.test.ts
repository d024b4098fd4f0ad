/** What the collections of a program are made of: fields, and links to the others that it serves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import type { EntityName } from '../../../src/graphql/catalog/entity.ts'
import type { BlockView } from '../../../src/graphql/rows/block-view.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { costOf, openGraphqlRoom } from '../support/graphql-room.ts'
import { putRows, servedView } from '../support/served-views.ts'

function linksOf(served: readonly EntityName[]): Record<string, string[]> {
  const catalog = createCatalog(testNetwork, served)
  const entities = [...catalog].filter(([, { links }]) => links.size > 0)
  return Object.fromEntries(entities.map(([name, { links }]) => [name, [...links.keys()]]))
}

test('a collection has links to those that are served beside it, and to no others', () => {
  assert.deepEqual(linksOf(hostCollections), {
    Block: ['transactions'],
    Transaction: ['block', 'logs', 'accessList'],
    AccessListEntry: ['transaction'],
    Log: ['block', 'transaction'],
  })
  assert.deepEqual(linksOf(['Block', 'Log']), { Log: ['block'] })
  assert.deepEqual(linksOf(['Log', 'AttestationRecord']), {})
})

/** The fields of a collection that are IDs of documents. */
function idsOf(name: EntityName, served: readonly EntityName[]): string[] {
  const names = createCatalog(testNetwork, served).get(name)?.attributes.keys() ?? []
  return [...names].filter((field) => /_id$|ID$/.test(field))
}

test('a document has a field for the ID of each document that it links to alone', () => {
  const ids = hostCollections.map((name) => [name, idsOf(name, hostCollections)] as const)
  assert.deepEqual(Object.fromEntries(ids), {
    Block: ['_docID'],
    Transaction: ['_docID', 'block_id'],
    AccessListEntry: ['_docID', 'transaction_id'],
    Log: ['_docID', 'block_id', 'transaction_id'],
    BlockSignature: ['_docID'],
    SnapshotSignature: ['_docID'],
    AttestationRecord: ['_docID'],
  })
})

test('a link to what is not served has no field for its ID either', () => {
  assert.deepEqual(idsOf('Log', ['Block', 'Log']), ['_docID', 'block_id'])
  assert.deepEqual(idsOf('Log', ['Log']), ['_docID'])
})

test('snapshots are in no block, and have no attestations', () => {
  const snapshots = createCatalog(testNetwork, hostCollections).get('SnapshotSignature')
  assert.equal(snapshots?.rowsIn({} as BlockView), 0)
  assert.equal(snapshots?.attributes.has('_attestations'), false)
})

const sharedInBlock: Readonly<Record<string, readonly string[]>> = {
  Block: ['parentHash: {_neq: "0x"}', 'timestamp: {_neq: "0x1"}', '_docID: {_neq: "x"}'],
  Transaction: ['blockHash: {_neq: "0x"}', 'block_id: {_neq: "x"}', '_attestations: {_geq: 1}'],
  Log: ['blockNumber: {_neq: 0}', 'blockHash: {_neq: "0x"}', 'block_id: {_neq: "x"}'],
  AccessListEntry: ['blockNumber: {_neq: 0}', '_attestations: {_geq: 1}'],
  BlockSignature: ['blockNumber: {_neq: 0}', 'blockHash: {_neq: "0x"}'],
  Numbers: ['_blockNumber: {_neq: 0}', '_attestations: {_geq: 1}', '_hosts: {_geq: 0}'],
}

for (const [name, filters] of Object.entries(sharedInBlock))
  test(`what all rows of a block share is compared once for each block: ${name}`, async (t) => {
    const room = await openGraphqlRoom(t)
    const view = servedView('type Numbers { n: Int }')
    for (const block of room.chain) await putRows(room, view, block, [{ n: 1 }, { n: 2 }])
    room.graphql.setViews([view])
    const costWith = (filter: string) => costOf(room, `{ COUNT(${name}: {filter: {${filter}}}) }`)
    const all = await costWith('')
    for (const filter of filters) assert.equal(await costWith(filter), all, filter)
  })
