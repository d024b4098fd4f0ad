import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewKind, workloadKinds } from '../../../operator/api/resource-kinds.ts'
import type { Resource } from '../../../operator/api.ts'
import { childNames, viewConfigName } from '../../../operator/resources/names/names.ts'
import { collectionPath, objectPath } from '../../../operator/runtime/client/resource-type.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, viewWith } from '../../support/resources/view-cases.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const view = viewWith('senders', { definition: plainDefinition }, namespace)
const room = reconcileRoom(namespace)

/** Deletes a resource, and has its watch fall behind. */
function deleteUnseen(resource: Resource): void {
  const type = resource.kind === 'View' ? viewKind : workloadKinds[resource.kind]
  room.server.freezeWatches(collectionPath(type))
  room.server.remove(objectPath({ type, namespace, name: resource.metadata.name }))
}

/** A reconcile of what is no longer there may fail, and is tried again. */
const reconcile = async (resource: Resource): Promise<unknown> =>
  await room.reconcile(resource).catch((error: unknown) => error)

test('objects collected of a deleted Host are not made again, though the deletion is seen late', async () => {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
  const { base, config } = childNames(host)
  deleteUnseen(host)
  await room.remove('StatefulSet', base)
  await room.remove('Pod', `${base}-0`)
  await room.remove('ConfigMap', config)
  room.writes()
  await reconcile(host)
  assert.deepEqual(room.writes(), [])
  assert.deepEqual(
    room.events.filter((text) => text.startsWith('DriftCorrected')),
    [],
  )
})

test('the objects of a Host that is still there are made again', async () => {
  await room.put(host)
  await room.reconcile(host)
  const { config } = childNames(host)
  await room.remove('ConfigMap', config)
  room.writes()
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [`PATCH configmaps ${config}`])
})

test('the ConfigMap of a deleted View is not made again, though its deletion is seen late', async () => {
  await room.put(view)
  await room.reconcile(view)
  deleteUnseen(view)
  await room.remove('ConfigMap', viewConfigName(view))
  room.writes()
  await reconcile(view)
  assert.deepEqual(room.writes(), [])
})
