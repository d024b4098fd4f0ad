import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ViewBlock } from '../../../src/store/disk/view-layout.ts'
import { createDoneBlocksCache, type DoneBlocks } from '../../../src/store/read/done-blocks.ts'

const blockOf = (serial: number): ViewBlock => {
  return { serial, blockHash: `0x${'ab'.repeat(32)}`, count: 3, bytes: 90, root: null }
}

/** The serial number of what is known, where the store now has a block with another one. */
const serialIn = (blocks: DoneBlocks, slot: number, height: number, stored: number | null) =>
  blocks.read(slot, height, () => (stored === null ? undefined : blockOf(stored)))?.serial

test('blocks are known by slot and height until rows are put or blocks are removed', () => {
  const cache = createDoneBlocksCache(10)
  const [first, again] = [1, 2].map(() => cache.asOf({ epoch: 3, rowSerial: 5 }))
  assert.ok(first && again)
  assert.equal(serialIn(first, 1, 7, 1), 1)
  assert.deepEqual([serialIn(again, 1, 7, 2), serialIn(again, 2, 7, 2)], [1, 2])
  const put = cache.asOf({ epoch: 3, rowSerial: 6 })
  assert.equal(serialIn(put, 1, 7, 3), 3)
  const removed = cache.asOf({ epoch: 4, rowSerial: 6 })
  assert.equal(serialIn(removed, 1, 7, 4), 4)
  assert.deepEqual([serialIn(first, 1, 7, 5), serialIn(put, 1, 7, 5)], [1, 3])
})

test('a snapshot from before that shares nothing with newer ones', () => {
  const cache = createDoneBlocksCache(10)
  const now = cache.asOf({ epoch: 1, rowSerial: 2 })
  const older = cache.asOf({ epoch: 1, rowSerial: 1 })
  assert.deepEqual([serialIn(now, 1, 7, 1), serialIn(older, 1, 7, 2)], [1, 2])
  assert.equal(serialIn(cache.asOf({ epoch: 1, rowSerial: 2 }), 1, 7, 3), 1)
})

test('what is not there is looked for again, and no more blocks are kept than may be', () => {
  const blocks = createDoneBlocksCache(3).asOf({ epoch: 0, rowSerial: 1 })
  assert.equal(serialIn(blocks, 1, 7, null), undefined)
  for (const height of [7, 8, 9]) assert.equal(serialIn(blocks, 1, height, height), height)
  assert.equal(serialIn(blocks, 1, 7, 1), 7)
  assert.equal(serialIn(blocks, 2, 7, 2), 2)
  assert.deepEqual([serialIn(blocks, 1, 7, 1), serialIn(blocks, 2, 7, 3)], [1, 2])
  assert.deepEqual([serialIn(blocks, 1, 8, 4), serialIn(blocks, 2, 7, 5)], [4, 2])
})
