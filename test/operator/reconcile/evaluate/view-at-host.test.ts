import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type HostSituation,
  lowestFigures,
  viewAtHost,
} from '../../../../operator/reconcile/evaluate/view-at-host.ts'
import type { ViewAtReplica } from '../../../../operator/reconcile/observe/view-at-replica.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const host = { ...minimal, spec: { ...minimal.spec, replicas: 3 } }
const { name, namespace } = host.metadata
const live: ViewAtReplica = {
  ...{ id: '0x1', state: 'live', name: 'Sender', type: 'Sender', message: null },
  ...{ rows: 7, lastBlock: 9 },
}

/** What is found where the three replicas say this of the View. */
function found(
  reports: readonly (Partial<ViewAtReplica> | null | undefined)[],
  more: Partial<HostSituation> = {},
) {
  const said = reports.map((report, ordinal): [number, ViewAtReplica | null | undefined] => [
    ordinal,
    report ? { ...live, ...report } : report,
  ])
  return viewAtHost({
    host,
    ...{ isRegistered: false, isForeign: false, isOutdated: false, isLeft: false, isAsked: true },
    reports: new Map(said),
    ...more,
  })
}

/** Reason and message alone. */
function saidOf(...given: Parameters<typeof found>): readonly (string | undefined)[] {
  const { reason, status } = found(...given)
  return [reason, status.message]
}

test('a View that all replicas serve has their lowest figures, and nothing to say', () => {
  assert.deepEqual(found([{ rows: 5 }, { rows: 0, lastBlock: 8 }, {}]), {
    reason: 'AllServe',
    served: 3,
    wanted: 3,
    status: { name, state: 'live', served: '3/3', rows: 0, lastBlock: 8 },
  })
})

test('figures that no replica has are left out', () => {
  assert.deepEqual(lowestFigures([]), {})
  assert.deepEqual(lowestFigures([{ rows: null, lastBlock: 3 }, {}]), { lastBlock: 3 })
  assert.deepEqual(lowestFigures([{ rows: 4, lastBlock: null }, { rows: 6 }]), { rows: 4 })
})

test('a replica that serves while it catches up counts as serving, and its state is shown', () => {
  const { reason, status } = found([{}, { state: 'lagging' }, { state: 'backfilling' }])
  assert.deepEqual([reason, status.state, status.served], ['AllServe', 'backfilling', '3/3'])
})

test('a replica whose lens fails at each block is named with the reason, whatever its state', () => {
  const message = 'the lenses took more than 2000 ms.'
  for (const state of ['waiting', 'backfilling', 'lagging'] as const)
    assert.deepEqual(saidOf([{}, { state, message }, {}]), [
      'Failing',
      'It makes no progress on replica 1, and is tried again: the lenses took more than 2000 ms. See GET /api/v0/views of the Host.',
    ])
  assert.equal(found([{}, { message }, {}]).reason, 'AllServe')
})

test('figures are those of replicas that serve', () => {
  const { status } = found([{ rows: 5 }, { state: 'waiting', rows: 0, lastBlock: null }, null])
  assert.deepEqual([status.served, status.rows, status.state], ['1/3', 5, 'waiting'])
})

test('what one replica refuses or fails at is said before what others do not know', () => {
  for (const state of ['failed', 'quarantined'] as const)
    assert.deepEqual(saidOf([{}, null, { state, message: 'it took 5 s.' }]), [
      'Failing',
      `It has ${state} on replica 2: it took 5 s. See GET /api/v0/views of the Host.`,
    ])
  assert.deepEqual(saidOf([undefined, { state: 'refused' }, { state: 'failed' }]), [
    'Refused',
    'Replica 1 does not take it: it says no reason.',
  ])
  const [reason, message] = saidOf([{}, {}, { state: 'foreign' }])
  assert.equal(reason, 'OtherChain')
  assert.match(message ?? '', /^Replica 2 says that it is of another chain\./)
})

test('replicas that do not answer are named before those that do not know it', () => {
  assert.deepEqual(saidOf([undefined, null, undefined]), [
    'Pending',
    'Replica 0, 2 does not answer yet.',
  ])
  assert.deepEqual(saidOf([{}, undefined, null]), ['Pending', 'Replica 1 does not answer yet.'])
  assert.deepEqual(saidOf([{}, null, null]), [
    'Pending',
    'Replica 1, 2 has not read it yet, which takes up to a minute.',
  ])
  assert.deepEqual(saidOf([{}, null, {}], { isRegistered: true }), [
    'NotFound',
    'Replica 1 does not know it: set spec.registry of the Host to the registry chain that it is on, or correct the ID.',
  ])
})

test('a replica that has not begun is named once all know the View', () => {
  assert.deepEqual(saidOf([{ state: 'waiting' }, {}, { state: 'waiting' }]), [
    'Pending',
    'Replica 0, 2 has not computed its first block yet.',
  ])
  assert.deepEqual(saidOf([{}, { state: 'waiting' }, {}]), [
    'Pending',
    'Replica 1 has not computed its first block yet.',
  ])
  assert.equal(saidOf([{ state: 'waiting' }, {}, null])[1]?.startsWith('Replica 2'), true)
})

test('a View under another name than its type says which, and none has no name to say', () => {
  const [reason, message] = saidOf([{}, { name: 'Sender_1' }, {}])
  assert.equal(reason, 'UnderAnotherName')
  assert.match(
    message ?? '',
    /^It is named Sender_1 there, since another View has the name Sender:/,
  )
  assert.deepEqual(saidOf([{}, { name: null }, {}]), ['AllServe', undefined])
})

test('what keeps every replica from a View is said whatever the replicas say', () => {
  const reports = [{ state: 'failed' }, null, undefined] as const
  const [chain, chainMessage] = saidOf(reports, { isForeign: true, isOutdated: true })
  assert.equal(chain, 'OtherChain')
  assert.match(chainMessage ?? '', /^Its chain is Ethereum__Mainnet, and the query names/)
  assert.deepEqual(saidOf(reports, { isOutdated: true, isLeft: true }), [
    'HostNeedsUpdate',
    `Its pods read no Views before they are replaced: kubectl annotate host ${name} -n ${namespace} --overwrite viewmesh.io/roll-at=views`,
  ])
  assert.equal(saidOf(reports, { isLeft: true })[0], 'NoRoom')
  const none = { ...host, spec: { ...host.spec, replicas: 0 } }
  assert.deepEqual(found([], { host: none, isOutdated: true }), {
    reason: 'NoReplicas',
    served: 0,
    wanted: 0,
    status: {
      name,
      state: 'unknown',
      served: '0/0',
      message: 'It has no pods, since it is scaled to 0 or suspended.',
    },
  })
})
