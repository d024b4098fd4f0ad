import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decideManagement,
  type Management,
  rivalOf,
  unmanaged,
} from '../../../../operator/reconcile/evaluate/management.ts'

/** One operator, which sees whose name is in the status at some second. */
function operator(self: string) {
  let memory: Management = unmanaged
  return {
    sees(managedBy: string | undefined, second: number): string {
      const { step, after } = decideManagement(managedBy, self, memory, second * 1_000)
      memory = after
      const isHeld = after.waitUntilMs > second * 1_000
      return isHeld && step === 'takeOver' ? 'takeOver and wait' : step
    },
    rivalAt: (second: number) => rivalOf(memory, second * 1_000),
  }
}

test('a resource of nobody is managed at once, and stays with whom it names', () => {
  const one = operator('a/one')
  assert.equal(one.sees(undefined, 0), 'takeOver')
  assert.equal(one.sees('a/one', 0), 'manage')
  assert.equal(one.rivalAt(0), null)
})

test('what an operator managed that is gone is taken over after time to object', () => {
  const two = operator('b/two')
  assert.equal(two.sees('a/one', 0), 'takeOver and wait')
  assert.equal(two.sees('b/two', 14), 'wait')
  assert.equal(two.sees('b/two', 15), 'manage')
  assert.equal(two.rivalAt(15), null)
})

test('of two at work the one whose name sorts first goes on, and the other asks again later', () => {
  const one = operator('a/one')
  const two = operator('b/two')
  one.sees('a/one', 0)
  assert.equal(two.sees('a/one', 1), 'takeOver and wait')
  assert.equal(one.sees('b/two', 2), 'takeOver')
  assert.equal(one.sees('a/one', 2), 'manage')
  assert.equal(two.sees('a/one', 3), 'yield')
  assert.equal(two.sees('a/one', 602), 'wait')
  assert.equal(two.sees('a/one', 604), 'takeOver and wait')
  assert.equal(one.sees('b/two', 605), 'takeOver')
  assert.equal(two.sees('a/one', 606), 'yield')
})

test('one that comes later and sorts first goes on after time to object', () => {
  const two = operator('b/two')
  two.sees('b/two', 0)
  const one = operator('a/one')
  assert.equal(one.sees('b/two', 1), 'takeOver and wait')
  assert.equal(two.sees('a/one', 2), 'yield')
  assert.equal(one.sees('a/one', 16), 'manage')
})

test('an overlap is reported until the other operator would have asked again', () => {
  const one = operator('a/one')
  one.sees('a/one', 0)
  one.sees('b/two', 1)
  assert.deepEqual([one.rivalAt(2), one.rivalAt(900), one.rivalAt(901)], ['b/two', 'b/two', null])
})
