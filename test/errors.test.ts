import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageOf, messageWithCode, ServiceError } from '../src/errors.ts'

test('what was thrown says what it says, error or not', () => {
  assert.deepEqual([new Error('no'), 'text', 7].map(messageOf), ['no', 'text', '7'])
})

test('the code of a failure stands behind its message, and failures without either have one', () => {
  const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  const found = [refused, new ServiceError('P2P_PULL_FAILED', 'no'), new Error('no'), new Error('')]
  assert.deepEqual(found.map(messageWithCode), [
    'failed (ECONNREFUSED)',
    'no (P2P_PULL_FAILED)',
    'no',
    'failed',
  ])
})
