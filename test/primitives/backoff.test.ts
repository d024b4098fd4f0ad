import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs } from '../../src/primitives/backoff.ts'

const backoff = { minMs: 100, maxMs: 5_000 }

test('the wait doubles with every failure in a row, up to the longest', () => {
  const waits = [1, 2, 3, 6, 7, 1000].map((failures) => backoffMs(backoff, failures, 1))
  assert.deepEqual(waits, [100, 200, 400, 3_200, 5_000, 5_000])
})

test('the wait doubles 30 times at most, however long the longest is', () => {
  const patient = { minMs: 1, maxMs: Number.POSITIVE_INFINITY }
  const waits = [30, 31, 32, 5_000].map((failures) => backoffMs(patient, failures, 1))
  assert.deepEqual(waits, [2 ** 29, 2 ** 30, 2 ** 30, 2 ** 30])
})

test('half of the wait is random, so that clients of one node do not return together', () => {
  assert.equal(backoffMs(backoff, 2, 0), 100)
  assert.equal(backoffMs(backoff, 2, 0.5), 150)
})
