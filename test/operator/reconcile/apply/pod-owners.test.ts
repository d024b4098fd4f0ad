import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyPodOwners } from '../../../../operator/reconcile/apply/pod-owners.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { hasCode } from '../../../../operator/runtime/client/api-error.ts'
import { createFence } from '../../../../operator/runtime/client/fence.ts'
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

test('of what is forbidden the last is returned, of what fails otherwise nothing', async () => {
  const { api } = room.client
  const answer = (asked: string, code: number, reason: string): void => {
    room.server.faults.add((request, response) => {
      if (request.path !== asked) return false
      send(response, code, status(code, reason, 'no'))
      return true
    })
  }
  const other = { ...pod, name: 'mainnet-host-1' }
  const own = async (): Promise<unknown> =>
    await applyPodOwners({ api }, host, { own: [pod, other], release: [] }, run())
  answer(path, 409, 'Conflict')
  assert.equal(await own(), null)
  assert.deepEqual(room.client.log.messages('warn'), [])
  room.server.faults.clear()
  answer(path, 403, 'Forbidden')
  answer(path.replace('-0', '-1'), 404, 'NotFound')
  assert.ok(hasCode(await own(), 'OPERATOR_API_FORBIDDEN'))
})

test('an operator that may write no more, or is to stop, tries no other pod', async () => {
  const { api } = room.client
  const changes = { own: [pod, { ...pod, name: 'mainnet-host-1' }], release: [] }
  const stop = new AbortController()
  stop.abort(new Error('stopped'))
  const stopped = { ...run(), signal: stop.signal }
  await assert.rejects(applyPodOwners({ api }, host, changes, stopped))
  const fenced = room.openClient({ guards: [createFence().guard] })
  await assert.rejects(applyPodOwners({ api: fenced.api }, host, changes, run()), {
    code: 'OPERATOR_FENCED',
  })
  assert.deepEqual(room.server.requests, [])
})
