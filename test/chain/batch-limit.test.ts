import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatchLimit } from '../../src/chain/batch-limit.ts'

function times(count: number, act: () => void): void {
  for (let index = 0; index < count; index++) act()
}

test('a refusal halves the batches for good, down to single calls', () => {
  const limit = createBatchLimit(100)
  limit.refused(100)
  assert.equal(limit.size(), 50)
  times(1_000, () => limit.passed(50))
  assert.equal(limit.size(), 50)
  for (const sent of [50, 25, 12, 6, 3, 1]) limit.refused(sent)
  assert.equal(limit.size(), 1)
})

test('a refused batch below the limit lowers it like a full one', () => {
  const limit = createBatchLimit(100)
  limit.refused(8)
  assert.equal(limit.size(), 4)
})

test('one failure says nothing about the size; three in a row make it smaller for a while', () => {
  const limit = createBatchLimit(100)
  limit.failed(100)
  limit.failed(100)
  limit.passed(100)
  times(2, () => limit.failed(100))
  assert.equal(limit.size(), 100)
  limit.failed(100)
  assert.equal(limit.size(), 50)
  times(49, () => limit.passed(50))
  assert.equal(limit.size(), 50)
  limit.passed(50)
  assert.equal(limit.size(), 100)
})

test('each failure and each refusal begins the count of successes again', () => {
  const limit = createBatchLimit(100)
  times(3, () => limit.failed(50))
  for (const interrupt of [() => limit.failed(25), () => limit.refused(100)]) {
    times(49, () => limit.passed(25))
    interrupt()
  }
  times(49, () => limit.passed(25))
  assert.equal(limit.size(), 25)
  limit.passed(25)
  assert.equal(limit.size(), 50)
})

test('batches become smaller again after three more failures, not before', () => {
  const limit = createBatchLimit(100)
  times(3, () => limit.failed(40))
  times(2, () => limit.failed(20))
  assert.equal(limit.size(), 20)
  limit.failed(20)
  assert.equal(limit.size(), 10)
})

test('a single call that succeeds does not speak for batches', () => {
  const limit = createBatchLimit(100)
  times(2, () => limit.failed(100))
  limit.passed(1)
  limit.failed(100)
  assert.equal(limit.size(), 50)
})

test('smaller batches grow to twice their size at a time, up to what was never refused', () => {
  const limit = createBatchLimit(100)
  limit.refused(160)
  for (const sent of [80, 40, 20]) times(3, () => limit.failed(sent))
  const sizes = [limit.size()]
  for (let step = 0; step < 4; step++) {
    const [size = 0] = sizes.slice(-1)
    times(49, () => limit.passed(size))
    assert.equal(limit.size(), size)
    limit.passed(size)
    sizes.push(limit.size())
  }
  assert.deepEqual(sizes, [10, 20, 40, 80, 80])
})

test('single calls that fail do not speak against batches', () => {
  const limit = createBatchLimit(100)
  times(10, () => limit.failed(1))
  assert.equal(limit.size(), 100)
})

test('batches never grow beyond what was refused', () => {
  const limit = createBatchLimit(100)
  limit.refused(100)
  times(3, () => limit.failed(50))
  assert.equal(limit.size(), 25)
  times(500, () => limit.passed(25))
  assert.equal(limit.size(), 50)
})
