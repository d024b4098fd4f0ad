/** In what two schemas differ. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareSchemas, parseSchemaFields } from '../../../src/host/schema/schema-diff.ts'
import { schemaSdl } from '../../../src/primitives/sdl.ts'

const network = 'Local__Devnet'

test('a list of values and a value that is never null are different types of a field', () => {
  const fieldsOf = (type: string) => parseSchemaFields(`type A { list: ${type} }`, network)
  assert.deepEqual(compareSchemas(fieldsOf('[String]'), fieldsOf('String!')), [
    'A.list: [String] here, String! at the Generator',
  ])
})

test('our own indexes are no difference, and they stay', () => {
  const own = parseSchemaFields(schemaSdl(network, true), network)
  const theirs = parseSchemaFields(schemaSdl('Ethereum__Mainnet'), 'Ethereum__Mainnet')
  assert.deepEqual(compareSchemas(own, theirs), [])
})
