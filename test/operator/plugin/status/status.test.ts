import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import { labels } from '../../../../operator/api/annotations.ts'
import type { Condition, HostStatus } from '../../../../operator/api/status.ts'
import type { Host } from '../../../../operator/api.ts'
import { type Behind, summaryOf } from '../../../../operator/plugin/status/summary.ts'
import {
  attentionLines,
  overviewLines,
  screenLines,
} from '../../../../operator/plugin/status/summary-lines.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { identity, peerID, readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { runPlugin } from '../../support/plugin-run.ts'

const page = { width: 70, nowMs: Date.parse('2026-01-01T12:00:00Z') }
const minimal = readHost('host-minimal')

function condition(type: string, status: Condition['status'], more: Partial<Condition>): Condition {
  const lastTransitionTime = '2026-01-01T11:55:00Z'
  return { type, status, lastTransitionTime, reason: 'AllReady', message: 'All is well.', ...more }
}

const ready = condition('Ready', 'True', {})
const storage = condition('StorageReady', 'True', {
  reason: 'Bound',
  message: 'All claims are bound.',
})
const silent = condition('SignersAgree', 'False', {
  reason: 'SignerSilent',
  message: 'No head of signer 02ab has come for ten minutes: look at its Generator.',
})

function hostWith(status: HostStatus, more: Partial<Host['metadata']> = {}): Host {
  return { ...minimal, metadata: { ...minimal.metadata, ...more }, status }
}

const well: HostStatus = {
  observedGeneration: 1,
  image: 'registry.example.org/host:1',
  pods: '1/1',
  head: 120,
  lag: 2,
  peers: 3,
  conditions: [ready, storage, silent],
  nodes: [
    {
      ordinal: 0,
      peerID,
      identity,
      head: 120,
      lag: 2,
      peers: 3,
      addresses: ['/ip4/192.0.2.1/tcp/9171'],
    },
  ],
}

const place = { namespace: 'apps' }
const pod: V1Pod = {
  metadata: { ...place, name: 'mainnet-host-0' },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [{ name: 'host', image: '', imageID: '', ready: true, restartCount: 2 }],
  },
}
const claim: V1PersistentVolumeClaim = {
  metadata: { ...place, name: 'keys-mainnet-host-0' },
  status: { phase: 'Bound', capacity: { storage: '1Gi' } },
}
const behind: Behind = { pods: [pod], claims: [claim] }

test('one resource is shown on a screen, with what wants attention marked', () => {
  assert.deepEqual(screenLines(summaryOf(hostWith(well), behind), page), [
    'Host apps/mainnet is ready',
    '  chain   Ethereum__Mainnet',
    '  image   registry.example.org/host:1',
    '  pods    1/1',
    '',
    'Conditions',
    '   Ready          True    AllReady       for 5m',
    '    All is well.',
    '   StorageReady   True    Bound          for 5m',
    '    All claims are bound.',
    ' ! SignersAgree   False   SignerSilent   for 5m',
    '    No head of signer 02ab has come for ten minutes: look at its',
    '    Generator.',
    '',
    'Replica 0: pod mainnet-host-0 (Ready, 2 restarts)',
    '  head       120',
    '  lag        2',
    '  peers      3',
    `  peer ID    ${peerID}`,
    `  signs as   ${identity}`,
    '  address    /ip4/192.0.2.1/tcp/9171',
    '  keys       Bound, 1Gi, claim keys-mainnet-host-0',
    '  data       Missing, -, claim data-mainnet-host-0',
  ])
})

test('a screen says why a status is not to be believed, and nothing of what there is not', () => {
  const containerStatuses = [
    { name: 'host', image: '', imageID: '', ready: false, restartCount: 0 },
  ]
  const young = { ...pod, status: { phase: 'Running', containerStatuses } }
  const summary = summaryOf(hostWith({ observedGeneration: -1 }), { pods: [young], claims: [] })
  assert.deepEqual(screenLines(summary, page), [
    'Host apps/mainnet is not ready',
    '  chain   Ethereum__Mainnet',
    '  image   not known yet',
    '  pods    -',
    '',
    'No operator has seen it yet: check that one runs and watches this',
    'namespace.',
    '',
    'Replica 0: pod mainnet-host-0 (NotReady)',
    '  keys   Missing, -, claim keys-mainnet-host-0',
    '  data   Missing, -, claim data-mainnet-host-0',
  ])
})

