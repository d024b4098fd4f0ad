/** A Host whose keys are lost with their claim, while its pods still run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)

test('its StatefulSet goes before it can make an empty claim, and its pods stay with the Host', async () => {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
  await room.remove('PersistentVolumeClaim', 'keys-mainnet-host-0')
  room.writes()
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled')?.reason, 'KeysClaimMissing')
  assert.deepEqual(room.writes(), [
    'PATCH configmaps mainnet-host-config',
    'DELETE statefulsets mainnet-host',
    'PATCH pods mainnet-host-0',
  ])
  const [owner] =
    room.read<V1Pod & KubernetesObject>('Pod', 'mainnet-host-0').metadata?.ownerReferences ?? []
  assert.equal(owner?.kind, 'Host')
  assert.deepEqual(
    room.events.filter((text) => text.startsWith('StatefulSetRemoved ')),
    [
      'StatefulSetRemoved StatefulSet mainnet-host was removed without its pods, which go on running.',
    ],
  )
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [], 'nothing more is done until the claim is back')
})
