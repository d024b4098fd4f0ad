import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { noAnswers } from '../../../../operator/reconcile/apply/answers.ts'
import {
  applyClaims,
  type ClaimChange,
  claimChanges,
  type MayGrow,
} from '../../../../operator/reconcile/apply/apply-claims.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import type { StorageStatement } from '../../../../operator/reconcile/evaluate/storage.ts'
import {
  type KeptClaim,
  keepClaim,
  type PlacedClaim,
} from '../../../../operator/reconcile/observe/claim.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import type { Volume } from '../../../../operator/resources/names/names.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { type Fault, send, status } from '../../support/kubernetes-server.ts'

const minimal = readHost('host-minimal')
const { storage } = minimal.spec
const larger = {
  ...minimal,
  spec: {
    ...minimal.spec,
    storage: {
      ...storage,
      keys: { ...storage.keys, size: '2Gi' },
      data: { ...storage.data, size: '200Gi' },
    },
  },
}
const classes = '/apis/storage.k8s.io/v1/storageclasses'
const claims = '/api/v1/namespaces/apps/persistentvolumeclaims'
const placed = (volume: Volume, requested: string, storageClassName: string): PlacedClaim => {
  const kept = keepClaim({ metadata: { name: `${volume}-mainnet-host-0`, uid: volume } })
  const claim: KeptClaim = { ...kept, requested, storageClassName }
  return { volume, ordinal: 0, claim }
}

const room = kubernetesRoom()

const marks = { fingerprints: new Map<number, string>(), start: null }
const facts = { marks, answers: noAnswers() }

/** Applies these changes, by default all that the larger Host wants of these claims. */
async function apply(
  found: readonly PlacedClaim[],
  changes: (mayGrow: MayGrow) => ClaimChange[] = (mayGrow) =>
    claimChanges(larger, found, facts, mayGrow),
): Promise<StorageStatement | null> {
  const parts = { api: room.client.api } as ReconcileParts<Host>
  const writes = { changes, claims: found, answers: facts.answers }
  return await applyClaims(parts, larger, writes, new AbortController().signal)
}

beforeEach(() => {
  const kind = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' }
  room.server.put(`${classes}/fixed`, { ...kind, metadata: { name: 'fixed' } })
  const growing = { ...kind, metadata: { name: 'growing' }, allowVolumeExpansion: true }
  room.server.put(`${classes}/growing`, growing)
})

test('a class that lets no volume grow holds back its own claims only, and says what they have', async () => {
  const found = [placed('keys', '1Gi', 'fixed'), placed('data', '100Gi', 'growing')]
  const refused = await apply(found)
  assert.deepEqual(refused, {
    reason: 'ExpansionUnsupported',
    message:
      'StorageClass fixed does not allow larger volumes (keys-mainnet-host-0 with 1Gi): put the old size back, or set allowVolumeExpansion in the class if its storage can do it.',
  })
  const sizeOf = (name: string): unknown => {
    const claim = room.server.get(`${claims}/${name}`) as
      | { spec?: { resources?: unknown } }
      | undefined
    return claim?.spec?.resources
  }
  assert.deepEqual(sizeOf('data-mainnet-host-0'), { requests: { storage: '200Gi' } })
  assert.deepEqual(sizeOf('keys-mainnet-host-0'), { requests: { storage: '1Gi' } })
})

test('of many claims that may not grow a few are named, and how many more there are', async () => {
  const found = Array.from({ length: 6 }, (_, ordinal): PlacedClaim => {
    const { claim, ...one } = placed('keys', '1Gi', 'fixed')
    return { ...one, ordinal, claim: { ...claim, name: `keys-mainnet-host-${ordinal}` } }
  })
  const refused = await apply(found, () => [])
  const names = [0, 1, 2, 3].map((ordinal) => `keys-mainnet-host-${ordinal} with 1Gi`)
  assert.equal(
    refused?.message,
    `StorageClass fixed does not allow larger volumes (${names.join(', ')} and 2 more): put the old size back, or set allowVolumeExpansion in the class if its storage can do it.`,
  )
})

/** What is wanted of claims by the Host as it is, or with these marks, where all may grow. */
const wantedOf = (
  found: readonly PlacedClaim[],
  given: { readonly fingerprints?: Map<number, string>; readonly start?: string } = {},
  of: Host = minimal,
): readonly unknown[] =>
  claimChanges(of, found, { ...facts, marks: { ...marks, ...given } }, () => true).map(
    ({ placed: { volume }, object }) => {
      const { metadata, spec } = object as KubernetesObject & {
        spec: { resources: { requests: { storage: string } } }
      }
      const annotations = Object.entries(metadata?.annotations ?? {})
      const own = annotations.filter(([name]) => name !== 'viewmesh.io/network')
      return [volume, spec.resources.requests.storage, ...own.map((each) => each.join('='))]
    },
  )

