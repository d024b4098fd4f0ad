/** What the collections of a program are made of: fields, and links to the others that it serves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import type { EntityName } from '../../../src/graphql/catalog/entity.ts'
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

test('a link to what is not served has no field for its ID either', () => {
  const idsOf = (served: readonly EntityName[]): string[] => {
    const names = createCatalog(testNetwork, served).get('Log')?.attributes.keys() ?? []
    return [...names].filter((name) => /_id$|ID$/.test(name))
  }
  assert.deepEqual(idsOf(['Block', 'Log']), ['_docID', 'block_id'])
  assert.deepEqual(idsOf(['Log']), ['_docID'])
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
