import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { V1StatefulSet } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)
const note =
  'create Pod mainnet-host-0 in StatefulSet mainnet-host failed error: pods "mainnet-host-0" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2'
const nudge = 'PATCH statefulsets mainnet-host'

const ready = (): readonly unknown[] => {
  const { status, reason, message } = room.condition(host, 'Ready') ?? {}
  return [status, reason, message]
}

/** What the StatefulSet's controller recorded of a pod, at this time of the noon at which tests are. */
async function record(name: string, at: string, of = note): Promise<void> {
  const event = { note: of, reason: 'FailedCreate', deprecatedLastTimestamp: `2026-01-01T${at}Z` }
  await room.put({ kind: 'Event', metadata: { name }, ...event } as KubernetesObject)
}

beforeEach(async () => {
  await room.put(host)
  await room.reconcile(host)
  await room.edit<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host', (set) =>
    Object.assign(set, { status: { replicas: 0, readyReplicas: 0 } }),
  )
  room.writes()
})

test('Ready says in the words of the Event why a pod is not made, and the StatefulSet is nudged', async () => {
  await record('old', '11:59:00', note.replace('few', 'none'))
  await record('new', '11:59:50')
  await room.reconcile(host)
  assert.deepEqual(ready(), [
    'False',
    'FailedCreate',
    `0 of 1 pods are ready. The StatefulSet reports: ${note}. It is tried again twice a minute.`,
  ])
  assert.deepEqual(room.writes(), [nudge])
  const { metadata } = room.read<KubernetesObject>('StatefulSet', 'mainnet-host')
  assert.equal(metadata?.annotations?.['viewmesh.io/nudged-at'], '2026-01-01T12:00:00.000Z')
  const asked = room.server.requests.find(({ path }) => path.endsWith('/events'))
  assert.match(asked?.query['fieldSelector'] ?? '', /^regarding\.uid=.+,reason=FailedCreate$/)
})

test('it is nudged twice a minute, also by the next operator, and no more once the pod is there', async () => {
  await record('new', '11:59:50')
  await room.reconcile(host)
  await room.reconcile(host)
  room.pass(29_999)
  room.restart()
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [nudge])
  room.pass(1)
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [nudge])
  await room.start(host)
  room.pass(60_000)
  await room.reconcile(host)
  assert.ok(!room.writes().includes(nudge))
  assert.deepEqual(ready().slice(0, 2), ['True', 'AllReady'])
})

test('a nudge that is said to be of the future, as by another clock, keeps it from none', async () => {
  await record('new', '11:59:50')
  await room.edit<KubernetesObject>('StatefulSet', 'mainnet-host', ({ metadata }) =>
    Object.assign(metadata?.annotations ?? {}, { 'viewmesh.io/nudged-at': '2026-01-01T12:00:10Z' }),
  )
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [nudge])
})

test('an Event of another pod, or of long ago, says nothing about a pod that is missing', async () => {
  await record('other', '11:59:50', note.replaceAll('mainnet-host-0', 'mainnet-host-1'))
  await record('former', '11:49:59')
  await room.reconcile(host)
  assert.notEqual(ready()[1], 'FailedCreate')
  assert.deepEqual(room.writes(), [])
})

test('without the right to list Events the advice is to look at them oneself', async () => {
  room.server.faults.add(({ path }, response) => {
    if (!path.endsWith('/events')) return false
    send(response, 403, status(403, 'Forbidden', 'User "op" cannot list resource "events"'))
    return true
  })
  await room.reconcile(host)
  assert.match(String(ready()[2]), /kubectl describe statefulset mainnet-host /)
})

test('of a paused Host the StatefulSet is not nudged', async () => {
  await record('new', '11:59:50')
  await room.put({ ...room.read('Host', 'mainnet'), ...{ spec: { ...host.spec, paused: true } } })
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
})
