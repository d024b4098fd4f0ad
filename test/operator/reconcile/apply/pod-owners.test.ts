import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyPodOwners } from '../../../../operator/reconcile/apply/pod-owners.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { podWith } from '../../support/operator-findings.ts'

const host = readHost('host-minimal')
const path = '/api/v1/namespaces/apps/pods/mainnet-host-0'
const pod = podWith(host, {})

const room = kubernetesRoom()

const run = () => ({ signal: new AbortController().signal, log: room.client.log.log })

test('an owner is written for that very pod, and taken back, and nothing else of it', async () => {
  const { api } = room.client
  const object = { apiVersion: 'v1', kind: 'Pod' }
  room.server.put(path, { ...object, metadata: { name: 'mainnet-host-0', uid: 'pod' } })
  await applyPodOwners({ api }, host, { own: [pod], release: [] }, run())
  await applyPodOwners({ api }, host, { own: [], release: [pod] }, run())
  const metadata = { name: 'mainnet-host-0', namespace: 'apps', uid: 'pod' }
  assert.deepEqual(
    room.server.requests.map(({ method, body }) => [method, body]),
    [
      ['PATCH', { ...object, metadata: { ...metadata, ownerReferences: [ownerReference(host)] } }],
      ['PATCH', { ...object, metadata: { ...metadata, ownerReferences: [] } }],
    ],
  )
})

test('a pod that cannot be given an owner holds up nothing else, and is logged', async () => {
  const { api, log } = room.client
  const other = { ...pod, name: 'mainnet-host-1' }
  room.server.faults.add(({ path: asked }, response) => {
    if (asked !== path) return false
    send(response, 403, status(403, 'Forbidden', 'a policy says no'))
    return true
  })
  await applyPodOwners({ api }, host, { own: [pod, other], release: [] }, run())
  assert.equal(room.server.requests.length, 2)
  assert.deepEqual(log.messages('warn'), ['owner of a pod not written'])
})
