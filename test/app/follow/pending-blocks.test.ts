/** Blocks of a View that wait: which may come next, and what a reorganisation leaves of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPendingBlocks } from '../../../src/app/follow/pending-blocks.ts'
import { pendingBlock } from '../support/pending-block.ts'

const numbers = (blocks: ReturnType<typeof createPendingBlocks>): number[] =>
  blocks.list().map(({ number }) => number)

test('the first block stands on the newest that is stored, and each further on the one before', () => {
  const blocks = createPendingBlocks({ number: 4, hash: pendingBlock(4).hash })
  assert.equal(blocks.add(pendingBlock(5, { parent: pendingBlock(3).hash })), false)
  assert.equal(blocks.add(pendingBlock(5)), true)
  assert.equal(blocks.add(pendingBlock(5)), false)
  assert.equal(blocks.add(pendingBlock(4)), false)
  assert.equal(blocks.add(pendingBlock(6)), true)
  assert.deepEqual(numbers(blocks), [5, 6])
  assert.deepEqual(blocks.top(), blocks.list()[1])
})

test('where nothing is stored any block may be the first', () => {
  const blocks = createPendingBlocks(null)
  assert.equal(blocks.add(pendingBlock(900)), true)
})

test('heights may be left out, as a Host leaves out those that it does not have', () => {
  const blocks = createPendingBlocks({ number: 4, hash: pendingBlock(4).hash })
  assert.equal(blocks.add(pendingBlock(9)), true)
  assert.equal(blocks.add(pendingBlock(8)), false)
})

test('a reorganisation drops what is above a block, and the next one stands on that', () => {
  const blocks = createPendingBlocks({ number: 4, hash: pendingBlock(4).hash })
  for (const number of [5, 6, 7]) blocks.add(pendingBlock(number))
  blocks.retract({ number: 6, hash: pendingBlock(6).hash })
  assert.deepEqual(numbers(blocks), [5, 6])
  assert.equal(blocks.add(pendingBlock(7, { branch: 'b', parent: pendingBlock(6).hash })), true)
})

test('a reorganisation below what waits leads back to a block that is stored, or to none', () => {
  const blocks = createPendingBlocks({ number: 4, hash: pendingBlock(4).hash })
  blocks.add(pendingBlock(5))
  blocks.retract({ number: 2, hash: pendingBlock(2).hash })
  assert.deepEqual(numbers(blocks), [])
  assert.equal(blocks.add(pendingBlock(3, { branch: 'b' })), false)
  assert.equal(blocks.add(pendingBlock(3, { branch: 'b', parent: pendingBlock(2).hash })), true)
  blocks.retract(null)
  assert.equal(blocks.add(pendingBlock(1, { branch: 'c' })), true)
})

test('what was stored no longer waits, and its last block is what the next stands on', () => {
  const blocks = createPendingBlocks(null)
  for (const number of [5, 6, 7]) blocks.add(pendingBlock(number))
  const bytes = blocks.bytes()
  blocks.drop(2)
  assert.deepEqual(numbers(blocks), [7])
  assert.ok(blocks.bytes() < bytes)
  blocks.drop(1)
  assert.equal(blocks.bytes(), 0)
  assert.equal(blocks.add(pendingBlock(8)), true)
})
