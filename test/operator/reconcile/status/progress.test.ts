import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostStatus } from '../../../../operator/api/status.ts'
import { progressOf } from '../../../../operator/reconcile/status/progress.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const before: HostStatus = { observedGeneration: 2, lastHandledReconcileAt: 'former' }
const done = { error: null, waiting: null }
const failed = { ...done, error: new Error('no') }
const paused = { ...done, waiting: [] }

/** The progress of generation 3, for which a reconcile was requested, or was not. */
function progress(
  of: typeof done | typeof failed | typeof paused,
  status: HostStatus,
  at?: string,
) {
  const annotations = at === undefined ? {} : { 'viewmesh.io/reconcile-at': at }
  const metadata = { ...minimal.metadata, generation: 3, annotations }
  return progressOf({ ...minimal, metadata, status }, of)
}

test('what was reconciled is the generation and the request that there are', () => {
  const now = { observedGeneration: 3, lastHandledReconcileAt: 'now' }
  assert.deepEqual(progress(done, before, 'now'), now)
  assert.deepEqual(progress(done, before), { observedGeneration: 3 })
})

test('what failed moves neither on, and what waits while paused not the request', () => {
  assert.deepEqual(progress(failed, before, 'now'), before)
  assert.deepEqual(progress(failed, {}, 'now'), { observedGeneration: -1 })
  assert.deepEqual(progress(paused, before, 'now'), { ...before, observedGeneration: 3 })
})
