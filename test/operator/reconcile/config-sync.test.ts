/** How pods learn at once that what they read from their ConfigMap has changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod, V1Service } from '@kubernetes/client-node'
import { records } from '../../../operator/api/annotations.ts'
import type { Host } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { peerID, readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, viewWith } from '../../support/resources/view-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const minimal = readHost('host-minimal')
const host: Host = { ...minimal, spec: { ...minimal.spec, replicas: 3 } }
const room = reconcileRoom(host.metadata.namespace)

type Pod = V1Pod & KubernetesObject

async function editPod(ordinal: number, change: (pod: Pod) => void): Promise<void> {
  await room.edit<Pod>('Pod', `mainnet-host-${ordinal}`, change)
}

const annotationOf = (kind: 'Pod' | 'ConfigMap', name: string, key: string): string | undefined =>
  room.read(kind, name).metadata?.annotations?.[key]

/** Three pods, of which one has an address, one is terminating and one has not begun. */
async function startPods(): Promise<void> {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
  for (const ordinal of [0, 1])
    await editPod(ordinal, (pod) => {
      pod.status = { ...pod.status, podIP: `10.0.0.${ordinal}` }
    })
  await editPod(1, ({ metadata }) => {
    Object.assign(metadata ?? {}, { deletionTimestamp: '2026-01-01T12:00:00Z' })
  })
}

/** The same, and then the ConfigMap changes. */
async function changeConfig(): Promise<void> {
  await startPods()
  await room.edit<Host>('Host', 'mainnet', ({ spec }) => {
    Object.assign(spec, { bootstrapPeers: [`/dns4/peer.example.org/tcp/9171/p2p/${peerID}`] })
  })
  room.writes()
  await room.reconcile(host)
}

test('a pod that runs gets the mark of its ConfigMap when that changes, and no other pod', async () => {
  await changeConfig()
  assert.deepEqual(room.writes(), [
    'PATCH configmaps mainnet-host-config',
    'PATCH pods mainnet-host-0',
  ])
  const mark = annotationOf('ConfigMap', 'mainnet-host-config', records.applied)
  assert.ok(mark)
  assert.equal(annotationOf('Pod', 'mainnet-host-0', records.configMap), mark)
})

test('a pod that runs is marked for the first View as well, whose ConfigMap is made then', async () => {
  await startPods()
  const view = viewWith('senders', { definition: plainDefinition }, host.metadata.namespace)
  await room.put(view)
  await room.reconcile(view)
  room.writes()
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [
    'PATCH configmaps mainnet-host-views-0',
    'PATCH pods mainnet-host-0',
  ])
})

test('a pod that may not be marked sees its ConfigMap later, and all else is written', async () => {
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'PATCH' || !path.endsWith('/pods/mainnet-host-0')) return false
    send(response, 403, status(403, 'Forbidden', 'no'))
    return true
  })
  await changeConfig()
  assert.equal(room.condition(host, 'Stalled'), undefined)
  assert.equal(annotationOf('Pod', 'mainnet-host-0', records.configMap), undefined)
})

test('no pod is marked for what it does not read, as a Service that is put back', async () => {
  await startPods()
  room.writes()
  await room.edit<V1Service & KubernetesObject>('Service', 'mainnet-host', ({ spec }) =>
    Object.assign(spec ?? {}, { selector: {} }),
  )
  await room.reconcile(host)
  assert.deepEqual(room.writes(), ['PATCH services mainnet-host'])
})
