import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { failureText } from '../../src/service/failure-text.ts'

test('at a terminal a failure is its message, its facts, its causes and what to do', () => {
  const cause = new Error('EACCES', { cause: new Error('read-only') })
  const facts = { directory: '/keys', uid: 1001 }
  const remedy = 'Change ownership.'
  const error = new ServiceError('IDENTITY_PERMISSION', 'Permission denied', {
    facts,
    remedy,
    cause,
  })
  assert.equal(
    failureText(error),
    [
      'error: Permission denied',
      '  directory: /keys',
      '  uid: 1001',
      '  because: EACCES',
      '  because: read-only',
      'What to do: Change ownership.',
    ].join('\n'),
  )
})

test('a failure of ours without a remedy is its message and facts, without a stack', () => {
  const error = new ServiceError('STORE_FULL', 'no space is left', { facts: { free: 0 } })
  assert.equal(failureText(error), 'error: no space is left\n  free: 0')
})

test('a failure that nobody foresaw shows its stack, whatever was thrown', () => {
  assert.match(failureText(new Error('odd')), /^error: odd\nError: odd\n {4}at .*failure-text/s)
  assert.equal(failureText('just text'), 'error: just text')
})
