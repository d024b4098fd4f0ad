import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeenIds } from '../../../src/p2p/gossip/seen-ids.ts'

test('an ID is known for as long as it should be, however often it comes', () => {
  let ms = 0
  const seen = createSeenIds(100, () => ms)
  seen.add('a')
  ms = 60
  seen.add('a')
  seen.add('b')
  ms = 99
  assert.deepEqual([seen.has('a'), seen.has('b')], [true, true])
  ms = 100
  assert.deepEqual([seen.has('a'), seen.has('b')], [false, true])
  ms = 160
  seen.add('b')
  ms = 259
  assert.equal(seen.has('b'), true, 'it is new again when its time is over')
})
