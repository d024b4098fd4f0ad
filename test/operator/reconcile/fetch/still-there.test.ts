import assert from 'node:assert/strict'
import { test } from 'node:test'
import { workloadKinds } from '../../../../operator/api/resource-kinds.ts'
import { isStillThere } from '../../../../operator/reconcile/fetch/still-there.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { objectPath } from '../../../../operator/runtime/client/resource-type.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'

const host = readHost('host-minimal')
const type = workloadKinds.Host
const room = kubernetesRoom()

/** Whether the Host is there, where this is at the API server in its place. */
async function isThere(metadata: object | null): Promise<boolean> {
  const path = objectPath({ type, ...host.metadata })
  room.server.remove(path)
  const object = { ...host, metadata: { ...host.metadata, ...metadata } } as KubernetesObject
  if (metadata !== null) room.server.put(path, object)
  const { signal } = new AbortController()
  return await isStillThere({ api: room.client.api, type }, host, signal)
}

test('a resource is there until it is deleted, or another one has its name', async () => {
  assert.equal(await isThere({}), true)
  assert.equal(await isThere({ uid: 'another' }), false)
  assert.equal(await isThere({ deletionTimestamp: '2026-01-01T12:00:00Z' }), false)
  assert.equal(await isThere(null), false)
})
