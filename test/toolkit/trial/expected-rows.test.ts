import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareWithExpected } from '../../../src/toolkit/trial/expected-rows.ts'

const rows = [{ amount: 1 }, { amount: 2 }, { amount: 3 }]
const differences = (kept: number, rowCount: number, expected = rows): string[] =>
  compareWithExpected(expected, rows.slice(0, kept), rowCount).map(({ message }) => message)

test('rows are counted with those that are too many to keep', () => {
  assert.deepEqual(differences(3, 3), [])
  assert.deepEqual(differences(2, 4), [
    '3 rows are expected, and there are 4',
    'only the first 2 rows can be compared; test fewer blocks',
  ])
  assert.deepEqual(differences(2, 3, rows.slice(0, 2)), ['2 rows are expected, and there are 3'])
})

test('rows that cannot be compared do not pass', () => {
  assert.deepEqual(differences(2, 3), ['only the first 2 rows can be compared; test fewer blocks'])
})