test('what conditions say goes as far as the page, and no further', () => {
  const filled = (before: number): string => `${'x'.repeat(page.width - before - 2)} x y`
  const conditionOf = (message: string): HostStatus => ({
    ...{
      observedGeneration: 1,
      conditions: [condition('Ready', 'False', { reason: 'No', message })],
    },
  })
  const screen = screenLines(summaryOf(hostWith(conditionOf(filled(4))), behind), page)
  const attention = attentionLines(
    summaryOf(hostWith(conditionOf(filled('  ! Ready (No): '.length))), behind),
    page,
  )
  for (const lines of [screen, attention]) {
    assert.equal(Math.max(...lines.map((line) => line.length)), page.width)
    assert.ok(lines.includes('    y'))
  }
})

test('what a newer operator says of a replica is shown under its own name', () => {
  const [node] = well.nodes ?? []
  const newer = {
    ...node,
    ordinal: 0,
    chainID: 1,
    lastBlockTime: '2026-01-01T11:59:58Z',
    nested: {},
  }
  const lines = screenLines(summaryOf(hostWith({ ...well, nodes: [newer] }), behind), page)
  const further = lines.filter((line) =>
    /^ {2}(?:chainID|lastBlockTime|nested|ordinal) /.test(line),
  )
  assert.deepEqual(further, ['  chainID         1', '  lastBlockTime   2026-01-01T11:59:58Z'])
})

test('many resources are a table, and below it what wants attention', () => {
  const summaries = [
    summaryOf(hostWith(well), behind),
    summaryOf(hostWith({ observedGeneration: -1 }, { name: 'young' }), behind),
    summaryOf(hostWith({ ...well, conditions: [storage, ready] }, { name: 'quiet' }), behind),
  ]
  const lines = [
    ...overviewLines(summaries),
    ...summaries.flatMap((summary) => attentionLines(summary, page)),
  ]
  assert.deepEqual(lines, [
    'NAMESPACE   RESOURCE       READY   REASON        PODS   HEAD   LAG   PEERS',
    'apps        host/mainnet   True    AllReady      1/1    120    2     3',
    'apps        host/young     False   NotObserved   -      -      -     -',
    'apps        host/quiet     True    AllReady      1/1    120    2     3',
    '',
    'host/mainnet in apps',
    '  ! SignersAgree (SignerSilent): No head of signer 02ab has come for',
    '    ten minutes: look at its Generator.',
    '',
    'host/young in apps',
    '  ! No operator has seen it yet: check that one runs and watches this',
    '    namespace.',
  ])
})

test('Ready for an older spec is not ready, and the screen says which it is about', () => {
  const { isReady, remark } = summaryOf(hostWith(well, { generation: 2 }), behind)
  assert.equal(isReady, false)
  assert.match(String(remark), /not seen the newest spec yet \(generation 2, seen 1\)/)
  const unseen = summaryOf(hostWith({ ...well, observedGeneration: 0 }), behind)
  assert.match(String(summaryOf(hostWith({}), behind).remark), /^No operator has seen it yet/)
  assert.match(String(unseen.remark), /not seen the newest spec yet \(generation 1, seen 0\)/)
})

