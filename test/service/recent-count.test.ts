import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRecentCount } from '../../src/service/recent-count.ts'

test('events are counted for a minute each, and not a millisecond longer', () => {
  let now = 5_000
  const recent = createRecentCount(() => now)
  assert.equal(recent.count(), 0)
  recent.add(2)
  now += 30_000
  recent.add(0)
  recent.add(3)
  assert.equal(recent.count(), 5)
  now += 30_000
  assert.equal(recent.count(), 5)
  now += 1
  assert.equal(recent.count(), 3)
  now += 30_000
  assert.equal(recent.count(), 0)
  recent.add(1)
  assert.equal(recent.count(), 1)
})
