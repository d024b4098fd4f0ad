/** How many heads of one signer are taken. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { burstHeads, createHeadRate } from '../../../src/host/apply/head-rate.ts'

/** How many of so many heads are taken at once. */
function takenOf(rate: ReturnType<typeof createHeadRate>, count: number, who = 'alice'): number {
  return Array.from({ length: count }, () => rate.take(who)).filter(Boolean).length
}

test('a signer that sent all it may at once may send one more each quarter of a second', () => {
  let nowMs = 5_000
  const rate = createHeadRate(() => nowMs)
  assert.equal(takenOf(rate, burstHeads + 1), burstHeads)
  nowMs += 249
  assert.equal(takenOf(rate, 1), 0)
  nowMs += 1
  assert.equal(takenOf(rate, 2), 1)
  nowMs += 1_000
  assert.equal(takenOf(rate, 9), 4)
})

test('a signer that was quiet for an hour may send no more at once than at the start', () => {
  let nowMs = 0
  const rate = createHeadRate(() => nowMs)
  takenOf(rate, 3)
  nowMs += 3_600_000
  assert.equal(takenOf(rate, 100), burstHeads)
})

test('a signer uses up what is its own, until it is forgotten', () => {
  const rate = createHeadRate(() => 0)
  takenOf(rate, burstHeads)
  assert.equal(takenOf(rate, 100, 'bob'), burstHeads)
  rate.forget('alice')
  assert.equal(takenOf(rate, 100), burstHeads)
  assert.equal(takenOf(rate, 100, 'bob'), 0)
})
