import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import { noAnswers } from '../../../../operator/reconcile/apply/answers.ts'
import { applyClaims, claimChanges } from '../../../../operator/reconcile/apply/apply-claims.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import { planIdentity } from '../../../../operator/reconcile/evaluate/identity.ts'
import { identitiesOf } from '../../../../operator/reconcile/evaluate/observed-state.ts'
import { findUnwatchedClaims } from '../../../../operator/reconcile/fetch/unwatched-claims.ts'
import type { PlacedClaim, ReplicaIdentity } from '../../../../operator/reconcile/observe/claim.ts'
import { statefulSet } from '../../../../operator/resources/objects/stateful-set.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { emptyState, podWith } from '../../support/operator-findings.ts'

const host = readHost('host-minimal')
const claims = '/api/v1/namespaces/apps/persistentvolumeclaims'
const known = { fingerprint: 'abc', claimUID: 'claim' }

const lost: ReplicaIdentity = { ordinal: 0, key: 'abc', claim: null, known }

const fresh: ReplicaIdentity = { ...lost, key: null, known: null }

const begun: ReplicaIdentity = { ...fresh, key: 'abc' }

const running = { ...podWith(host, { ready: true }), ip: '10.0.0.7' }

const set = statefulSet(host, { inputs: '', template: {} }, {})
const { signal } = new AbortController()

const room = kubernetesRoom()

/** Puts a claim there that has lost its labels. */
function putClaim(volume: string, annotations: Record<string, string> = {}): void {
  const metadata = { name: `${volume}-mainnet-host-0`, uid: 'claim', annotations }
  room.server.put(`${claims}/${volume}-mainnet-host-0`, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: { resources: { requests: { storage: '1Gi' } } },
  } as KubernetesObject)
}

const find = async (
  replica: ReplicaIdentity,
  seen: Partial<typeof emptyState> = { set },
): Promise<PlacedClaim[]> =>
  await findUnwatchedClaims(
    room.client.api,
    host,
    { seen: { ...emptyState, ...seen }, replicas: [replica] },
    signal,
  )
const namesOf = (found: readonly PlacedClaim[]): string[] => found.map(({ claim }) => claim.name)

test('a keys claim that lost its labels is found by its name and gets them back', async () => {
  putClaim('keys', { 'viewmesh.io/keyring-fingerprint': 'abc' })
  assert.equal(planIdentity(host, [lost], true).problem?.reason, 'KeysClaimMissing')
  const found = await find(lost)
  const keyring = { fingerprints: new Map([[0, 'abc']]) }
  const nodes = [{ ordinal: 0, keyringFingerprint: 'abc', keysClaimUID: 'claim' }]
  const remembered = { ...host, status: { nodes } }
  const replicas = identitiesOf(remembered, { allClaims: found }, keyring)
  assert.equal(planIdentity(host, replicas, true).problem, null)

  const answers = noAnswers()
  const marks = { ...keyring, start: null }
  const changes = () => claimChanges(host, found, { marks, answers }, () => true)
  const parts = { api: room.client.api } as ReconcileParts<Host>
  await applyClaims(parts, host, { changes, claims: found, answers }, signal)
  const live = room.server.get(`${claims}/keys-mainnet-host-0`) as KubernetesObject
  assert.deepEqual(live.metadata?.labels, {
    'app.kubernetes.io/name': 'host',
    'app.kubernetes.io/instance': 'mainnet',
    'viewmesh.io/holds': 'keys',
  })
})

test('a claim with an identity is found before another key is made, also by a new resource', async () => {
  putClaim('keys', { 'viewmesh.io/keyring-fingerprint': 'abc' })
  assert.deepEqual(namesOf(await find(fresh)), ['keys-mainnet-host-0'])
  assert.deepEqual(namesOf(await find(begun, { set: null })), ['keys-mainnet-host-0'])
})

test('a claim of that name that was never ours, made by a user for instance, is no identity', async () => {
  putClaim('keys')
  assert.deepEqual(await find(fresh), [])
  assert.deepEqual(await find(begun, { set: null }), [])
})

test('the claims of a running pod are found, whatever was edited of them', async () => {
  putClaim('keys')
  putClaim('data')
  const pods = new Map([[0, running]])
  assert.deepEqual(namesOf(await find(begun, { set, pods })), [
    'keys-mainnet-host-0',
    'data-mainnet-host-0',
  ])
})

test('the claim of a replica that is remembered is found also without its mark', async () => {
  putClaim('keys')
  assert.deepEqual(namesOf(await find(lost)), ['keys-mainnet-host-0'])
})

test('claims that are watched of another replica or volume stand for none of this one', async () => {
  putClaim('keys')
  const [{ claim } = assert.fail()] = await find(lost)
  const allClaims: PlacedClaim[] = [
    { volume: 'data', ordinal: 0, claim },
    { volume: 'keys', ordinal: 1, claim },
  ]
  assert.deepEqual(namesOf(await find(lost, { set, allClaims })), ['keys-mainnet-host-0'])
})

test('a claim that is gone is gone', async () => {
  assert.deepEqual(await find(lost), [])
})

test('claims that are watched, or that a new StatefulSet is about to create, are not fetched', async () => {
  putClaim('keys', { 'viewmesh.io/keyring-fingerprint': 'abc' })
  const allClaims = await find(lost)
  const before = room.server.requests.length
  assert.deepEqual(await find(lost, { set, allClaims }), [])
  assert.deepEqual(await find(begun), [])
  assert.equal(room.server.requests.length, before)
})

test('without the right to ask nothing follows from the absence of a claim', async () => {
  const refuse: Parameters<typeof room.server.faults.add>[0] = ({ path }, response) => {
    if (!path.startsWith(claims)) return false
    send(response, 403, status(403, 'Forbidden', 'cannot get'))
    return true
  }
  room.server.faults.add(refuse)
  await assert.rejects(find(lost), { code: 'OPERATOR_API_FORBIDDEN' })
})
