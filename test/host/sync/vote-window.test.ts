import assert from 'node:assert/strict'
import { test } from 'node:test'
import { voteWindow } from '../../../src/host/sync/vote-window.ts'

test('votes are compared from what is kept up to what is stored, or was reached above that', () => {
  assert.deepEqual(voteWindow({ floor: 3, reached: null }, 5), { from: 3, to: 5 })
  assert.deepEqual(voteWindow({ floor: 3, reached: 4 }, 5), { from: 3, to: 5 })
  assert.deepEqual(voteWindow({ floor: 3, reached: 9 }, 5), { from: 3, to: 9 })
  assert.deepEqual(voteWindow({ floor: 0, reached: 0 }, -1), { from: 0, to: 0 })
  assert.deepEqual(voteWindow({ floor: 0, reached: null }, 0), { from: 0, to: 0 })
})

test('no votes are compared before a block or a signer is known', () => {
  assert.equal(voteWindow({ floor: 0, reached: null }, -1), null)
  assert.equal(voteWindow(null, 5), null)
})
