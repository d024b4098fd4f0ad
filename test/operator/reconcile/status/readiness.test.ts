import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1PodSpec } from '@kubernetes/client-node'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { type KeptPod, keepPod } from '../../../../operator/reconcile/observe/pod.ts'
import type { SetCounts } from '../../../../operator/reconcile/observe/set-counts.ts'
import {
  isOtherwiseReady,
  type ReadinessFacts,
  readinessOf,
} from '../../../../operator/reconcile/status/readiness.ts'
import { ownerReference } from '../../../../operator/resources/names/metadata.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const host = { ...minimal, spec: { ...minimal.spec, replicas: 2 } }

const set: SetCounts = {
  generation: 3,
  observedGeneration: 3,
  wantedReplicas: 2,
  replicas: 2,
  readyReplicas: 2,
  updatedReplicas: 2,
  isRolling: false,
}

const facts: ReadinessFacts = {
  set,
  pods: [],
  views: new Map(),
  storage: { reason: 'Bound', message: 'All claims are bound.' },
  isExpanding: false,
  failedCreate: null,
}

const cpu = '0/1 nodes are available: 1 Insufficient cpu.'
/** A pod of which the scheduler says this. */
const lostPod = (message: string, spec: Partial<V1PodSpec> = {}): KeptPod =>
  keepPod({
    metadata: { name: 'mainnet-host-1' },
    spec: { containers: [], ...spec },
    status: {
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
    },
  })

const reasons = (given: Partial<ReadinessFacts>, counts: Partial<SetCounts> = {}): string[] => {
  const of = given.set === null ? null : { ...set, ...counts }
  const { ready, reconciling } = readinessOf(host, { ...facts, ...given, set: of })
  return [ready.reason, reconciling?.reason ?? 'none']
}

test('all pods ready is ready, and nothing goes on', () => {
  assert.deepEqual(readinessOf(host, facts), {
    ready: { reason: 'AllReady', message: '2 of 2 pods are ready.' },
    reconciling: null,
  })
})

test('a StatefulSet that is new, or that its controller has not seen yet, is pending', () => {
  assert.deepEqual(reasons({ set: null }), ['Pending', 'Progressing'])
  assert.deepEqual(reasons({}, { observedGeneration: 2 }), ['Pending', 'Progressing'])
  assert.deepEqual(reasons({ set: null, isExpanding: true }), ['Pending', 'ExpandingStorage'])
  const messageOf = (isExpanding: boolean): string =>
    readinessOf(host, { ...facts, set: null, isExpanding }).ready.message
  assert.equal(messageOf(false), 'The StatefulSet has just been written.')
  assert.match(messageOf(true), /^The StatefulSet is being recreated, without its pods,/)
})

test('a StatefulSet that has made no pod yet is initializing', () => {
  const none = { replicas: 0, readyReplicas: 0, updatedReplicas: 0 }
  assert.deepEqual(reasons({}, none), ['Initializing', 'Progressing'])
})

test('of pods that are not ready it is said what data they lack, as far as they say so', () => {
  const saying = (unready: unknown): HealthView =>
    parseHealth(JSON.stringify({ program: 'host', unready })) ?? assert.fail('this is no report')
  const messageOf = (...said: readonly unknown[]): string => {
    const views = new Map(said.map((unready, ordinal) => [ordinal, saying(unready)]))
    return readinessOf(host, { ...facts, views, set: { ...set, readyReplicas: 0 } }).ready.message
  }
  const figures = { message: '7 blocks are stored' }
  assert.equal(
    messageOf({ reason: 'too-few-blocks', ...figures }, { reason: 'behind-sibling', ...figures }),
    '0 of 2 pods are ready; not yet: mainnet-host-0 (too few blocks), mainnet-host-1 (too far behind another replica). Blocks come from peers: PeersConnected and SignersAgree say what is wrong where none do.',
  )
  assert.equal(
    messageOf({ reason: 'initializing' }, { reason: 'see http://evil.example.org', ...figures }),
    '0 of 2 pods are ready; not yet: mainnet-host-0, mainnet-host-1.',
  )
})

