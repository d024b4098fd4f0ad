import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createHeadTracker } from '../../../src/generator/read/head-tracker.ts'

const headOf = (number: number) => ({ number, hash: `0x${number}`, parentHash: '0x' })
const [one, two] = [headOf(1), headOf(2)]

test('the newest head is there at once for who has seen another one, or none', async () => {
  const tracker = createHeadTracker()
  assert.equal(tracker.latest(), null)
  tracker.set(one)
  tracker.set(two)
  assert.equal(tracker.latest(), two)
  assert.deepEqual(await Promise.all([tracker.after(null), tracker.after(one)]), [two, two])
})

test('all who have seen the newest head wait for the next one', async () => {
  const tracker = createHeadTracker()
  tracker.set(one)
  const found: unknown[] = []
  const waiting = [1, 2].map(() => tracker.after(one).then((head) => found.push(head)))
  await nextTurn()
  assert.deepEqual(found, [])
  tracker.set(two)
  await Promise.all(waiting)
  assert.deepEqual(found, [two, two])
})

test('no head follows the end, neither for who waits nor for who asks afterwards', async () => {
  const tracker = createHeadTracker()
  tracker.set(one)
  const waiting = tracker.after(one)
  tracker.end()
  assert.deepEqual(await Promise.all([waiting, tracker.after(null)]), [null, null])
})
