import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../../../../operator/api/status.ts'
import { stoppedStatus } from '../../../../operator/reconcile/status/stopped-status.ts'
import { ServiceError } from '../../../../src/errors.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const former = (type: string, reason: string): Condition => ({
  ...{ type, reason, status: 'True', message: 'former', observedGeneration: 1 },
  lastTransitionTime: '2026-01-01T00:00:00Z',
})
const kept = former('StorageReady', 'Bound')
const conditions = [former('Ready', 'AllReady'), former('Stalled', 'Forbidden'), kept]
const host = { ...readHost('host-minimal'), status: { conditions, pods: '1/1' } }
const unread = (message: string) => ({ reason: 'Unread', message }) as const

/** The conditions while this stops it. */
function saidOf(error: unknown): readonly Partial<Condition>[] {
  return stoppedStatus(host, { problem: null, error, waiting: null }, unread).conditions
}

test('of a stopped resource only how it goes on is said again, and all else stays as it was', () => {
  const error = new ServiceError('OPERATOR_API_FAILED', 'it failed', { remedy: 'See its log.' })
  const message = 'it failed. See its log.'
  assert.deepEqual(saidOf(error), [
    { type: 'Ready', status: 'Unknown', reason: 'Unread', message },
    { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message },
    kept,
  ])
})

test('of what only a person can mend nothing is said to go on', () => {
  const problem = { reason: 'Forbidden', message: 'no right' } as const
  const { conditions: found } = stoppedStatus(host, { problem, error: null, waiting: null }, unread)
  const { message } = problem
  assert.deepEqual(found, [
    { type: 'Ready', status: 'False', reason: 'Stalled', message },
    { type: 'Stalled', status: 'True', reason: 'Forbidden', message },
    kept,
  ])
})

test('what is no failure of a service is looked for in the log of the operator', () => {
  assert.equal(saidOf(new Error('ours'))[0]?.message, 'See the log of the operator, and report it.')
})
