import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { compareWithExpected, readExpectedRows } from '../../../src/toolkit/trial/expected-rows.ts'
import { testDirectory } from '../../support/test-store.ts'

const rows = [{ amount: 1 }, { amount: 2 }, { amount: 3 }]
const differences = (kept: number, rowCount: number, expected = rows): string[] =>
  compareWithExpected(expected, rows.slice(0, kept), rowCount).map(({ message }) => message)

test('rows are counted with those that are too many to keep', () => {
  assert.deepEqual(differences(3, 3), [])
  assert.deepEqual(differences(2, 4), [
    '3 rows expected, 4 found',
    'only the first 2 rows can be compared; test fewer blocks',
  ])
  assert.deepEqual(differences(2, 3, rows.slice(0, 2)), ['2 rows expected, 3 found'])
  assert.deepEqual(differences(1, 1), ['3 rows expected, 1 found'])
  assert.deepEqual(differences(1, 3, rows.slice(0, 1)), ['1 row expected, 3 found'])
})

test('rows that cannot be compared do not pass', () => {
  assert.deepEqual(differences(2, 3), ['only the first 2 rows can be compared; test fewer blocks'])
})

test('fields that a row leaves out are not compared, and those it has are, missing ones too', () => {
  assert.deepEqual(differences(3, 3, [{ amount: 1 }, {}, { amount: 3 }] as typeof rows), [])
  const other = [{ amount: 1, to: null }, { amount: 2 }, { amount: [3] }] as unknown
  assert.deepEqual(differences(3, 3, other as typeof rows), [
    'row 0: to is missing, and null is expected',
    'row 2: amount is 3, and [3] is expected',
  ])
})

test('ten differences are shown, with the number of the others', () => {
  const found = (count: number): string[] => {
    const many = Array.from({ length: count }, () => ({ amount: 1 }))
    const expected = many.map(() => ({ amount: 'x'.repeat(300) }))
    return compareWithExpected(expected, many, count).map(({ message }) => message)
  }
  assert.equal(found(10).length, 10)
  assert.equal(found(10)[0], `row 0: amount is 1, and "${'x'.repeat(199)} is expected`)
  assert.deepEqual(found(12).slice(10), ['2 more differences'])
})

test('expected rows are a list or what view test --json prints, and nothing else', async (t) => {
  const path = join(testDirectory(t), 'rows.json')
  const read = (value: unknown): Promise<unknown> => {
    writeFileSync(path, JSON.stringify(value))
    return readExpectedRows(path)
  }
  assert.deepEqual(await read(rows), rows)
  assert.deepEqual(await read({ view: 'Logs', rows }), rows)
  assert.deepEqual(await read([]), [])
  for (const wrong of [null, 'rows', {}, { rows: null }, { rows: {} }, [1], [[]], [{}, null]])
    await assert.rejects(read(wrong), {
      code: 'TOOLKIT_EXPECTED_INVALID',
      message: `${path} does not hold a list of rows`,
    })
})
