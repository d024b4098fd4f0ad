import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog } from '../../../src/graphql/catalog/catalog.ts'
import type { EntityName } from '../../../src/graphql/catalog/entity.ts'
import { folds, groupField } from '../../../src/graphql/catalog/spelling.ts'
import { createSchema } from '../../../src/graphql/schema/schema.ts'
import {
  collectionNames,
  isReservedTypeName,
  reservedFieldNames,
} from '../../../src/views/names/reserved-names.ts'

test('every type of a Host’s schema is reserved, or has a name that no View can have', () => {
  const schema = createSchema(createCatalog('Ethereum__Mainnet', collectionNames as EntityName[]))
  const free = Object.keys(schema.getTypeMap()).filter(
    (name) => !name.includes('__') && !isReservedTypeName(name),
  )
  assert.deepEqual(free, [])
  assert.ok(isReservedTypeName('AttestationRecord_Transfer'), 'the votes on another View')
  assert.ok(isReservedTypeName('LogField'))
  for (const name of ['Transfer', 'TransferField', 'LogFields'])
    assert.equal(isReservedTypeName(name), false, name)
})

test('every field that collections have without declaring it is reserved', () => {
  assert.deepEqual([...reservedFieldNames].toSorted(), [...folds, groupField].toSorted())
})