test('a pod that is not ready and does not answer is named with that', () => {
  const views = new Map([[1, null]])
  const { ready } = readinessOf(host, { ...facts, views, set: { ...set, readyReplicas: 0 } })
  assert.equal(
    ready.message,
    '0 of 2 pods are ready; not yet: mainnet-host-0, mainnet-host-1 (no answer at /health).',
  )
})

test('pods that run and are not ready yet are initializing', () => {
  assert.deepEqual(reasons({}, { readyReplicas: 1 }), ['Initializing', 'Progressing'])
})

test('pods that are replaced are rolling out', () => {
  const rolling = { isRolling: true, updatedReplicas: 1 }
  assert.deepEqual(reasons({}, rolling), ['RollingOut', 'WaitingForRollout'])
})

test('pods with another template are rolling out also under a StatefulSet that was recreated', () => {
  assert.deepEqual(reasons({}, { updatedReplicas: 1 }), ['RollingOut', 'WaitingForRollout'])
  const beingMade = { replicas: 1, readyReplicas: 1, updatedReplicas: 1 }
  assert.deepEqual(reasons({}, beingMade), ['Initializing', 'Progressing'])
})

test('pods that updatePartition holds back are not waited for, and Ready says so', () => {
  const held = { ...host, spec: { ...host.spec, replicas: 3, updatePartition: 2 } }
  const readyOf = (updatedReplicas: number, readyReplicas: number): object =>
    readinessOf(held, {
      ...facts,
      set: { ...set, replicas: 3, readyReplicas, updatedReplicas, isRolling: true },
    }).ready
  assert.deepEqual(readyOf(0, 3), {
    reason: 'RollingOut',
    message: '0 of 1 pods have the new template.',
  })
  assert.match(JSON.stringify(readyOf(1, 2)), /Initializing.*2 of 3 pods are ready/)
  for (const [updated, held] of [
    [1, 2],
    [2, 1],
  ] as const)
    assert.deepEqual(readyOf(updated, 3), {
      reason: 'AllReady',
      message: `3 of 3 pods are ready, ${held} of them with the template from before, as spec.updatePartition 2 wants it.`,
    })
})

test('storage that is not as wanted is waited for', () => {
  const pending = { reason: 'Pending', message: 'Not bound: data-mainnet-host-1.' } as const
  const growing = { reason: 'Expanding', message: 'Being made larger.' } as const
  assert.deepEqual(reasons({ storage: pending }), ['WaitingForStorage', 'Progressing'])
  assert.deepEqual(reasons({ storage: growing }), ['WaitingForStorage', 'ExpandingStorage'])
  const one = { ...host, spec: { ...host.spec, replicas: 1 } }
  const { ready } = readinessOf(one, { ...facts, storage: pending })
  assert.deepEqual(ready, { reason: 'WaitingForStorage', message: pending.message })
})

test('where pods were not created, the message has the command that says why', () => {
  const messageOf = (given: Partial<ReadinessFacts>, counts: Partial<SetCounts>): string =>
    readinessOf(host, { ...facts, ...given, set: { ...set, replicas: 1, ...counts } }).ready.message
  const hint =
    ' Not all pods were made: where that stays so, kubectl describe statefulset mainnet-host --namespace apps says why.'
  const storage = { reason: 'Pending', message: 'Not made yet: data-mainnet-host-1.' } as const
  assert.equal(messageOf({ storage }, {}), `${storage.message}${hint}`)
  assert.equal(
    messageOf({}, { isRolling: true, updatedReplicas: 1 }),
    `1 of 2 pods have the new template.${hint}`,
  )
  const pods = { readyReplicas: 1 }
  assert.ok(messageOf({}, pods).endsWith(hint))
  assert.ok(!messageOf({}, { ...pods, replicas: 2 }).includes('describe'))
})

