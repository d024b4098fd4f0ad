import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, membersOf } from '../src/json-object.ts'

test('an object is what has members: no list, no null and nothing else', () => {
  assert.deepEqual([{}, { a: 1 }].map(isObject), [true, true])
  assert.deepEqual([[], [{}], null, undefined, '{}', 1, true].map(isObject), Array(7).fill(false))
})

test('the members of an object are a copy, and those of anything else none', () => {
  const object = { a: 1, b: [2] }
  assert.deepEqual(membersOf(object), object)
  assert.notEqual(membersOf(object), object)
  assert.deepEqual([[1], null, undefined, 'text'].map(membersOf), [{}, {}, {}, {}])
})
