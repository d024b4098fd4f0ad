/** How the volumes of a Host grow, whose StatefulSet cannot be changed for that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1PersistentVolumeClaim, V1Pod, V1StatefulSet } from '@kubernetes/client-node'
import type { Host } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const minimal = readHost('host-minimal')
const { storage } = minimal.spec
const withData = (data: object): Host => ({
  ...minimal,
  spec: { ...minimal.spec, storage: { ...storage, data: { ...storage.data, ...data } } },
})
const host = withData({ storageClassName: 'growing' })
const larger = withData({ storageClassName: 'growing', size: '999Gi' })
const room = reconcileRoom(host.metadata.namespace)

const sizes = (): unknown[] =>
  (
    room.read<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host').spec
      ?.volumeClaimTemplates ?? []
  ).map(({ metadata, spec }) => [metadata?.name, spec?.resources?.requests?.['storage']])

/** Puts a Host, and has it ready. */
async function ready(of: Host): Promise<void> {
  await room.put(of)
  await room.reconcile(of)
  await room.start(of)
  await room.edit<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host', (set) =>
    Object.assign(set.status ?? {}, { observedGeneration: set.metadata?.generation }),
  )
  await room.reconcile(of)
}

/** A Host that is ready, whose data is to have more room from now on. */
async function growing(more: object = {}): Promise<void> {
  const kind = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' }
  room.server.put('/apis/storage.k8s.io/v1/storageclasses/growing', {
    ...{ ...kind, metadata: { name: 'growing' }, allowVolumeExpansion: true },
  } as KubernetesObject)
  await ready(host)
  await room.edit<Host>('Host', 'mainnet', (live) =>
    Object.assign(live, { spec: { ...larger.spec, ...more } }),
  )
  room.writes()
}

test('all claims ask for more, then the StatefulSet is made again around its pods', async () => {
  await growing()
  await room.reconcile(larger)
  assert.deepEqual(room.writes(), [
    'PATCH persistentvolumeclaims data-mainnet-host-0',
    'PATCH configmaps mainnet-host-config',
    'PATCH pods mainnet-host-0',
    'DELETE statefulsets mainnet-host',
  ])
  const claim = room.read<V1PersistentVolumeClaim & KubernetesObject>(
    'PersistentVolumeClaim',
    'data-mainnet-host-0',
  )
  assert.equal(claim.spec?.resources?.requests?.['storage'], '999Gi')
  const { metadata } = room.read<V1Pod & KubernetesObject>('Pod', 'mainnet-host-0')
  assert.deepEqual(
    metadata?.ownerReferences?.map(({ uid }) => uid),
    [host.metadata.uid],
  )
  await room.reconcile(larger)
  assert.deepEqual(room.writes(), ['PATCH statefulsets mainnet-host'])
  assert.deepEqual(sizes(), [
    ['keys', storage.keys.size],
    ['data', '999Gi'],
  ])
})

test('of a paused Host claims that would ask for more wait, and nothing is removed', async () => {
  await growing({ paused: true })
  await room.reconcile(larger)
  assert.deepEqual(room.writes(), [])
  assert.match(
    room.condition(host, 'Paused')?.message ?? '',
    /PersistentVolumeClaim data-mainnet-host-0/,
  )
})

test('where the keys are lost meanwhile, the StatefulSet goes before a pod is changed', async () => {
  await growing()
  await room.edit<V1PersistentVolumeClaim & KubernetesObject>(
    'PersistentVolumeClaim',
    'data-mainnet-host-0',
    ({ spec }) => Object.assign(spec ?? {}, { resources: { requests: { storage: '999Gi' } } }),
  )
  await room.remove('PersistentVolumeClaim', 'keys-mainnet-host-0')
  await room.reconcile(larger)
  assert.equal(room.condition(host, 'Stalled')?.reason, 'KeysClaimMissing')
  assert.deepEqual(room.writes(), [
    'PATCH configmaps mainnet-host-config',
    'DELETE statefulsets mainnet-host',
    'PATCH pods mainnet-host-0',
  ])
})

test('a StatefulSet that somebody else removes leaves its pods to the Host', async () => {
  await growing({ storage: host.spec.storage })
  await room.edit<KubernetesObject>('StatefulSet', 'mainnet-host', ({ metadata }) =>
    Object.assign(metadata ?? {}, { deletionTimestamp: '2026-01-01T12:00:00Z' }),
  )
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [
    'PATCH pods mainnet-host-0',
    'PATCH configmaps mainnet-host-config',
  ])
  const { metadata } = room.read<V1Pod & KubernetesObject>('Pod', 'mainnet-host-0')
  assert.deepEqual(
    metadata?.ownerReferences?.map(({ uid }) => uid),
    [host.metadata.uid],
  )
})

/** A Host that is ready, whose data has a file system that waits for the next start of its pod since half an hour. */
async function waiting(waits: Host): Promise<void> {
  await ready(waits)
  await room.edit<V1Pod & KubernetesObject>('Pod', 'mainnet-host-0', ({ metadata }) =>
    Object.assign(metadata ?? {}, { creationTimestamp: '2026-01-01T11:00:00Z' }),
  )
  const lastTransitionTime = '2026-01-01T11:30:00Z'
  const conditions = [{ type: 'FileSystemResizePending', status: 'True', lastTransitionTime }]
  await room.edit<V1PersistentVolumeClaim & KubernetesObject>(
    'PersistentVolumeClaim',
    'data-mainnet-host-0',
    ({ status }) => Object.assign(status ?? {}, { conditions }),
  )
  room.writes()
}

test('a file system that grows at the next start has its pod created again where the spec asks', async () => {
  for (const [restartToResize, writes] of [
    [false, []],
    [true, ['DELETE pods mainnet-host-0']],
  ] as const) {
    const waits = { ...host, spec: { ...host.spec, storage: { ...storage, restartToResize } } }
    await waiting(waits)
    await room.reconcile(waits)
    assert.deepEqual(room.writes(), writes)
  }
})
