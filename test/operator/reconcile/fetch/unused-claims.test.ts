import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { V1ManagedFieldsEntry } from '@kubernetes/client-node'
import { findUnused } from '../../../../operator/reconcile/fetch/unused-claims.ts'
import { keepClaim, type PlacedClaim } from '../../../../operator/reconcile/observe/claim.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { type ClaimMakers, fieldsOfClaim } from '../../support/claim-fields.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'

const host = readHost('host-minimal')
const room = kubernetesRoom()
const name = 'keys-mainnet-host-1'
const path = `/api/v1/namespaces/apps/persistentvolumeclaims/${name}`
const candidate: PlacedClaim = {
  volume: 'keys',
  ordinal: 1,
  claim: keepClaim({ metadata: { name, uid: 'claim' } }),
}

/** Puts the claim there, as it was made by these. */
function put(
  managedFields: readonly V1ManagedFieldsEntry[],
  spec: object = {},
  more: object = {},
): void {
  const metadata = { name, uid: 'claim', managedFields, ...more }
  const object = { kind: 'PersistentVolumeClaim', metadata, spec: { volumeName: 'pv-1', ...spec } }
  room.server.put(path, object as KubernetesObject)
}
const madeBy = (makers: ClaimMakers): V1ManagedFieldsEntry[] => fieldsOfClaim(makers)
const found = async (): Promise<string[]> => [
  ...(await findUnused(room.client.api, host, [candidate], AbortSignal.timeout(60_000))),
]
const controller = 'kube-controller-manager'
const ofSet = { made: controller, bound: controller }

beforeEach(() => put(madeBy(ofSet)))

test('a claim that the cluster’s controllers made and bound is unused, whatever they are called', async () => {
  assert.deepEqual(await found(), ['claim'])
  put(madeBy({ made: 'k3s', bound: 'k3s' }))
  assert.deepEqual(await found(), ['claim'])
})

test('what else was written into the status of a claim does not say who bound it', async () => {
  const fieldsV1 = { 'f:status': { 'f:conditions': {} } }
  const resizer = { manager: 'csi-resizer', operation: 'Update', subresource: 'status', fieldsV1 }
  put([resizer, ...madeBy(ofSet)])
  assert.deepEqual(await found(), ['claim'])
})

test('who applied a claim that was there did not make it, and only its status says who bound it', async () => {
  const applied = {
    manager: 'kubectl',
    operation: 'Apply',
    fieldsV1: { 'f:spec': { 'f:accessModes': {} }, 'f:status': { 'f:phase': {} } },
  }
  put([applied, ...madeBy(ofSet)])
  assert.deepEqual(await found(), ['claim'])
})

test('a claim that somebody else made, and chose the volume of, may have an identity', async () => {
  put(madeBy({ ...ofSet, made: 'kubectl-create' }))
  assert.deepEqual(await found(), [])
  put(madeBy({ ...ofSet, chosen: 'kubectl-create' }))
  assert.deepEqual(await found(), [])
  put([])
  assert.deepEqual(await found(), [])
})

test('a claim without a volume is unused, unless it is made from a copy', async () => {
  put([], { volumeName: undefined })
  assert.deepEqual(await found(), ['claim'])
  const dataSource = { kind: 'VolumeSnapshot', name: 'saved' }
  put([], { volumeName: undefined, dataSource })
  assert.deepEqual(await found(), [])
  put(madeBy(ofSet), { dataSourceRef: dataSource })
  assert.deepEqual(await found(), [])
})

test('a claim that was marked, deleted or replaced since it was seen is not unused', async () => {
  put(madeBy(ofSet), {}, { annotations: { 'viewmesh.io/keyring-fingerprint': 'abc' } })
  assert.deepEqual(await found(), [])
  put(madeBy(ofSet), {}, { deletionTimestamp: '2026-01-01T12:00:00Z' })
  assert.deepEqual(await found(), [])
  put(madeBy(ofSet), {}, { uid: 'another' })
  assert.deepEqual(await found(), [])
  room.server.remove(path)
  assert.deepEqual(await found(), [])
})