test('a pod that cannot get its image, crashes or fits nowhere says so in Ready', () => {
  const waiting = keepPod({
    metadata: { name: 'mainnet-host-1' },
    status: {
      containerStatuses: [
        {
          name: 'host',
          image: '',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { waiting: { reason: 'ErrImagePull', message: 'not found' } },
        },
      ],
    },
  })
  const { ready } = readinessOf(host, {
    ...facts,
    set: { ...set, readyReplicas: 1 },
    pods: [waiting],
  })
  assert.deepEqual(ready, {
    reason: 'PodsFailing',
    message:
      '1 of 2 pods are ready. mainnet-host-1: container host: ErrImagePull: not found. Correct spec.image, or where its registry wants a login, name a Secret for it in spec.podTemplate.spec.imagePullSecrets, or for all pods in global.imagePullSecrets of the operator’s chart.',
  })
  assert.deepEqual(reasons({ pods: [lostPod('0/1 nodes')] }, { readyReplicas: 1 }), [
    'Unschedulable',
    'Progressing',
  ])
})

test('a pod that fits on no machine: what to do follows from what the scheduler says', () => {
  const remedies = {
    [cpu]: 'Make room, or change what spec.podTemplate asks of machines.',
    '0/1 nodes are available: 1 node(s) had volume node affinity conflict.':
      'See the events of its claims: kubectl describe pvc.',
    "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.":
      'See whether the pods run that it has to be near: those of affinity in spec.podTemplate, and of a Generator its execution node (colocate: Required).',
  }
  for (const [said, remedy] of Object.entries(remedies)) {
    const { failure } = lostPod(said)
    assert.deepEqual(failure, { kind: 'unschedulable', message: `${said} ${remedy}` })
  }
  const { failure } = lostPod(cpu, { priority: -10 })
  assert.equal(
    failure?.message,
    `${cpu} Make room, or change what spec.podTemplate asks of machines. With priority -10 it gives way to all pods that have more: another priorityClassName there changes that.`,
  )
})

test('a pod that waits for its claims waits for storage, one whose claims wait for it does not', () => {
  const message = 'Not bound: data-mainnet-host-1 of class fast.'
  const storage = { reason: 'Pending', message } as const
  const readyOf = (said: string, given: Partial<ReadinessFacts> = { storage }): object => {
    const counts = { ...set, readyReplicas: 1 }
    return readinessOf(host, { ...facts, set: counts, pods: [lostPod(said)], ...given }).ready
  }
  const unbound = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.'
  assert.deepEqual(readyOf(unbound), { reason: 'WaitingForStorage', message })
  assert.deepEqual(readyOf(cpu), {
    reason: 'Unschedulable',
    message: `1 of 2 pods are ready. mainnet-host-1: ${cpu} Make room, or change what spec.podTemplate asks of machines.`,
  })
  assert.deepEqual(readyOf(unbound, {}), {
    reason: 'Unschedulable',
    message: `1 of 2 pods are ready. mainnet-host-1: ${unbound} See the events of its claims: kubectl describe pvc.`,
  })
})

test('no wanted pods are ready once the last one is gone', () => {
  const none = { ...host, spec: { ...host.spec, replicas: 0 } }
  const gone = { ...set, replicas: 0, readyReplicas: 0, updatedReplicas: 0 }
  assert.deepEqual(readinessOf(none, { ...facts, set: gone }), {
    ready: { reason: 'ScaledToZero', message: 'No pods are wanted; keys and data are kept.' },
    reconciling: null,
  })
  assert.equal(readinessOf(none, facts).ready.reason, 'RollingOut')
})

test('a suspended Host is ready as soon as its pods are gone, whatever its replicas say', () => {
  const suspended = { ...host, spec: { ...host.spec, suspend: true } }
  const gone = { ...set, replicas: 0, readyReplicas: 0, updatedReplicas: 0 }
  assert.deepEqual(readinessOf(suspended, { ...facts, set: gone }), {
    ready: {
      reason: 'Suspended',
      message:
        'No pods run; keys, data and addresses are kept, and used again when spec.suspend is false.',
    },
    reconciling: null,
  })
  assert.equal(readinessOf(suspended, facts).ready.reason, 'RollingOut')
})