test('each claim is marked with what it holds: the key of its replica, or where its blocks begin', () => {
  const found = [placed('keys', '1Gi', 'fast'), placed('data', '100Gi', 'fast')]
  assert.deepEqual(wantedOf(found, { fingerprints: new Map([[0, 'abc']]), start: '7' }), [
    ['keys', '1Gi', 'viewmesh.io/keyring-fingerprint=abc'],
    ['data', '100Gi', 'viewmesh.io/start=7'],
  ])
  const begun = found.map(({ claim, ...one }) => ({
    ...one,
    claim: { ...claim, annotations: { 'viewmesh.io/start': '3' } },
  }))
  assert.deepEqual(wantedOf(begun.slice(1), { start: '7' }), [
    ['data', '100Gi', 'viewmesh.io/start=3'],
  ])
})

test('the claim of a removed replica keeps its mark and its size', () => {
  const { claim, ...one } = placed('keys', '1Gi', 'fast')
  const annotations = { 'viewmesh.io/keyring-fingerprint': 'former' }
  const removed = { ...one, ordinal: 1, claim: { ...claim, annotations } }
  const fingerprints = new Map([[1, 'abc']])
  assert.deepEqual(wantedOf([removed], { fingerprints }, larger), [
    ['keys', '1Gi', 'viewmesh.io/keyring-fingerprint=former'],
  ])
  const { spec } = larger
  assert.deepEqual(
    wantedOf([removed], { fingerprints }, { ...larger, spec: { ...spec, replicas: 2 } }),
    [['keys', '2Gi', 'viewmesh.io/keyring-fingerprint=abc']],
  )
})

test('a claim that is as wanted is not written, nor one that is about to go', () => {
  const [change] = claimChanges(minimal, [placed('data', '100Gi', 'fast')], facts, () => true)
  const made = keepClaim((change?.object ?? {}) as never)
  const claim = { ...made, uid: 'data', storageClassName: 'fast' }
  const kept: PlacedClaim = { volume: 'data', ordinal: 0, claim }
  assert.deepEqual(wantedOf([kept]), [])
  const owned = [ownerReference(minimal)]
  assert.equal(wantedOf([{ ...kept, claim: { ...claim, owners: owned } }]).length, 1)
  const going = placed('data', '100Gi', 'fast')
  assert.deepEqual(wantedOf([{ ...going, claim: { ...going.claim, isTerminating: true } }]), [])
})

test('a volume without a class does not grow, and one of a class that nobody may read is tried', async () => {
  const bare = async (): Promise<string> =>
    (await apply([placed('keys', '1Gi', '')], () => []))?.message ?? ''
  const isRefused =
    /^a volume without a StorageClass does not allow larger volumes \(keys-mainnet-host-0 with 1Gi\):/
  assert.match(await bare(), isRefused)
  const unknown = await apply([placed('keys', '1Gi', 'unknown')], () => [])
  assert.match(unknown?.message ?? '', /^StorageClass unknown does not allow/)
  room.server.faults.add(({ path }, response) => {
    if (!path.startsWith(classes)) return false
    send(response, 403, status(403, 'Forbidden', 'no'))
    return true
  })
  assert.equal(await apply([placed('keys', '1Gi', 'fixed')]), null)
  assert.match(await bare(), isRefused)
  room.server.faults.clear()
  room.server.faults.add((_, response) => {
    send(response, 500, status(500, 'InternalError', 'no'))
    return true
  })
  const unread = apply([placed('keys', '1Gi', 'growing')], () => [])
  await assert.rejects(unread, { code: 'OPERATOR_API_FAILED' })
})

test('what the API server fails at otherwise is thrown, also of a claim that grows', async () => {
  const failAt =
    (code: number, reason: string): Fault =>
    ({ path, method }, response) => {
      if (method !== 'PATCH' || !path.includes('keys-')) return false
      send(response, code, status(code, reason, 'it failed'))
      return true
    }
  room.server.faults.add(failAt(404, 'NotFound'))
  await assert.rejects(apply([placed('keys', '1Gi', 'growing')]), /it failed/)
  room.server.faults.clear()
  room.server.faults.add(failAt(403, 'Forbidden'))
  await assert.rejects(apply([placed('keys', '2Gi', 'growing')]), /it failed/)
})

test('a refused claim is reported with the way back, and holds up no other', async () => {
  const found = [placed('keys', '1Gi', 'growing'), placed('data', '100Gi', 'growing')]
  const refuse: Fault = ({ path, method }, response) => {
    if (method !== 'PATCH' || !path.includes('keys-')) return false
    send(response, 403, status(403, 'Forbidden', 'the class must support resize'))
    return true
  }
  room.server.faults.add(refuse)
  const refused = await apply(found)
  assert.equal(
    refused?.message,
    'apply persistentvolumeclaims apps/keys-mainnet-host-0: 403 the class must support resize (keys-mainnet-host-0 with 1Gi): put the old size back, or set allowVolumeExpansion in the class if its storage can do it.',
  )
  assert.ok(room.server.get(`${claims}/data-mainnet-host-0`))
})
