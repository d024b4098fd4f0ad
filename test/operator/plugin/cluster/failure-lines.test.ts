/** What a person reads of a command that failed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureLines } from '../../../../operator/plugin/cluster/failure-lines.ts'
import { ServiceError } from '../../../../src/errors.ts'

test('a failure that was foreseen is shown with its causes and what to do, and not where it was', () => {
  const cause = new Error('it was cut', { cause: new Error('the disk is full') })
  const remedy = 'Take another backup.'
  const error = new ServiceError('PLUGIN_BACKUP_UNUSABLE', 'a.json is no backup', { remedy, cause })
  assert.deepEqual(failureLines(error), [
    'error: a.json is no backup (PLUGIN_BACKUP_UNUSABLE)',
    '  because: it was cut',
    '  because: the disk is full',
    'What to do: Take another backup.',
  ])
})

test('what the API server refuses is shown with what a person does, not what the operator does', () => {
  const remedy = 'The operator tries it again.'
  assert.deepEqual(
    failureLines(new ServiceError('OPERATOR_API_UNAUTHORIZED', 'list pods: 401', { remedy })),
    [
      'error: list pods: 401 (OPERATOR_API_UNAUTHORIZED)',
      'What to do: Sign in again, as for kubectl.',
    ],
  )
})

test('of what nobody foresaw it is shown once what it was, and then where', () => {
  const [first, ...places] = failureLines(new Error('a surprise'))
  assert.equal(first, 'error: a surprise')
  assert.match(places[0] ?? '', /failure-lines\.test\.ts/)
  for (const place of places) assert.match(place, /^ {4}at /)
})
