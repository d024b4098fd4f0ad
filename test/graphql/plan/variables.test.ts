import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGraphqlRoom } from '../support/graphql-room.ts'

test('an omitted variable drops the condition it stands in', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query($n: Int, $m: Int) {
    plain: COUNT(Block: {filter: {number: {_eq: $n}}})
    bare: COUNT(Block: {filter: {number: $n}})
    range: COUNT(Block: {filter: {number: {_gt: $n, _lt: $m}}})
    list: COUNT(Block: {filter: {number: {_in: [$n, $m]}}})
    inverse: COUNT(Block: {filter: {_not: {number: $n}}})
    choice: COUNT(Block: {filter: {_or: [{number: $n}, {number: $m}]}})
    linked: COUNT(Log: {filter: {block: {number: $n}}})
    alias: Block(filter: {_alias: {n: {_eq: $n}}}) { n: number }
  }`
  const none = await query(text)
  assert.deepEqual(
    { ...none, alias: none.alias.length },
    { plain: 6, bare: 6, range: 6, list: 6, inverse: 6, choice: 6, linked: 18, alias: 6 },
  )
  const some = await query(text, { m: 3 })
  assert.deepEqual(
    { ...some, alias: some.alias.length },
    { plain: 6, bare: 6, range: 2, list: 1, inverse: 6, choice: 1, linked: 18, alias: 6 },
  )
  const both = await query(text, { n: 2, m: 3 })
  assert.deepEqual(
    { ...both, alias: both.alias.length },
    { plain: 1, bare: 1, range: 0, list: 2, inverse: 5, choice: 2, linked: 3, alias: 1 },
  )
})

test('a variable that is null means "no value", unlike one that is omitted', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = 'query($n: Int) { COUNT(Block: {filter: {number: {_eq: $n}}}) }'
  assert.equal((await query(text, { n: null })).COUNT, 0)
  assert.equal((await query(text)).COUNT, 6)
})

test('omitted limits, offsets, orders and docIDs have no effect', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query($l: Int, $o: Int, $r: [BlockOrderArg], $d: [ID!]) {
    Block(limit: $l, offset: $o, order: $r, docID: $d) { number } }`
  assert.equal((await query(text)).Block.length, 6)
  const { Block } = await query(text, { l: 2, o: 1, r: [{ number: 'DESC' }] })
  assert.deepEqual(Block, [{ number: 5 }, { number: 4 }])
})

test('a variable with a default is never omitted', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = 'query($n: Int = 4) { Block(filter: {number: $n}) { number } }'
  assert.deepEqual((await query(text)).Block, [{ number: 4 }])
})
