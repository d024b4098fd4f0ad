import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remember } from '../src/remember.ts'

test('a full map forgets what was set longest ago, and what is set again is the newest', () => {
  const map = new Map<string, number>()
  for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) remember(map, key, index, 2)
  assert.deepEqual(
    [...map],
    [
      ['a', 2],
      ['c', 3],
    ],
  )
  remember(map, 'd', 4, 1)
  assert.deepEqual([...map], [['d', 4]])
})
