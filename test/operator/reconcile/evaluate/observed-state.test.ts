import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  observedName,
  observeState,
  registerHealthTargets,
} from '../../../../operator/reconcile/evaluate/observed-state.ts'
import type {
  HealthObserver,
  Target,
} from '../../../../operator/reconcile/observe/health-observer.ts'
import { parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { selectorLabels } from '../../../../operator/resources/names/metadata.ts'
import { podName } from '../../../../operator/resources/names/names.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const view = viewOf([
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName(host, 0), namespace, uid: 'pod', labels: selectorLabels(host) },
    status: { podIP: '10.0.0.1' },
  } as never,
])

/** An observer that has this report of every replica, and keeps what it is to watch. */
function observerWith(watched: [string, readonly Target[]][]): HealthObserver {
  const report = parseHealth(JSON.stringify({ program: 'host', p2p: { self: { id: 'me' } } }))
  return {
    watch: (owner, targets) => void watched.push([owner, targets]),
    view: () => report,
    checkNow: () => undefined,
    close: async () => undefined,
  }
}

test('observing reads what replicas reported and registers no health target', () => {
  const watched: [string, readonly Target[]][] = []
  const observer = observerWith(watched)
  const { pods, views } = observeState({ view, observer, now: () => new Date(0) }, host)
  assert.equal(pods.get(0)?.ip, '10.0.0.1')
  assert.equal(views.get(0)?.peerID, 'me')
  assert.deepEqual(watched, [])
})

test('the replicas that run are registered as health targets', () => {
  const watched: [string, readonly Target[]][] = []
  registerHealthTargets({ view, observer: observerWith(watched) }, host)
  assert.deepEqual(watched, [[observedName(host), [{ ordinal: 0, uid: 'pod', ip: '10.0.0.1' }]]])
})
