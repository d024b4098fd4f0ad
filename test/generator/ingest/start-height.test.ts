import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstHeight, startHeight } from '../../../src/generator/ingest/start-height.ts'

const first = (text: string | number, head: number): number =>
  firstHeight(startHeight.schema.parse(text), head)

test('latest starts at the head', () => {
  assert.equal(first('latest', 500), 500)
})

test('a height starts there, also above the head', () => {
  assert.equal(first('0', 500), 0)
  assert.equal(first(19_000_000, 500), 19_000_000)
})

test('-N starts N blocks behind the head, at 0 where there are fewer', () => {
  assert.equal(first('-100', 500), 400)
  assert.equal(first('-100', 7), 0)
  assert.equal(first(-0, 7), 0)
})

test('a height has at most 15 digits, which a number holds exactly', () => {
  assert.equal(first('999999999999999', 7), 999_999_999_999_999)
  assert.equal(first('-999999999999999', 999_999_999_999_999), 0)
  assert.equal(first('-1', 7), 6)
  assert.equal(first('-7', 7), 0)
})

for (const text of [
  '1000000000000000',
  '-1000000000000000',
  '',
  'newest',
  '1.5',
  '0x10',
  '-',
  '1e6',
  '-latest',
  '99999999999999999999',
])
  test(`${JSON.stringify(text)} is no start height`, () => {
    assert.equal(startHeight.schema.safeParse(text).success, false)
  })
