/** Which pod is recreated for a file system to grow, and when none is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import { pino } from 'pino'
import type { Host } from '../../../../operator/api.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import { restartToResize } from '../../../../operator/reconcile/apply/restart-pod.ts'
import {
  podToRestart,
  type RestartFacts,
} from '../../../../operator/reconcile/evaluate/resize-restart.ts'
import { storageStatement } from '../../../../operator/reconcile/evaluate/storage.ts'
import { keepClaim, type PlacedClaim } from '../../../../operator/reconcile/observe/claim.ts'
import { type KeptPod, keepPod } from '../../../../operator/reconcile/observe/pod.ts'
import { problemOf } from '../../../../operator/reconcile/statements/problem.ts'
import { claimName, podName, type Volume } from '../../../../operator/resources/names/names.ts'
import type { Occurrence } from '../../../../operator/runtime/event-recorder.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { type Fault, send, status } from '../../support/kubernetes-server.ts'
import { emptyState, readyCounts } from '../../support/operator-findings.ts'

const minimal = readHost('host-minimal')
const host: Host = {
  ...minimal,
  spec: {
    ...minimal.spec,
    replicas: 2,
    storage: { ...minimal.spec.storage, restartToResize: true },
  },
}

const [older, resized, newer] = [
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:01Z',
  '2026-01-01T00:00:02Z',
]

const podAt = (ordinal: number, creationTimestamp: string = older, isReady = true): KeptPod => {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }]
  const metadata = { name: podName(host, ordinal), uid: `pod-${ordinal}`, creationTimestamp }
  return keepPod({ metadata, status: { conditions } } as unknown as V1Pod)
}

const claimAt = (
  volume: Volume,
  ordinal: number,
  {
    waits = false,
    isTerminating = false,
  }: { readonly waits?: boolean; readonly isTerminating?: boolean } = {},
): PlacedClaim => {
  const pending = { type: 'FileSystemResizePending', status: 'True', lastTransitionTime: resized }
  const { size } = host.spec.storage[volume]
  const claim = {
    metadata: {
      name: claimName(host, volume, ordinal),
      uid: `${volume}-${ordinal}`,
      ...(isTerminating ? { deletionTimestamp: resized } : {}),
    },
    spec: { resources: { requests: { storage: size } } },
    status: {
      phase: 'Bound',
      capacity: { storage: waits ? '1Mi' : size },
      conditions: waits ? [pending] : [],
    },
  }
  return { volume, ordinal, claim: keepClaim(claim as unknown as V1PersistentVolumeClaim) }
}

const waits = { waits: true }

const facts: RestartFacts = {
  ...emptyState,
  set: {},
  counts: { ...readyCounts, wantedReplicas: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 2 },
  claims: [0, 1].flatMap((ordinal) => [
    claimAt('keys', ordinal),
    claimAt('data', ordinal, { waits: ordinal === 0 }),
  ]),
  pods: new Map([0, 1].map((ordinal) => [ordinal, podAt(ordinal)])),
}

/** The pod and the claims it is for; null for none. */
const chosen = (given: Partial<RestartFacts> = {}, of: Host = host): unknown => {
  const restart = podToRestart(of, { ...facts, ...given })
  return restart === null ? null : [restart.pod.name, ...restart.claims]
}

const podsOf = (...pods: KeptPod[]): Partial<RestartFacts> => ({
  pods: new Map(pods.map((pod) => [Number(pod.name.at(-1)), pod])),
})

test('the pod of a claim that waits for a start is the one, where the spec asks for it', () => {
  assert.deepEqual(chosen(), ['mainnet-host-0', 'data-mainnet-host-0'])
  const { storage } = minimal.spec
  assert.equal(chosen({}, { ...host, spec: { ...host.spec, storage } }), null)
})

test('of several pods the last comes first, and with it all its claims', () => {
  const claims = [claimAt('data', 0, waits), claimAt('keys', 1, waits), claimAt('data', 1, waits)]
  assert.deepEqual(chosen({ claims }), [
    'mainnet-host-1',
    'keys-mainnet-host-1',
    'data-mainnet-host-1',
  ])
})

test('a claim that has waited for less than three minutes may still grow while it is in use', () => {
  const afterMs = (ms: number): Partial<RestartFacts> => ({ observedMs: Date.parse(resized) + ms })
  assert.equal(chosen(afterMs(179_999)), null)
  assert.notEqual(chosen(afterMs(180_000)), null)
})

test('a ready pod waits while another one is not ready, is going or is missing', () => {
  assert.equal(chosen(podsOf(podAt(0), podAt(1, older, false))), null)
  assert.equal(chosen(podsOf(podAt(0), { ...podAt(1), isTerminating: true })), null)
  assert.equal(chosen(podsOf(podAt(0))), null)
  const of = (replicas: number): Host => ({ ...host, spec: { ...host.spec, replicas } })
  const three = podsOf(podAt(0), podAt(1), podAt(2, older, false))
  assert.equal(chosen(three, of(3)), null)
  const chosenFirst = ['mainnet-host-0', 'data-mainnet-host-0']
  assert.deepEqual(chosen(podsOf(podAt(0), podAt(1), podAt(2)), of(3)), chosenFirst)
  assert.deepEqual(chosen(podsOf(podAt(0)), of(1)), chosenFirst)
})