const waiting = { image: '', imageID: '', ready: false, restartCount: 5 }
const states: readonly (readonly [string, V1Pod['status'], string])[] = [
  ['runs and is not ready yet', { phase: 'Running' }, 'NotReady'],
  [
    'crashes',
    {
      phase: 'Running',
      containerStatuses: [
        { ...waiting, name: 'host', state: { waiting: { reason: 'CrashLoopBackOff' } } },
      ],
    },
    'CrashLoopBackOff',
  ],
  [
    'crashes beside a container that runs',
    {
      phase: 'Running',
      containerStatuses: [
        { ...waiting, name: 'beside', state: { running: {} } },
        { ...waiting, name: 'host', state: { waiting: { reason: 'CrashLoopBackOff' } } },
      ],
    },
    'CrashLoopBackOff',
  ],
  [
    'has no machine',
    {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    },
    'Unschedulable',
  ],
  [
    'is ready in part',
    {
      phase: 'Running',
      conditions: [
        { type: 'ContainersReady', status: 'True' },
        { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady' },
      ],
    },
    'NotReady',
  ],
  [
    'is placed',
    { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True', reason: 'Placed' }] },
    'Pending',
  ],
  ['has ended', { phase: 'Succeeded' }, 'Succeeded'],
  ['nobody says anything of', {}, 'Unknown'],
]
for (const [what, status, state] of states) {
  test(`a pod that ${what} is shown as ${state}`, () => {
    const pods = [{ ...pod, ...(status === undefined ? {} : { status }) }]
    assert.equal(summaryOf(hostWith(well), { pods, claims: [] }).replicas[0]?.state, state)
  })
}

test('restarts of a pod are those of all its containers', () => {
  const containerStatuses = ['host', 'beside'].map((name) => ({ ...waiting, name }))
  const restarting = { ...pod, status: { phase: 'Running', containerStatuses } }
  const { replicas } = summaryOf(hostWith(well), { pods: [restarting], claims: [] })
  assert.equal(replicas[0]?.restarts, 10)
})

test('a volume has the size that it got, else the one that its claim asks for', () => {
  const requested = { resources: { requests: { storage: '2Gi' } } }
  const volume = (more: Partial<V1PersistentVolumeClaim>): unknown => {
    const found = { ...more, metadata: { ...claim.metadata, ...more.metadata } }
    const { replicas } = summaryOf(hostWith(well), { pods: [], claims: [found] })
    const { size, phase } = replicas[0]?.volumes[0] ?? {}
    return [size, phase]
  }
  const bound = { phase: 'Bound', capacity: { storage: '3Gi' } }
  assert.deepEqual(volume({ spec: requested, status: bound }), ['3Gi', 'Bound'])
  assert.deepEqual(volume({ spec: requested }), ['2Gi', 'Pending'])
  assert.deepEqual(volume({}), ['-', 'Pending'])
  const metadata = { deletionTimestamp: new Date() }
  assert.deepEqual(volume({ metadata, status: bound }), ['3Gi', 'Terminating'])
})

test('a condition wants attention where it is not what is good, and one that only informs never', () => {
  const stated = [
    condition('Ready', 'True', {}),
    condition('Ready', 'False', {}),
    condition('StorageReady', 'Unknown', {}),
    condition('Stalled', 'True', {}),
    condition('Stalled', 'False', {}),
    condition('Suspended', 'True', {}),
    condition('Suspended', 'False', {}),
    condition('OfANewerOperator', 'False', {}),
  ]
  const { conditions } = summaryOf(hostWith({ ...well, conditions: stated }), behind)
  assert.deepEqual(
    conditions.map(({ wantsAttention }) => wantsAttention),
    [false, true, true, true, false, false, false, false],
  )
})

test('a resource is ready where Ready is True for its spec, and in no other case', () => {
  const isReady = (status: HostStatus, generation = 1): boolean =>
    summaryOf(hostWith(status, { generation }), behind).isReady
  const only = (...conditions: Condition[]): HostStatus => ({ ...well, conditions })
  assert.equal(isReady(only(storage, ready)), true)
  assert.equal(isReady(only(storage)), false)
  assert.equal(isReady(only(condition('Ready', 'Unknown', {}))), false)
  assert.equal(isReady(only(ready), 2), false)
  assert.equal(isReady({ ...only(ready), observedGeneration: 2 }), false)
})

test('replicas of a suspended Host are shown with their identity and volumes', () => {
  const host = hostWith(well)
  const suspended = { ...host, spec: { ...host.spec, suspend: true } }
  const [replica] = summaryOf(suspended, { pods: [], claims: [claim] }).replicas
  assert.deepEqual(
    [replica?.state, replica?.identity, replica?.volumes[0]?.phase],
    ['Suspended', identity, 'Bound'],
  )
  assert.equal(summaryOf(suspended, behind).replicas[0]?.state, 'Ready', 'it has not ended yet')
})

test('what another namespace has under the same names is of no resource but its own', () => {
  const elsewhere = <T extends Pick<V1Pod, 'metadata'>>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace: 'shop' },
  })
  const { replicas } = summaryOf(hostWith(well), {
    pods: [elsewhere(pod)],
    claims: [elsewhere(claim)],
  })
  const [{ state, volumes } = assert.fail()] = replicas
  assert.deepEqual([state, volumes[0]?.phase], ['Missing', 'Missing'])
})

