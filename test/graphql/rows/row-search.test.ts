import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowsThatMayHave } from '../../../src/graphql/rows/row-search.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'
import { rowChunk } from '../support/row-chunk.ts'

test('of a chunk the rows with a value are found, whatever the other fields hold', () => {
  const rows = [
    ['same', 'same', 1],
    ['other', { same: 'same' }, 2],
    ['other', 'same', 3],
    [null, 'same longer', 4],
  ]
  const chunk = rowChunk(rows, 64)
  assert.deepEqual(rowsThatMayHave(chunk, 0, rowTermValue('same')), [64])
  assert.deepEqual(rowsThatMayHave(chunk, 1, rowTermValue('same')), [64, 66])
  assert.deepEqual(rowsThatMayHave(chunk, 2, rowTermValue(3)), [66])
  assert.deepEqual(rowsThatMayHave(chunk, 0, rowTermValue('same longer')), [])
})

test('hex is found in any case, and lists always', () => {
  const chunk = rowChunk([['0xAB'], ['0xab'], ['0xac'], [['0xac', 'x']], [[]]], 64)
  assert.deepEqual(rowsThatMayHave(chunk, 0, rowTermValue('0xaB')), [64, 65, 67, 68])
})

test('a row without the field has no value', () => {
  const chunk = rowChunk([['a'], ['a', 'b']], 64)
  assert.deepEqual(rowsThatMayHave(chunk, 1, rowTermValue('b')), [65])
})
