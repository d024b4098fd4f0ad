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

for (const text of ['', 'newest', '1.5', '0x10', '-', '1e6', '-latest', '99999999999999999999'])
  test(`${JSON.stringify(text)} is no start height`, () => {
    assert.equal(startHeight.schema.safeParse(text).success, false)
  })
