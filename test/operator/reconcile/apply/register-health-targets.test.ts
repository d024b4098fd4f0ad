import assert from 'node:assert/strict'
import { test } from 'node:test'
import { records } from '../../../../operator/api/annotations.ts'
import { registerHealthTargets } from '../../../../operator/reconcile/apply/register-health-targets.ts'
import type {
  HealthObserver,
  Target,
} from '../../../../operator/reconcile/observe/health-observer.ts'
import { observedName } from '../../../../operator/reconcile/observe/observed-name.ts'
import { childMetadata, selectorLabels } from '../../../../operator/resources/names/metadata.ts'
import { childNames, podName } from '../../../../operator/resources/names/names.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const running: readonly KubernetesObject[] = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName(host, 0), namespace, uid: 'pod', labels: selectorLabels(host) },
    status: { podIP: '10.0.0.1' },
  } as KubernetesObject,
]

/** An observer that keeps what it is to watch, and asked nobody yet. */
function observerWith(watched: [string, readonly Target[]][]): HealthObserver {
  return {
    watch: (owner, targets) => void watched.push([owner, targets]),
    view: () => undefined,
    checkNow: () => undefined,
    close: async () => undefined,
  }
}

/** What the observer is to watch of this Host, in a cluster with these objects. */
function registered(
  objects: typeof running,
  occasion = '',
  resource = host,
  views: readonly string[] = [],
): readonly Target[] {
  const watched: [string, readonly Target[]][] = []
  const observer = observerWith(watched)
  registerHealthTargets({ view: viewOf(objects), observer }, resource, occasion, views)
  const [[owner, targets] = assert.fail()] = watched
  assert.equal(owner, observedName(host))
  return targets
}

test('the replicas that run are registered as health targets', () => {
  const [{ occasion, ...target } = assert.fail(), ...others] = registered(running)
  assert.deepEqual(target, { ordinal: 0, uid: 'pod', ip: '10.0.0.1' })
  assert.deepEqual(others, [])
})

test('replicas of a Host with Views are asked for them, and again soon where they are others', () => {
  const [first, second] = ['a', 'b'].map((id) => registered(running, '', host, [id])[0])
  assert.deepEqual([first?.views, second?.views], [['a'], ['b']])
  assert.notEqual(first?.occasion, second?.occasion)
})

test('a pod without an address, that goes, or of a removed replica, is no health target', () => {
  const pod = running[0] ?? assert.fail()
  const { metadata } = pod
  const changed: readonly object[] = [
    { ...pod, status: {} },
    { ...pod, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    { ...pod, metadata: { ...metadata, name: podName(host, 1) } },
  ]
  for (const object of changed) assert.deepEqual(registered([object as KubernetesObject]), [])
  const suspended = { ...host, spec: { ...host.spec, suspend: true } }
  assert.deepEqual(registered(running, '', suspended), [])
})

test('what may have a replica say something else is an occasion to ask it soon', () => {
  const pod = running[0] ?? assert.fail()
  const ready = { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] }
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: childMetadata(host, childNames(host).config, {
      annotations: { [records.applied]: 'of other peers' },
    }),
  } as KubernetesObject
  const { metadata } = host
  const newSpec = { ...host, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 } }
  const occasions = [
    registered(running),
    registered(running, 'its Generator is Ready'),
    registered([{ ...pod, status: ready } as KubernetesObject]),
    registered([pod, config]),
    registered(running, '', newSpec),
  ].map(([target]) => target?.occasion)
  assert.equal(new Set(occasions).size, occasions.length)
  assert.equal(registered(running)[0]?.occasion, occasions[0])
})
