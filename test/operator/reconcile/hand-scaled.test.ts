import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Secret, V1StatefulSet } from '@kubernetes/client-node'
import type { Host } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { fieldsOfClaim } from '../support/claim-fields.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const minimal = readHost('host-minimal')
const host: Host = {
  ...minimal,
  metadata: { ...minimal.metadata, creationTimestamp: '2026-01-01T11:00:00Z' },
}
const room = reconcileRoom(host.metadata.namespace)
const claim = 'keys-mainnet-host-1'
const controller = 'kube-controller-manager'

type LiveSet = V1StatefulSet & KubernetesObject
type LiveSecret = V1Secret & KubernetesObject

/** A Host of one replica whose StatefulSet somebody had at two for a moment, and which wants two now. */
async function scaledByHand(made: string, at = '2026-01-01T11:30:00Z'): Promise<void> {
  await room.put(host)
  await room.reconcile(host)
  await room.edit('Secret', 'mainnet-host-keyring', ({ metadata }) =>
    Object.assign(metadata ?? {}, { creationTimestamp: '2026-01-01T11:00:01Z' }),
  )
  await room.edit<LiveSet>('StatefulSet', 'mainnet-host', ({ spec }) =>
    Object.assign(spec ?? {}, { replicas: 2 }),
  )
  await room.start(host)
  await room.edit('PersistentVolumeClaim', claim, (object) => {
    const managedFields = fieldsOfClaim({ made, bound: controller })
    Object.assign(object.metadata ?? {}, { creationTimestamp: at, managedFields })
    Object.assign(Reflect.get(object, 'spec'), { volumeName: 'pv-1' })
  })
  room.pass(60_000)
  await room.reconcile(host)
  assert.equal(replicas(), 1)
  await room.edit<Host>('Host', 'mainnet', ({ spec, metadata }) => {
    Object.assign(spec, { replicas: 2 })
    Object.assign(metadata, { generation: 2 })
  })
  room.writes()
}
const keys = (): string[] =>
  Object.keys(room.read<LiveSecret>('Secret', 'mainnet-host-keyring').data ?? {})
const replicas = (): number | undefined =>
  room.read<LiveSet>('StatefulSet', 'mainnet-host').spec?.replicas

test('a claim that a StatefulSet scaled by hand made becomes that of a new replica', async () => {
  await scaledByHand(controller)
  const { uid } = room.read<KubernetesObject>('PersistentVolumeClaim', claim).metadata ?? {}
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled'), undefined)
  assert.deepEqual(keys(), ['0', '1'])
  await room.reconcile(host)
  const { metadata } = room.read<KubernetesObject>('PersistentVolumeClaim', claim)
  assert.equal(metadata?.uid, uid)
  const { nodes = [] } = room.read<Host>('Host', 'mainnet').status ?? {}
  assert.equal(
    nodes[1]?.keyringFingerprint,
    metadata?.annotations?.['viewmesh.io/keyring-fingerprint'],
  )
  assert.match(nodes[1]?.keyringFingerprint ?? '', /^[0-9a-f]{16}$/)
  assert.equal(replicas(), 2)
})

for (const [what, made, at] of [
  ['that somebody restored', 'velero', undefined],
  ['older than the keyring Secret', controller, '2026-01-01T10:30:00Z'],
] as const) {
  test(`a claim ${what} is not taken, and it is enough to delete it`, async () => {
    await scaledByHand(made, at)
    await room.reconcile(host)
    const { reason, message = '' } = room.condition(host, 'Stalled') ?? {}
    assert.equal(reason, 'KeyringMissing')
    assert.ok(message.includes('; to begin with a new identity, delete this claim; or'), message)
    assert.deepEqual([keys(), replicas()], [['0'], 1])

    await room.remove('PersistentVolumeClaim', claim)
    await room.reconcile(host)
    assert.equal(room.condition(host, 'Stalled'), undefined)
    assert.deepEqual([keys(), replicas()], [['0', '1'], 2])
  })
}
