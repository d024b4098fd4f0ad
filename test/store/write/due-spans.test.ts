/** When an index is merged, and what below a tail is removed: by heights alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyState, type StoreState } from '../../../src/store/disk/layout.ts'
import { emptySlot, type ViewSlot } from '../../../src/store/disk/view-layout.ts'
import { dueSpan, pruneableGroup } from '../../../src/store/write/span-writes.ts'
import { deepestSpan, dueViewSpan } from '../../../src/store/write/view-spans.ts'

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

test('a span is deep once 64 blocks are above it, whether these have documents or only rows', () => {
  assert.ok(deepestSpan(stateOf({})) < 0)
  assert.ok(deepestSpan(stateOf({ blocks: [[0, 126]] })) < 0)
  assert.equal(deepestSpan(stateOf({ blocks: [[0, 127]] })), 0)
  assert.equal(deepestSpan(stateOf({ pruned: [[0, 127]] })), 0)
  assert.equal(deepestSpan(stateOf({ blocks: [[128, 190]], pruned: [[0, 127]] })), 0)
  assert.equal(deepestSpan(stateOf({ blocks: [[128, 191]], pruned: [[0, 127]] })), 1)
})

test('rows of a span are due once it is deep and the View has done all of it, or failed', () => {
  const due = (changed: Partial<ViewSlot>, head = 127): number | undefined =>
    dueViewSpan(stateOf({ blocks: [[0, head]] }), { ...emptySlot, ...changed })
  assert.equal(due({ done: [[0, 63]] }, 126), undefined)
  assert.equal(due({ done: [[0, 63]] }), 0)
  assert.equal(due({ done: [[0, 62]] }), undefined)
  assert.equal(due({ done: [[1, 63]] }), undefined)
  assert.equal(due({ done: [[0, 62]], failed: [[63, 63]] }), 0)
  assert.equal(due({ failed: [[0, 63]] }), undefined)
  // The lowest of those that are whole.
  assert.equal(due({ done: [[0, 255]] }, 255), 0)
  assert.equal(due({ done: [[1, 127]] }, 191), 1)
  assert.equal(due({ done: [[64, 126]] }, 191), undefined)
})

test('rows of a span are due again where some of it came since it was merged', () => {
  const due = (changed: Partial<ViewSlot>): number | undefined =>
    dueViewSpan(stateOf({ blocks: [[0, 127]] }), { ...emptySlot, done: [[0, 127]], ...changed })
  assert.equal(due({ merged: [[0, 63]] }), undefined)
  assert.equal(due({ merged: [[0, 62]] }), 0)
  assert.equal(due({ merged: [[1, 63]] }), 0)
})

test('rows of a span do not wait for what is below a tail, or below the rows that are kept', () => {
  const due = (changed: Partial<StoreState>, has: Partial<ViewSlot>): number | undefined =>
    dueViewSpan(stateOf({ blocks: [[0, 127]], ...changed }), { ...emptySlot, ...has })
  const limited = { from: 10, maxBytes: 1 }
  assert.equal(due({}, { done: [[10, 63]], limited }), 0)
  assert.equal(due({}, { done: [[11, 63]], limited }), undefined)
  assert.equal(due({ tail: 10, rowTail: 10 }, { done: [[10, 63]] }), 0)
  assert.equal(due({ tail: 10, rowTail: 10 }, { done: [[11, 63]] }), undefined)
  // Of blocks 10 to 20 only rows are kept.
  const kept = { tail: 21, rowTail: 10, blocks: [[16, 127]], pruned: [[0, 20]] } as const
  assert.equal(due(kept, { done: [[10, 63]] }), 0)
  assert.equal(due(kept, { done: [[11, 63]] }), undefined)
  assert.equal(due({ ...kept, rowTail: 64 }, { done: [[10, 63]] }), undefined)
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
