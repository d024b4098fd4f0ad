/** What is kept of a pod, and what is said of one that is not well. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1ContainerState, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { type KeptPod, keepPod } from '../../../../operator/reconcile/observe/pod.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')
const at = (text: string): Date => text as unknown as Date
const fatal = (code: string): string =>
  JSON.stringify({ level: 'fatal', err: { code, message: 'It ends.' } })
const termination = (code: string) => ({
  ...{ code, message: 'It ends', remedy: null, difference: null },
})

const container = (more: Partial<V1ContainerStatus>): V1ContainerStatus => ({
  ...{ name: 'host', image: '', imageID: '', ready: false, restartCount: 0 },
  ...more,
})
/** A pod with these containers. */
const podOf = (...statuses: readonly Partial<V1ContainerStatus>[]): KeptPod =>
  keepPod({ status: { containerStatuses: statuses.map(container) } })

const nothing: KeptPod = {
  name: '',
  uid: '',
  createdMs: null,
  labels: {},
  owners: [],
  controllerUID: null,
  isTerminating: false,
  isReady: false,
  ip: null,
  hostIP: null,
  isHostNetwork: false,
  publicHealth: 8080,
  failure: null,
  terminationMessage: null,
  lastFailure: null,
}

test('a pod is kept with where it is and whose it is, and nothing else', () => {
  const labels = { 'app.kubernetes.io/name': 'host', 'app.kubernetes.io/instance': 'mainnet' }
  const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'mainnet-host', uid: 'set' }
  const pod: V1Pod = {
    metadata: {
      name: 'mainnet-host-0',
      uid: 'pod',
      creationTimestamp: at('2026-01-01T00:00:00Z'),
      deletionTimestamp: at('2026-01-02T00:00:00Z'),
      labels: { ...labels, team: 'a' },
      ownerReferences: [ownerReference(host), { ...set, controller: true }],
    },
    spec: { hostNetwork: true, containers: [] },
    status: {
      podIP: '10.0.0.1',
      hostIP: '198.51.100.4',
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
    },
  }
  assert.deepEqual(keepPod(pod), {
    ...nothing,
    name: 'mainnet-host-0',
    uid: 'pod',
    createdMs: Date.parse('2026-01-01T00:00:00Z'),
    labels,
    owners: [ownerReference(host), set],
    controllerUID: 'set',
    isTerminating: true,
    isReady: true,
    ip: '10.0.0.1',
    hostIP: '198.51.100.4',
    isHostNetwork: true,
  })
})

test('a pod of which nothing is known yet is nowhere, nobody’s and not ready', () => {
  assert.deepEqual(keepPod({}), nothing)
  const metadata = { ownerReferences: [ownerReference(host)] }
  assert.equal(keepPod({ metadata }).controllerUID, null)
  const conditions = [
    { type: 'Ready', status: 'False' },
    { type: 'Initialized', status: 'True' },
  ]
  assert.equal(keepPod({ status: { podIP: '', hostIP: '', conditions } }).isReady, false)
})

test('a pod without a machine waits for its claims, for others’ volumes, or for room', () => {
  const failureOf = (message?: string, reason = 'Unschedulable'): KeptPod['failure'] => {
    const other = { type: 'PodReadyToStartContainers', status: 'False' }
    const condition = { type: 'PodScheduled', status: 'False', reason, ...(message && { message }) }
    return keepPod({ status: { conditions: [other, condition] } }).failure
  }
  const claims = 'See the events of its claims: kubectl describe pvc.'
  const room = 'Make room, or change what spec.podTemplate asks of machines.'
  assert.deepEqual(failureOf('persistentvolumeclaim "a" not found.'), {
    kind: 'unbound',
    message: `persistentvolumeclaim "a" not found. ${claims}`,
  })
  assert.deepEqual(failureOf('too many Volumes'), {
    kind: 'unschedulable',
    message: `too many Volumes. ${claims}`,
  })
  assert.deepEqual(failureOf(), { kind: 'unschedulable', message: `no machine fits. ${room}` })
  assert.match(
    failureOf('1 node(s) didn’t match pod affinity rules')?.message ?? '',
    /rules\. See whether the pods run that it has to be near/,
  )
  assert.equal(failureOf('soon', 'SchedulingGated'), null)
})

test('a pod with a priority below that of others says that it gives way, one with more does not', () => {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }]
  const messageOf = (priority: number): string | undefined =>
    keepPod({ spec: { containers: [], priority }, status: { conditions } }).failure?.message
  assert.match(messageOf(-1) ?? '', / With priority -1 it gives way to all pods that have more/)
  for (const priority of [0, 1]) assert.doesNotMatch(messageOf(priority) ?? '', /priority/)
})

const waitingFor = (
  reason: string,
  more: Partial<V1ContainerStatus> = {},
  message = 'why.',
): string | undefined =>
  podOf({ state: { waiting: { reason, message } }, ...more }).failure?.message

