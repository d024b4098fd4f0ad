import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGroupQueue } from '../../../../operator/reconcile/observe/group-queue.ts'

test('groups take turns, and what is of one group comes in its order', () => {
  const queue = createGroupQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.add(item.charAt(0), item)
  const order = Array.from({ length: 7 }, () => queue.next())
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', undefined])
})

test('a group that waits again comes after those that wait already', () => {
  const queue = createGroupQueue<string>()
  queue.add('a', 'a1')
  queue.add('b', 'b1')
  assert.equal(queue.next(), 'a1')
  queue.add('a', 'a2')
  assert.deepEqual([queue.next(), queue.next(), queue.next()], ['b1', 'a2', undefined])
})
