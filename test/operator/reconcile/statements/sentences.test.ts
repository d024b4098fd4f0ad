import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  listed,
  remedied,
  withoutStop,
} from '../../../../operator/reconcile/statements/sentences.ts'

test('of many things the first four are named, and the others counted', () => {
  assert.equal(listed(['a', 'b', 'c', 'd']), 'a, b, c, d')
  assert.equal(listed(['a', 'b', 'c', 'd', 'e'], '; '), 'a; b; c; d and 1 more')
})

test('one full stop is between a failure and what to do about it', () => {
  assert.deepEqual(['It failed.', 'It failed', 'a.b'].map(withoutStop), [
    'It failed',
    'It failed',
    'a.b',
  ])
  for (const message of ['It failed', 'It failed.'])
    assert.equal(remedied({ message, remedy: 'Try again.' }), 'It failed. Try again.')
  assert.equal(remedied({ message: 'It failed', remedy: undefined }), 'It failed')
})