test('pods that are not ready go at once: where all volumes are full, none becomes ready before', () => {
  const claims = [claimAt('data', 0, waits), claimAt('data', 1, waits)]
  const next = (...pods: KeptPod[]): unknown => chosen({ claims, ...podsOf(...pods) })
  const [first, second] = [podAt(0, older, false), podAt(1, older, false)]
  assert.deepEqual(next(first, second), ['mainnet-host-1', 'data-mainnet-host-1'])
  const last = ['mainnet-host-0', 'data-mainnet-host-0']
  assert.deepEqual(next(first, { ...second, isTerminating: true }), last)
  assert.deepEqual(next(first), last)
  assert.deepEqual(next(first, podAt(1, newer, false)), last)
})

test('a pod that is not ready goes before a ready one, which follows once all others are ready', () => {
  const claims = [claimAt('data', 0, waits), claimAt('data', 1, waits)]
  const next = (...pods: KeptPod[]): unknown => chosen({ claims, ...podsOf(...pods) })
  const last = podAt(1)
  assert.deepEqual(next(podAt(0, older, false), last), ['mainnet-host-0', 'data-mainnet-host-0'])
  assert.equal(next(podAt(0, newer, false), last), null)
  assert.deepEqual(next(podAt(0, newer), last), ['mainnet-host-1', 'data-mainnet-host-1'])
})

test('a pod that is going, or was made since the claim began to wait, is left alone', () => {
  assert.equal(chosen(podsOf({ ...podAt(0), isTerminating: true }, podAt(1))), null)
  assert.equal(chosen(podsOf(podAt(0, resized), podAt(1))), null)
  assert.equal(chosen(podsOf(podAt(0, newer), podAt(1))), null)
})

test('a claim that was deleted keeps its pod, with which it would go', () => {
  const claims = [claimAt('keys', 0, { isTerminating: true }), claimAt('data', 0, waits)]
  assert.equal(chosen({ claims }), null)
})

test('no pod is deleted that nothing recreates, or that is about to be replaced anyway', () => {
  const { counts } = facts
  assert.ok(counts)
  assert.equal(chosen({ set: null }), null)
  assert.equal(chosen({ isSetTerminating: true }), null)
  assert.equal(chosen({ isParked: true }), null)
  assert.equal(chosen({ counts: { ...counts, generation: 2 } }), null)
  const isRolling = { counts: { ...counts, isRolling: true, updatedReplicas: 1 } }
  assert.equal(chosen(isRolling), null)
  const full = podsOf(podAt(0, older, false), podAt(1))
  assert.notEqual(chosen({ ...isRolling, ...full }), null, 'it is what the others wait for')
})

test('the condition says who starts the pod, and where a start did not help', () => {
  const claims = [0, 1].flatMap((ordinal) => [
    claimAt('keys', ordinal),
    claimAt('data', ordinal, waits),
  ])
  const reported = (of: Host, pods = facts.pods): string =>
    storageStatement(of, { ...emptyState, claims, pods }, null).message
  const what =
    'The file system grows when the pod is next started: data-mainnet-host-0 (1Mi), data-mainnet-host-1 (1Mi).'
  const { storage } = minimal.spec
  assert.equal(
    reported({ ...host, spec: { ...host.spec, storage } }),
    `${what} Set spec.storage.restartToResize to have the operator replace such pods, or the annotation viewmesh.io/roll-at to any new value to replace all pods now.`,
  )
  const doing = `${what} The operator replaces such pods: first those that are not ready, then one at a time, while all others are ready.`
  assert.equal(reported(host), doing)
  assert.equal(
    reported(host, new Map([podAt(0), podAt(1, newer)].entries())),
    `${doing} Of data-mainnet-host-1 the pod was made since: where that stays so, see the events of the claim.`,
  )
})

const path = `/api/v1/namespaces/${host.metadata.namespace}/pods/mainnet-host-0`
const run = { signal: new AbortController().signal, log: pino({ level: 'silent' }) } as never
const room = kubernetesRoom()

/** What is reported while the pod with this UID is replaced. */
async function restart(given: Partial<RestartFacts> = {}): Promise<Occurrence[]> {
  const reported: Occurrence[] = []
  const events = { record: (_type: unknown, _of: unknown, one: Occurrence) => reported.push(one) }
  const parts = { api: room.client.api, events } as unknown as ReconcileParts<Host>
  await restartToResize(parts, host, { ...facts, ...given }, run)
  return reported
}

test('the pod is deleted, and an Event says why', async () => {
  room.server.put(path, { metadata: { uid: 'pod-0' } })
  assert.deepEqual(await restart(), [
    {
      type: 'Normal',
      reason: 'PodRestarted',
      action: 'Delete',
      note: 'Pod mainnet-host-0 is recreated, since the file system of data-mainnet-host-0 grows when it starts.',
    },
  ])
  assert.equal(room.server.get(path), undefined)
})

test('another pod of the name, or none, is left as it is and not reported', async () => {
  room.server.put(path, { metadata: { uid: 'another' } })
  assert.deepEqual(await restart(), [])
  assert.equal(room.server.get(path)?.metadata?.uid, 'another')
  room.server.remove(path)
  assert.deepEqual(await restart(), [])
})

test('an operator that may not delete pods says so in Stalled', async () => {
  const forbid: Fault = ({ method }, response) => {
    if (method !== 'DELETE') return false
    send(response, 403, status(403, 'Forbidden', 'pods "mainnet-host-0" is forbidden'))
    return true
  }
  room.server.faults.add(forbid)
  const problem = await restart().then(
    () => null,
    (error: unknown) => problemOf(error),
  )
  assert.equal(problem?.reason, 'Forbidden')
  assert.match(problem.message, /delete pods apps\/mainnet-host-0/)
})
