import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimit } from '../../../src/p2p/limits/rate.ts'

test("four seconds' worth may come at once, after that so much a second", () => {
  let ms = 0
  const rate = createRateLimit(10, 100, () => ms)
  assert(rate.take('p', 40))
  ms += 500
  assert(rate.take('p', 5))
  assert(!rate.take('p', 1))
})

test('one excess is one excess: the bucket is full again after it', () => {
  const rate = createRateLimit(10, 100, () => 0)
  assert(!rate.take('p', 41))
  assert(rate.take('p', 40))
})

test('peers do not share, and those seen longest ago are forgotten', () => {
  const rate = createRateLimit(10, 2, () => 0)
  assert(rate.take('a', 40))
  assert(rate.take('b', 40))
  assert(rate.take('c', 40))
  assert(!rate.take('b', 1))
  assert(rate.take('a', 40))
})