test('a container that cannot be made says why, and what to correct', () => {
  const login =
    'where its registry wants a login, name a Secret for it in spec.podTemplate.spec.imagePullSecrets, or for all pods in global.imagePullSecrets of the operator’s chart.'
  for (const reason of ['ErrImagePull', 'ImagePullBackOff'])
    assert.equal(
      waitingFor(reason),
      `container host: ${reason}: why. Correct spec.image, or ${login}`,
    )
  for (const reason of ['InvalidImageName', 'ErrImageNeverPull'])
    assert.equal(waitingFor(reason), `container host: ${reason}: why. Correct spec.image.`)
  assert.equal(
    waitingFor('InvalidImageName', { name: 'proxy' }),
    'container proxy: InvalidImageName: why. Correct its image in spec.podTemplate.',
  )
  assert.match(waitingFor('ErrImagePull', { name: 'generator' }) ?? '', /Correct spec\.image,/)
  for (const reason of ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'])
    assert.equal(
      waitingFor(reason),
      `container host: ${reason}: why. Correct spec.podTemplate, or make what it refers to.`,
    )
  assert.equal(waitingFor('ContainerCreating'), undefined)
  assert.match(
    waitingFor('ErrImagePull', {}, 'x'.repeat(301)) ?? '',
    /: x{300}\. Correct/,
    'what Kubernetes says has a bound',
  )
})

test('a container that crashes says how it ended, and what its program said', () => {
  const after = (terminated: V1ContainerState['terminated']): string | undefined =>
    waitingFor('CrashLoopBackOff', terminated && { lastState: { terminated } })
  const log = 'See its log with kubectl logs --previous.'
  assert.equal(after(undefined), `container host: CrashLoopBackOff. ${log}`)
  assert.equal(
    after({ exitCode: 3 }),
    `container host: CrashLoopBackOff (ended with code 3). ${log}`,
  )
  assert.equal(
    after({ exitCode: 137, reason: 'OOMKilled' }),
    'container host: CrashLoopBackOff (OOMKilled, code 137). Raise the memory limit of the container in spec.podTemplate.',
  )
  const state = { waiting: { reason: 'CrashLoopBackOff' } }
  const lastState = { terminated: { exitCode: 1, message: fatal('STORE_FULL') } }
  const what = 'container host: CrashLoopBackOff (ended with code 1): It ends (STORE_FULL).'
  assert.deepEqual(podOf({ state, lastState }).failure, {
    kind: 'failing',
    message: `${what} ${log}`,
    ended: { termination: termination('STORE_FULL'), what },
  })
})

test('the first container that fails counts, those before the program among them', () => {
  const state = { waiting: { reason: 'ErrImagePull' } }
  const status = {
    initContainerStatuses: [container({ name: 'first' }), container({ name: 'second', state })],
    containerStatuses: [container({ state })],
  }
  assert.match(keepPod({ status }).failure?.message ?? '', /^container second: ErrImagePull\. /)
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }]
  const { failure } = keepPod({ status: { ...status, conditions } })
  assert.equal(failure?.kind, 'unschedulable')
})

test('what a program said at its end counts until its container is ready again', () => {
  const ended = { exitCode: 1, message: fatal('STORE_FULL') }
  const said = (more: Partial<V1ContainerStatus>): unknown =>
    podOf({ name: 'proxy' }, more).terminationMessage
  assert.deepEqual(said({ state: { terminated: ended } }), termination('STORE_FULL'))
  assert.deepEqual(said({ lastState: { terminated: ended } }), termination('STORE_FULL'))
  assert.equal(said({ lastState: { terminated: ended }, ready: true }), null)
  assert.equal(said({ state: { terminated: { ...ended, exitCode: 0 } } }), null)
  assert.deepEqual(
    said({
      state: { terminated: { ...ended, message: fatal('IDENTITY_LOCKED') } },
      lastState: { terminated: ended },
    }),
    termination('IDENTITY_LOCKED'),
  )
})

test('the last failure is known with its time, also of a container that is ready since', () => {
  const finishedAt = at('2026-01-01T00:00:00Z')
  const ended = { exitCode: 1, message: fatal('STORE_FULL'), finishedAt }
  const lastOf = (terminated: object, more: Partial<V1ContainerStatus> = {}): unknown =>
    podOf({ name: 'proxy' }, { lastState: { terminated: { ...ended, ...terminated } }, ...more })
      .lastFailure
  const failure = {
    termination: termination('STORE_FULL'),
    endedMs: Date.parse('2026-01-01T00:00:00Z'),
  }
  assert.deepEqual(lastOf({}), failure)
  assert.deepEqual(lastOf({}, { ready: true }), failure)
  assert.equal(lastOf({ exitCode: 0 }), null)
  assert.equal(lastOf({ message: '' }), null)
  assert.equal(lastOf({ finishedAt: undefined }), null)
  const later = { ...ended, message: fatal('IDENTITY_LOCKED') }
  assert.deepEqual(lastOf({}, { state: { terminated: later } }), {
    ...failure,
    termination: termination('IDENTITY_LOCKED'),
  })
})
