import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ForeignWrites,
  isWrittenByOthers,
  noForeignWrites,
  ownWrite,
  seenStatus,
} from '../../../../operator/reconcile/evaluate/foreign-writes.ts'

const ours = { head: 7 }
const theirs = { head: 8 }
const hourMs = 3_600_000

/** What is remembered after statuses that were found at these times, each of which was then written again. */
function found(...seen: readonly (readonly [status: object, atMs: number])[]): ForeignWrites {
  return seen.reduce(
    (before: ForeignWrites, [status, atMs]) => ownWrite(seenStatus(before, status, atMs), ours),
    ownWrite(noForeignWrites, ours),
  )
}

test('three statuses that others wrote within an hour are another operator’s, two are not', () => {
  const two = found([theirs, 0], [ours, 1], [theirs, 2])
  assert.equal(isWrittenByOthers(two, 2), false)
  const three = found([theirs, 0], [theirs, 2], [theirs, 3])
  assert.equal(isWrittenByOthers(three, 3), true)
  assert.equal(isWrittenByOthers(three, hourMs), false)
  assert.equal(isWrittenByOthers(found([theirs, 0], [theirs, 2], [theirs, hourMs]), hourMs), false)
  const later = found([theirs, hourMs], [theirs, hourMs + 1], [theirs, hourMs + 2])
  assert.equal(isWrittenByOthers(later, hourMs + 2), true)
})

test('no more of them are remembered than count', () => {
  const { foundMs } = found([theirs, 0], [theirs, 1], [theirs, 2], [theirs, 3])
  assert.deepEqual(foundMs, [1, 2, 3])
})

test('one status counts once, however often it is seen before it is written again', () => {
  let seen = ownWrite(noForeignWrites, ours)
  for (let atMs = 0; atMs < 9; atMs += 1) seen = seenStatus(seen, theirs, atMs)
  assert.equal(seen.foundMs.length, 1)
})

test('neither who manages it nor what was there before the first write counts', () => {
  assert.deepEqual(seenStatus(noForeignWrites, theirs, 0), noForeignWrites)
  const managed = { ...ours, managedBy: 'b/two' }
  assert.deepEqual(found([managed, 0]).foundMs, [])
})
