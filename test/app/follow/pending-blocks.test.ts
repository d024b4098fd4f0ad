/** Blocks of a View that wait: which may come next, and what a reorganisation leaves of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPendingBlocks } from '../../../src/app/follow/pending-blocks.ts'
import { madeRows } from '../support/made-chain.ts'
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

test('a reorganisation above the first block leaves open what that stands on', () => {
  const blocks = createPendingBlocks(null)
  for (const number of [5, 6, 7]) blocks.add(pendingBlock(number))
  blocks.retract({ number: 6, hash: pendingBlock(6).hash })
  assert.deepEqual([blocks.base(), numbers(blocks)], [null, [5, 6]])
  const three = { number: 3, hash: pendingBlock(3).hash }
  blocks.retract(three)
  assert.deepEqual([blocks.base(), numbers(blocks)], [three, []])
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

test('a block takes its rows, each term with 96 bytes more, and 512 bytes, also without rows', () => {
  const blocks = createPendingBlocks(null)
  assert.equal(blocks.bytes(), 0)
  blocks.add(pendingBlock(5, { rows: null }))
  assert.equal(blocks.bytes(), 512)
  const terms = [20, 8].map((bytes) => ({ field: 0, chunk: 0, value: new Uint8Array(bytes) }))
  const rows = { ...madeRows('a', 6, 3), bytes: new Uint8Array(1_000), terms }
  blocks.add(pendingBlock(6, { rows }))
  const both = 2 * 512 + 1_000 + (96 + 20) + (96 + 8)
  assert.equal(blocks.bytes(), both)
  blocks.retract({ number: 6, hash: pendingBlock(6).hash })
  assert.equal(blocks.bytes(), both)
  blocks.drop(1)
  assert.equal(blocks.bytes(), both - 512)
})

test('it is known which heights wait, and what the lowest of them stands on', () => {
  const four = { number: 4, hash: pendingBlock(4).hash }
  const blocks = createPendingBlocks(four)
  assert.deepEqual([blocks.base(), blocks.top()], [four, four])
  for (const number of [5, 6, 7]) blocks.add(pendingBlock(number))
  assert.deepEqual(
    [4, 5, 7, 8].map((number) => blocks.has(number)),
    [false, true, true, false],
  )
  blocks.retract({ number: 6, hash: pendingBlock(6).hash })
  assert.deepEqual(blocks.base(), four)
  const [five] = blocks.list()
  blocks.drop(1)
  assert.deepEqual(blocks.base(), five)
  blocks.drop(1)
  assert.deepEqual([blocks.base()?.number, blocks.top()?.number], [6, 6])
  blocks.retract(null)
  assert.deepEqual([blocks.base(), blocks.top()], [null, null])
})
