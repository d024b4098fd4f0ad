import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { observeState } from '../../../../operator/reconcile/evaluate/observed-state.ts'
import { expectNoTerminatingClaims } from '../../../../operator/reconcile/evaluate/terminating-claims.ts'
import { readKeyring } from '../../../../operator/reconcile/fetch/keyring.ts'
import type { PlacedClaim } from '../../../../operator/reconcile/observe/claim.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { statefulSet } from '../../../../operator/resources/objects/stateful-set.ts'
import { keyringSecret } from '../../../../operator/resources/secrets/keyring-secret.ts'
import type {
  KubernetesObject,
  Metadata,
} from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { boundClaims, podWith } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const before: Host = { ...host, metadata: { ...host.metadata, uid: 'former' } }
const known: Host = { ...host, status: { nodes: [{ ordinal: 0, keyringFingerprint: 'abc' }] } }
const own = ownerReference(host)
const former = ownerReference(before)
const leaving = { code: 'OPERATOR_TERMINATING' }
const { signal } = new AbortController()
const path = '/api/v1/namespaces/apps/secrets/mainnet-host-keyring'

const room = kubernetesRoom()

/** Whether the keyring Secret counts that has this in its metadata. */
async function reads(of: Host, metadata: object): Promise<boolean> {
  const secret = keyringSecret(host, new Map([[0, 'key']]))
  const live = { ...secret, metadata: { ...secret.metadata, ...metadata } }
  room.server.put(path, live as unknown as KubernetesObject)
  return (await readKeyring(room.client.api, of, new Map(), signal)).exists
}

test('the keyring of a deleted resource of the same name is waited for until it is gone', async () => {
  await assert.rejects(reads(host, { ownerReferences: [former] }), {
    ...leaving,
    message: 'Secret mainnet-host-keyring of a deleted resource is still there',
  })
  assert.equal(await reads(host, { ownerReferences: [former, own] }), true)
  assert.equal(await reads(host, { ownerReferences: [{ ...former, kind: 'Generator' }] }), true)
  assert.equal(await reads(host, {}), true)
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  await assert.rejects(reads(host, going), leaving)
  assert.equal(
    await reads(known, going),
    true,
    'what is lost of its own is reported when it is gone',
  )
})

const claimsWith = (more: Partial<PlacedClaim['claim']>, only?: string): PlacedClaim[] =>
  boundClaims(host).map((placed) => ({
    ...placed,
    claim: { ...placed.claim, ...(only === undefined || only === placed.volume ? more : {}) },
  }))
const expectStay = (of: Host, claims: readonly PlacedClaim[], pods = new Map()): void =>
  expectNoTerminatingClaims(of, { claims, pods })

test('claims of a deleted resource of the same name are waited for until they are gone', () => {
  assert.throws(() => expectStay(host, claimsWith({ owners: [former] })), {
    ...leaving,
    message: 'PersistentVolumeClaim keys-mainnet-host-0 of a deleted resource is still there',
  })
  assert.throws(() => expectStay(host, claimsWith({ owners: [former] }, 'data')), leaving)
  assert.throws(() => expectStay(known, claimsWith({ owners: [former] })), leaving)
  expectStay(host, claimsWith({ owners: [own] }))
  expectStay(host, claimsWith({}))
})

test('a terminating keys claim is waited for where no identity was known, and lost where one was', () => {
  assert.throws(() => expectStay(host, claimsWith({ isTerminating: true }, 'keys')), leaving)
  expectStay(known, claimsWith({ isTerminating: true }, 'keys'))
  expectStay(host, claimsWith({ isTerminating: true }, 'data'))
})

test('a pod that outlives its resource and holds such a claim is named, with how it goes', () => {
  const pod = podWith(host, { ready: true })
  const remedyOf = (isTerminating: boolean): unknown => {
    try {
      expectStay(host, claimsWith({ owners: [former] }), new Map([[0, { ...pod, isTerminating }]]))
    } catch (error) {
      return Reflect.get(error as object, 'remedy')
    }
    return null
  }
  assert.equal(
    remedyOf(false),
    'Pod mainnet-host-0 of the deleted resource holds it: where that pod does not go by itself, run `kubectl delete pod mainnet-host-0 --namespace apps`.',
  )
  assert.equal(remedyOf(true), 'Nothing: Kubernetes deletes it.')
})

test('the StatefulSet of a deleted resource of the same name is none of the new one’s', () => {
  const setOf = (of: Host): unknown => {
    const set = statefulSet(of, { inputs: '', template: {} }, {})
    const view = viewOf([{ ...set, metadata: set.metadata as Metadata } as KubernetesObject])
    const observer = { view: () => undefined, watch: () => undefined } as never
    const state = observeState({ view, observer, now: () => new Date(0) }, host)
    return [state.set?.metadata?.name, state.counts?.wantedReplicas]
  }
  assert.deepEqual(setOf(host), ['mainnet-host', 1])
  assert.deepEqual(setOf(before), [undefined, undefined])
})
