import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEpochCache } from '../../../src/store/index/epoch-cache.ts'

describe('a cache of heights', () => {
  /** A cache of `maxWeight`, and the heights that it had to read. */
  function openCache(maxWeight: number) {
    const cache = createEpochCache<{ weight: number }>(maxWeight, ({ weight }) => weight)
    const reads: number[] = []
    return {
      reads,
      read: (epoch: number, height: number, value: { weight: number } | null = { weight: 1 }) =>
        cache.read(epoch, height, () => {
          reads.push(height)
          return value ?? undefined
        }),
    }
  }

  it('reads each height once, and what is not there again', () => {
    const { read, reads } = openCache(9)
    const first = { weight: 1 }
    assert.equal(read(0, 5, first), first)
    assert.equal(read(0, 5), first)
    assert.equal(read(0, 6, null), undefined)
    assert.deepEqual(read(0, 6), { weight: 1 })
    assert.deepEqual(reads, [5, 6, 6])
  })

  it('reads all again once a block was removed', () => {
    const { read, reads } = openCache(9)
    for (const epoch of [0, 1, 1, 3]) read(epoch, 5)
    assert.deepEqual(reads, [5, 5, 5])
  })

  it('is neither read nor filled by a snapshot from before the last removal', () => {
    const { read, reads } = openCache(9)
    const [older, newer] = [{ weight: 1 }, { weight: 1 }]
    read(1, 5, newer)
    assert.equal(read(0, 5, older), older)
    assert.equal(read(0, 6, older), older)
    assert.equal(read(1, 5), newer)
    assert.notEqual(read(1, 6), older)
    assert.deepEqual(reads, [5, 5, 6, 6])
  })

  it('keeps what weighs no more than it may, and drops what was not read for longest', () => {
    const { read, reads } = openCache(4)
    for (const height of [1, 2, 1, 3, 1]) read(0, height, { weight: 2 })
    assert.deepEqual(reads, [1, 2, 3])
    read(0, 2)
    assert.deepEqual(reads, [1, 2, 3, 2])
  })
})
