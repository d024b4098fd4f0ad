import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1ConfigMap } from '@kubernetes/client-node'
import { viewKind, workloadKinds } from '../../../operator/api/resource-kinds.ts'
import type { Resource, ViewResource } from '../../../operator/api.ts'
import { childNames, viewConfigName } from '../../../operator/resources/names/names.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { collectionPath, objectPath } from '../../../operator/runtime/client/resource-type.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { plainDefinition, registration, viewWith } from '../../support/resources/view-cases.ts'
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

for (const written of ['configmaps/senders-view', 'views/senders/status', 'jobs']) {
  test(`a View replaced while ${written} is written leaves nothing to its namesake`, async () => {
    const first = viewWith('senders', { definition: plainDefinition, registration }, namespace)
    const sdl = 'type Other { address: String }'
    const second = viewWith('senders', { definition: { ...plainDefinition, sdl } }, namespace)
    Object.assign(second.metadata, { uid: 'uid-of-another' })
    let isReplaced = false
    room.server.faults.add(({ method, path }) => {
      if (method === 'GET' || isReplaced || !path.endsWith(written)) return false
      isReplaced = true
      const address = { type: viewKind, namespace, name: 'senders' }
      room.server.remove(objectPath(address))
      room.server.put(objectPath(address), second as KubernetesObject)
      return false
    })
    await room.put(first)
    await reconcile(first)
    assert.ok(isReplaced)
    await room.put(second)
    await reconcile(second)
    // What Kubernetes collects, once it has seen that the owner is gone.
    const map = room.read<V1ConfigMap & KubernetesObject>('ConfigMap', 'senders-view')
    const [owner] = map.metadata?.ownerReferences ?? []
    if (owner?.uid !== 'uid-of-another') await room.remove('ConfigMap', 'senders-view')
    await room.reconcile(second)
    await room.reconcile(second)
    const { status } = room.read<ViewResource & KubernetesObject>('View', 'senders')
    const after = room.read<V1ConfigMap & KubernetesObject>('ConfigMap', 'senders-view')
    assert.equal(status?.type, 'Other')
    assert.equal(status?.registration, undefined)
    assert.deepEqual(Object.keys(after.binaryData ?? {}), [`${status?.viewID}.view`])
    assert.deepEqual(
      after.metadata?.ownerReferences?.map(({ uid }) => uid),
      ['uid-of-another'],
    )
  })
}
