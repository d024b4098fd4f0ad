import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import {
  countsOf,
  isObserved,
  isRollingOut,
  outdatedReplicas,
} from '../../../../operator/reconcile/observe/set-counts.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { readyCounts } from '../../support/operator-findings.ts'

const minimal = readHost('host-minimal')
const withSpec = (spec: Partial<Host['spec']>): Host => ({
  ...minimal,
  spec: { ...minimal.spec, ...spec },
})
const four = { ...readyCounts, wantedReplicas: 4, replicas: 4, updatedReplicas: 4 }

test('a StatefulSet has the counts that its controller wrote, and of one that is new none', () => {
  const none = {
    ...{ generation: 0, observedGeneration: 0, wantedReplicas: 1, replicas: 0 },
    ...{ readyReplicas: 0, updatedReplicas: 0, isRolling: false },
  }
  assert.deepEqual(countsOf({}), none)
  const counts = { replicas: 4, readyReplicas: 3, updatedReplicas: 2 }
  const revisions = { currentRevision: 'a', updateRevision: 'b' }
  const found = countsOf({
    metadata: { generation: 7 },
    spec: { replicas: 5, selector: {}, serviceName: 'a', template: {} },
    status: { ...counts, ...revisions, observedGeneration: 6 },
  })
  const written = { generation: 7, observedGeneration: 6, wantedReplicas: 5 }
  assert.deepEqual(found, { ...written, ...counts, isRolling: true })
})

test('a StatefulSet is observed from the generation on that was written last', () => {
  const isSeen = (observedGeneration: number): boolean =>
    isObserved({ ...four, generation: 3, observedGeneration })
  assert.deepEqual([2, 3, 4].map(isSeen), [false, true, true])
})

test('of pods those count as outdated that are there, or all that are wanted while it rolls out', () => {
  const wanted = withSpec({ replicas: 4 })
  const some = { ...four, replicas: 3, updatedReplicas: 2 }
  assert.equal(outdatedReplicas(wanted, some), 1)
  assert.equal(outdatedReplicas(wanted, { ...some, isRolling: true }), 2)
  assert.equal(outdatedReplicas(wanted, { ...some, replicas: 6 }), 2)
})

test('pods roll out while more are outdated than updatePartition holds back', () => {
  const isRolling = (updatePartition: number, updatedReplicas: number): boolean =>
    isRollingOut(withSpec({ replicas: 4, updatePartition }), { ...four, updatedReplicas })
  assert.deepEqual([isRolling(0, 3), isRolling(0, 4)], [true, false])
  assert.deepEqual([isRolling(2, 1), isRolling(2, 2)], [true, false])
  assert.equal(isRolling(9, 0), false)
})
