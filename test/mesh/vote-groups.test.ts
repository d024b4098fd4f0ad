/** How a range of heights is cut into pieces of work. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupsOf } from '../../src/mesh/vote-groups.ts'
import { groupHeights } from '../../src/primitives/vote-exchange.ts'

test('a range is cut where groups begin, and holds no height beyond its ends', () => {
  const last = groupHeights - 1
  assert.deepEqual(groupsOf({ from: 5, to: 5 }), [{ from: 5, to: 5 }])
  assert.deepEqual(groupsOf({ from: 0, to: last }), [{ from: 0, to: last }])
  assert.deepEqual(groupsOf({ from: last, to: 2 * groupHeights }), [
    { from: last, to: last },
    { from: groupHeights, to: groupHeights + last },
    { from: 2 * groupHeights, to: 2 * groupHeights },
  ])
  assert.deepEqual(groupsOf({ from: groupHeights, to: last }), [])
})
