import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Host } from '../../../../operator/api.ts'
import { followPolicies } from '../../../../operator/reconcile/apply/owner-references.ts'
import {
  areKeysBound,
  ownerChanges,
} from '../../../../operator/reconcile/evaluate/deletion-policy.ts'
import { keepClaim, type PlacedClaim } from '../../../../operator/reconcile/observe/claim.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { keyringSecret } from '../../../../operator/resources/secrets/keyring-secret.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { boundClaims } from '../../support/operator-findings.ts'

const host = readHost('host-minimal')
const { identity, storage } = host.spec
const deleting: Host = {
  ...host,
  spec: {
    ...host.spec,
    identity: { ...identity, deletionPolicy: 'Delete' },
    storage: { ...storage, data: { ...storage.data, deletionPolicy: 'Delete' } },
  },
}

const folder = '/api/v1/namespaces/apps'
const { signal } = new AbortController()
const [own] = [ownerReference(host)]
const former = { ...own, uid: 'former' }

const claims = boundClaims(host)
const withOwners = (owners: PlacedClaim['claim']['owners']): PlacedClaim[] =>
  claims.map((placed) => ({ ...placed, claim: { ...placed.claim, owners } }))
const namesOf = (found: readonly PlacedClaim[]): string[] => found.map(({ claim }) => claim.name)

const room = kubernetesRoom()

test('what goes with a resource and should not, or the other way round, is found', () => {
  const unowned = { exists: true, isOwned: false }
  const owned = { exists: true, isOwned: true }
  const of = (resource: Host, keyring: typeof owned, owners: PlacedClaim['claim']['owners']) => {
    const found = ownerChanges(resource, { keyring, claims: withOwners(owners) })
    return [found.keyring, namesOf(found.claims)]
  }
  const all = ['keys-mainnet-host-0', 'data-mainnet-host-0']
  assert.deepEqual(of(deleting, unowned, []), [true, all])
  assert.deepEqual(of(deleting, owned, [own]), [false, []])
  assert.deepEqual(of(host, owned, [own]), [true, all])
  assert.deepEqual(of(host, unowned, []), [false, []])
  assert.deepEqual(of(deleting, unowned, [former]), [true, []], 'those of a deleted one are left')
  const mine = { ...identity, secretRef: { name: 'mine' }, deletionPolicy: 'Delete' } as const
  const ofPerson: Host = { ...deleting, spec: { ...deleting.spec, identity: mine } }
  assert.deepEqual(of(ofPerson, unowned, [own]), [false, []], 'their Secret stays theirs')
})

test('keys are bound to the resource until nothing of them goes with it any more', () => {
  const keyring = { exists: true, isOwned: false }
  assert.equal(areKeysBound(deleting, { keyring, claims: [] }), true)
  assert.equal(areKeysBound(host, { keyring: { ...keyring, isOwned: true }, claims: [] }), true)
  assert.equal(areKeysBound(host, { keyring, claims: withOwners([own]) }), true)
  const data = withOwners([own]).filter(({ volume }) => volume === 'data')
  assert.equal(areKeysBound(host, { keyring, claims: data }), false)
  assert.equal(areKeysBound(host, { keyring, claims }), false)
})

test('owners alone are written: wrong marks, labels and sizes of a claim stay as they are', async () => {
  const name = 'keys-mainnet-host-0'
  const metadata = {
    name,
    namespace: 'apps',
    uid: 'keys',
    labels: { 'viewmesh.io/holds': 'data', team: 'chain' },
    annotations: { 'viewmesh.io/network': 'Other__Chain' },
    ownerReferences: [own],
  }
  const live: V1PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: { resources: { requests: { storage: '1Mi' } } },
  }
  room.server.put(`${folder}/persistentvolumeclaims/${name}`, live as never)
  const secret = { ...keyringSecret(deleting, new Map([[0, 'key']])) }
  const put = room.server.put(`${folder}/secrets/mainnet-host-keyring`, secret as never)

  const placed: PlacedClaim = { volume: 'keys', ordinal: 0, claim: keepClaim(live) }
  await followPolicies(room.client.api, host, { keyring: true, claims: [placed] }, signal)
  const [ofSecret, ofClaim] = room.server.requests.filter(({ method }) => method === 'PATCH')
  assert.deepEqual(ofSecret?.body, [
    { op: 'test', path: '/metadata/resourceVersion', value: put.metadata?.resourceVersion },
    { op: 'add', path: '/metadata/ownerReferences', value: [] },
  ])
  assert.deepEqual(ofClaim?.body, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: 'apps',
      uid: 'keys',
      labels: { 'viewmesh.io/holds': 'data' },
      annotations: { 'viewmesh.io/network': 'Other__Chain' },
    },
    spec: { resources: { requests: { storage: '1Mi' } } },
  })
  const before = room.server.requests.length
  await followPolicies(room.client.api, host, { keyring: false, claims: [] }, signal)
  assert.equal(room.server.requests.length, before)
})

test('a keyring that is to go with the resource is owned by it beside others, once', async () => {
  const path = `${folder}/secrets/mainnet-host-keyring`
  const other = { ...own, kind: 'Host', name: 'another', uid: 'another' }
  const { metadata, ...secret } = keyringSecret(deleting, new Map([[0, 'key']]))
  const follow = async (): Promise<unknown> => {
    await followPolicies(room.client.api, deleting, { keyring: true, claims: [] }, signal)
    return Reflect.get(room.server.get(path)?.metadata ?? {}, 'ownerReferences')
  }
  assert.equal(await follow(), undefined, 'there is no keyring')
  room.server.put(path, { ...secret, metadata: { ...metadata, ownerReferences: [other] } } as never)
  for (const _ of [1, 2]) assert.deepEqual(await follow(), [other, own])
})
