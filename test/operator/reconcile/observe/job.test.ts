import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1JobCondition } from '@kubernetes/client-node'
import { type KeptJob, keepJob } from '../../../../operator/reconcile/observe/job.ts'

function kept(...conditions: readonly V1JobCondition[]): KeptJob {
  return keepJob({ metadata: { uid: 'job' }, status: { conditions: [...conditions] } })
}

test('a Job runs until Kubernetes says that it is complete or failed', () => {
  const running = { uid: 'job', state: 'running', failure: null }
  assert.deepEqual(keepJob({ metadata: { uid: 'job' } }), running)
  assert.deepEqual(kept({ type: 'Complete', status: 'False' }), running)
  assert.deepEqual(kept({ type: 'Failed', status: 'Unknown', reason: 'None' }), running)
  assert.deepEqual(kept({ type: 'Suspended', status: 'True' }), running)
  const complete = { type: 'Complete', status: 'True' }
  assert.deepEqual(kept(complete), { ...running, state: 'complete' })
  assert.deepEqual(keepJob({}), { ...running, uid: '' })
})

test('a Job that failed says why, where Kubernetes does', () => {
  const failed = { type: 'Failed', status: 'True' }
  const reason = 'DeadlineExceeded'
  const expected = { uid: 'job', state: 'failed' }
  const target = { type: 'FailureTarget', status: 'True', reason: 'another' }
  assert.deepEqual(kept(target, { ...failed, reason }), { ...expected, failure: reason })
  assert.deepEqual(kept(failed), { ...expected, failure: 'Failed' })
})