test('a volume that is nearly full takes nothing from a Host that is ready', () => {
  const storage = { reason: 'NearlyFull', message: 'Little room is left.' } as const
  assert.deepEqual(reasons({ storage }), ['AllReady', 'none'])
})

test('a paused Host without a StatefulSet is not pending, and pods of nobody run on', () => {
  const paused = { ...host, spec: { ...host.spec, paused: true } }
  const message = 'There is no StatefulSet, and none is made while spec.paused is true; see Paused.'
  const stray = keepPod({ metadata: { name: 'mainnet-host-0' } })
  const own = { ...stray, owners: [ownerReference(host)] }
  const readyWith = (pods: readonly KeptPod[]): object =>
    readinessOf(paused, { ...facts, set: null, pods })
  const ready = { reason: 'Paused', message }
  assert.deepEqual(readyWith([own]), { ready, reconciling: null })
  assert.deepEqual(readyWith([own, stray]), {
    ready: { ...ready, message: `${message} Its pods run on, and stay if it is deleted.` },
    reconciling: null,
  })
  assert.equal(readinessOf(paused, facts).ready.reason, 'AllReady')
})

test('what the StatefulSet failed to create is said while pods are missing', () => {
  const failedCreate = 'create Pod mainnet-host-1 failed: exceeded quota.'
  const { ready, reconciling } = readinessOf(host, {
    ...facts,
    failedCreate,
    set: { ...set, replicas: 1, readyReplicas: 1, updatedReplicas: 1 },
  })
  assert.deepEqual(ready, {
    reason: 'FailedCreate',
    message:
      '1 of 2 pods are ready. The StatefulSet reports: create Pod mainnet-host-1 failed: exceeded quota. It is tried again twice a minute.',
  })
  assert.equal(reconciling?.reason, 'Progressing')
  assert.deepEqual(reasons({ failedCreate }), ['AllReady', 'none'])
})

test('pods that are too many are counted until they are gone', () => {
  assert.deepEqual(readinessOf(host, { ...facts, set: { ...set, replicas: 4 } }).ready, {
    reason: 'RollingOut',
    message: '2 pods are being removed.',
  })
})

test('a failure that a pod is over takes nothing from Ready, nor do volumes nobody wants', () => {
  const over = { ...lostPod(cpu), isReady: true }
  assert.deepEqual(reasons({ pods: [over] }), ['AllReady', 'none'])
  const none = { ...host, spec: { ...host.spec, replicas: 0 } }
  const storage = { reason: 'Pending', message: 'Not made yet.' } as const
  assert.equal(readinessOf(none, { ...facts, storage }).ready.reason, 'RollingOut')
})

test('pods that are ready are not among those that are named as missing', () => {
  const pod = (ordinal: number, isReady: boolean): KeptPod => {
    const metadata = { name: `mainnet-host-${ordinal}` }
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }]
    return keepPod({ metadata, status: { conditions } })
  }
  const messageOf = (pods: readonly KeptPod[]): string =>
    readinessOf(host, { ...facts, pods, set: { ...set, readyReplicas: 1 } }).ready.message
  assert.equal(
    messageOf([pod(0, true), pod(1, false)]),
    '1 of 2 pods are ready; not yet: mainnet-host-1.',
  )
  assert.equal(
    messageOf([pod(0, true), pod(1, true)]),
    '1 of 2 pods are ready; not yet: none is known.',
  )
})

test('pods are otherwise ready where all of another number are that the StatefulSet wants', () => {
  const three = { ...set, wantedReplicas: 3, replicas: 3, readyReplicas: 3 }
  assert.equal(isOtherwiseReady(host, three), true)
  assert.equal(isOtherwiseReady(host, { ...three, readyReplicas: 2 }), false)
  assert.equal(isOtherwiseReady(host, { ...three, replicas: 4 }), false)
  assert.equal(isOtherwiseReady(host, set), false)
})