test('pods that leave, beyond the replicas of the spec, are shown in the order of their numbers', () => {
  const terminating = [3, 2].map((ordinal) => ({
    ...pod,
    metadata: { ...place, name: `mainnet-host-${ordinal}`, deletionTimestamp: new Date() },
  }))
  const { replicas } = summaryOf(hostWith(well), { pods: terminating, claims: [] })
  assert.deepEqual(
    replicas.map(({ ordinal, state }) => [ordinal, state]),
    [
      [0, 'Missing'],
      [2, 'Terminating'],
      [3, 'Terminating'],
    ],
  )
})

const room = kubernetesRoom()
const hosts = '/apis/viewmesh.io/v1alpha1/namespaces/apps/hosts'

/** Puts the Host and what is behind it into the cluster. */
function putHost(host: Host): void {
  room.server.put(`${hosts}/${host.metadata.name}`, host)
  const marks = { [labels.name]: 'host', [labels.instance]: 'mainnet' }
  const { metadata, ...rest } = pod
  const object = { ...rest, metadata: { ...metadata, labels: marks } }
  room.server.put('/api/v1/namespaces/apps/pods/mainnet-host-0', object as KubernetesObject)
}

test('status ends with 0 where all is ready, and with 1 where one is not', async () => {
  putHost(hostWith(well))
  const one = await runPlugin(room.client, ['status', 'host/mainnet'])
  assert.equal(one.code, 0)
  assert.match(one.stdout, /^Host apps\/mainnet is ready\n/)
  assert.equal((await runPlugin(room.client, ['status'])).code, 0)
  room.server.put(`${hosts}/young`, hostWith({}, { name: 'young' }))
  assert.equal((await runPlugin(room.client, ['status', 'host/mainnet'])).code, 0)
  assert.equal((await runPlugin(room.client, ['status'])).code, 1)
  assert.equal((await runPlugin(room.client, ['status', '-A'])).code, 1)
})

test('where there is nothing, that is reported, and it is not ready', async () => {
  const empty = await runPlugin(room.client, ['status', '-n', 'other'])
  assert.deepEqual(empty, {
    code: 1,
    stdout: '',
    stderr: 'There are no Generators, Hosts and Views in namespace other.\n',
  })
  const anywhere = await runPlugin(room.client, ['status', '-A'])
  assert.equal(anywhere.stderr, 'There are no Generators, Hosts and Views in any namespace.\n')
  const none = await runPlugin(room.client, ['status', 'host/none'])
  assert.equal(none.code, 2)
  assert.match(
    none.stderr,
    /^error: there is no Host none in namespace apps \(PLUGIN_RESOURCE_MISSING\)/,
  )
})

test('for programs it is JSON: one summary, or a list of them', async () => {
  putHost(hostWith({ ...well, conditions: [{ ...ready, message: 'well\x1b[2J\u009b' }] }))
  const one = await runPlugin(room.client, ['status', 'host/mainnet', '-o', 'json'])
  assert.match(one.stdout, /^\{\n {2}"kind": "Host",\n/)
  assert.match(one.stdout, /"message": "well\\u001b\[2J\\u009b"/)
  const { kind, isReady, replicas, conditions } = JSON.parse(one.stdout)
  assert.deepEqual([kind, isReady], ['Host', true])
  assert.deepEqual([replicas[0].identity, replicas[0].state], [identity, 'Ready'])
  assert.equal(conditions[0].message, 'well\x1b[2J\u009b')
  const all = await runPlugin(room.client, ['status', '--output', 'json'])
  assert.deepEqual(JSON.parse(all.stdout), { items: [JSON.parse(one.stdout)] })
})
