/** When the index of documents is merged, and what below a tail is removed: by the heights of a state alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyState, type StoreState } from '../../../src/store/disk/layout.ts'
import { dueSpan, pruneableGroup } from '../../../src/store/write/span-writes.ts'

const stateOf = (changed: Partial<StoreState>): StoreState => ({
  ...emptyState,
  unmerged: changed.blocks ?? [],
  ...changed,
})

test('a whole span is due as soon as 64 blocks are above it, the lowest one first', () => {
  assert.equal(dueSpan(stateOf({ blocks: [[0, 126]] })), undefined)
  assert.equal(dueSpan(stateOf({ blocks: [[0, 127]] })), 0)
  assert.equal(dueSpan(stateOf({ blocks: [[0, 400]] })), 0)
  assert.equal(dueSpan(stateOf({ blocks: [[0, 190]], unmerged: [[64, 190]] })), undefined)
  assert.equal(dueSpan(stateOf({ blocks: [[0, 191]], unmerged: [[64, 191]] })), 1)
  // One block of it that came again.
  assert.equal(dueSpan(stateOf({ blocks: [[0, 191]], unmerged: [[9, 9]] })), 0)
  assert.equal(dueSpan(stateOf({ blocks: [[0, 191]], unmerged: [] })), undefined)
})

test('a span with holes is due once sixteen of its blocks wait, and does not hold up others', () => {
  const waiting = (from: number, to: number): number | undefined =>
    dueSpan(
      stateOf({
        blocks: [
          [from, to],
          [320, 320],
        ],
      }),
    )
  assert.equal(waiting(70, 84), undefined)
  assert.equal(waiting(70, 85), 1)
  // Seven in one span and nine in the next one.
  assert.equal(waiting(121, 136), undefined)
  assert.equal(waiting(60, 191), 1)
})

test('a span that a tail has reached is merged no more', () => {
  const blocks = [[0, 320]] as const
  assert.equal(dueSpan(stateOf({ blocks, tail: 64 })), 1)
  assert.equal(dueSpan(stateOf({ blocks, tail: 65 })), 2)
  assert.equal(dueSpan(stateOf({ blocks, tail: 193 })), undefined)
})

test('blocks go in groups of sixteen that lie below the tail as a whole, the lowest first', () => {
  const group = (changed: Partial<StoreState>, lowestSigned?: number): number | undefined =>
    pruneableGroup(stateOf(changed), lowestSigned)
  assert.equal(group({ blocks: [[20, 90]], tail: 31 }), undefined)
  assert.equal(group({ blocks: [[20, 90]], tail: 32 }), 1)
  assert.equal(group({ blocks: [[20, 90]], tail: 90 }), 1)
  assert.equal(group({ tail: 90, rowTail: 90 }), undefined)
})

test('what is kept for rows goes in the same groups below the tail of rows', () => {
  const group = (changed: Partial<StoreState>, lowestSigned?: number): number | undefined =>
    pruneableGroup(stateOf({ tail: 90, blocks: [[64, 99]], ...changed }), lowestSigned)
  assert.equal(group({}), 4)
  assert.equal(group({ pruned: [[33, 63]], rowTail: 47 }), 4)
  assert.equal(group({ pruned: [[33, 63]], rowTail: 48 }), 2)
  assert.equal(group({ pruned: [[33, 63]], rowTail: 48 }, 31), 1)
  assert.equal(group({ pruned: [[33, 63]], rowTail: 48 }, 34), 2)
  assert.equal(group({ rowTail: 16 }, 15), 0)
  assert.equal(group({ rowTail: 15 }, 15), 4)
})
