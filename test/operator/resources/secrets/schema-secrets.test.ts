import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listedSchemaKeys } from '../../../../operator/resources/secrets/schema-secrets.ts'

test('of a list of keys, spaces and what is empty between commas are left out', () => {
  assert.deepEqual(listedSchemaKeys(' first, ,second,'), ['first', 'second'])
  assert.deepEqual(listedSchemaKeys(''), [])
})
