/** What the collections of a program are made of: fields, and links to the others that it serves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import type { EntityName } from '../../../src/graphql/catalog/entity.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'

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
