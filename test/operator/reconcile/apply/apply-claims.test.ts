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
import type { Volume } from '../../../../operator/resources/names/names.ts'
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
