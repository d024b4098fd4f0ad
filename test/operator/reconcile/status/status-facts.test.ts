/** What a status says beside its conditions, and what of it stays while nothing new is known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeStatus } from '../../../../operator/api/status.ts'
import type { Host } from '../../../../operator/api.ts'
import type { ObservedState } from '../../../../operator/reconcile/evaluate/observed-state.ts'
import type { SchemaFacts } from '../../../../operator/reconcile/fetch/schema-source.ts'
import { createHostLogic } from '../../../../operator/reconcile/host-logic.ts'
import { parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import type { Findings } from '../../../../operator/reconcile/status/findings.ts'
import {
  type ReportedStatus,
  wantedStatus,
} from '../../../../operator/reconcile/status/resource-status.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import type { WantedCondition } from '../../../../operator/runtime/status-writer.ts'
import {
  hostContext,
  identity,
  peerID,
  readHost,
} from '../../../support/resources/operator-cases.ts'
import {
  boundClaims,
  emptyState,
  foundFacts,
  noViews,
  podWith,
  readyCounts,
} from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const minimal = readHost('host-minimal')
const logic = createHostLogic(viewOf([]).resources.Generator, noViews)
const schema: SchemaFacts = { schemaSource: null, keyless: null, isRefused: false, awaited: null }
const options = { clusterDomain: 'cluster.local', defaults: hostContext.defaults }

interface Seen {
  readonly status?: Host['status']
  readonly spec?: Partial<Host['spec']>
  readonly state?: Partial<ObservedState>
  readonly findings?: Partial<Findings<SchemaFacts>>
}

function wanted({ status = {}, spec = {}, state, findings }: Seen): ReportedStatus {
  const host: Host = { ...minimal, status, spec: { ...minimal.spec, ...spec } }
  return wantedStatus(logic, { options }, host, {
    findings: { ...foundFacts(schema), ...findings },
    state: { ...emptyState, ...state },
  })
}

function condition(type: string, seen: Seen): WantedCondition | undefined {
  return wanted(seen).conditions.find((one) => one.type === type)
}

function nodesOf(seen: Seen): readonly NodeStatus[] {
  const { facts, figures } = wanted(seen)
  return (facts['nodes'] ?? figures['nodes']) as readonly NodeStatus[]
}

/** What replica 0 says. */
const saying = (more: object): ObservedState['views'] => {
  const report = { program: 'host', p2p: { self: { id: peerID } }, ...more }
  return new Map([[0, parseHealth(JSON.stringify(report))]])
}

test('pods and replicas are counted as the StatefulSet counts them, and none without one', () => {
  const countsOf = ({ facts }: ReportedStatus): unknown[] => [facts['pods'], facts['replicas']]
  assert.deepEqual(countsOf(wanted({})), ['0/1', 0])
  const counts = { ...readyCounts, replicas: 3, readyReplicas: 2 }
  assert.deepEqual(countsOf(wanted({ state: { counts }, spec: { replicas: 4 } })), ['2/4', 3])
  assert.equal(
    wanted({}).facts['selector'],
    'app.kubernetes.io/name=host,app.kubernetes.io/instance=mainnet',
  )
})

test('the image is that of the planned pods, or the former one before there is a plan', () => {
  const { objects } = hostObjects(minimal, hostContext)
  const plan = { objects, updateAvailable: null, isGrowing: false, isSetBeingRemoved: false }
  const status = { image: 'former' }
  const { spec } = objects.find(({ kind }) => kind === 'StatefulSet') as {
    spec: { template: { spec: { containers: { name: string; image: string }[] } } }
  }
  const program = spec.template.spec.containers.find(({ name }) => name === 'host')
  assert.ok(program?.image)
  assert.equal(wanted({ status, findings: { plan } }).facts['image'], program.image)
  spec.template.spec.containers.unshift({ name: 'sidecar', image: 'another' })
  assert.equal(wanted({ status, findings: { plan } }).facts['image'], program.image)
  assert.equal(wanted({ status }).facts['image'], 'former')
  assert.equal('image' in wanted({}).facts, false)
  assert.equal(
    'image' in wanted({ status, findings: { plan: { ...plan, objects: [] } } }).facts,
    false,
  )
})

test('the sizes of volumes are those that claims ask for', () => {
  const { storage } = minimal.spec
  const allClaims = boundClaims(minimal)
  assert.deepEqual(wanted({ state: { allClaims } }).facts['storage'], {
    keys: storage.keys.size,
    data: storage.data.size,
  })
})

test('a removed replica without a key is forgotten only once identities were read', () => {
  const removed = { ordinal: 1, keyringFingerprint: 'abc' }
  const ordinals = (found: Findings<unknown>['identity']): number[] =>
    nodesOf({
      status: { nodes: [{ ordinal: 0 }, removed] },
      findings: { identity: found },
    }).map(({ ordinal }) => ordinal)
  assert.deepEqual(ordinals(null), [0, 1])
  assert.deepEqual(ordinals({ generate: [], problem: null, lack: null }), [0])
})

test('in total only the wanted replicas count', () => {
  const status = {
    nodes: [
      { ordinal: 0, head: 9, peers: 2 },
      { ordinal: 1, head: 3, keyringFingerprint: 'abc' },
    ],
  }
  const { facts, figures } = wanted({ status })
  assert.deepEqual({ ...facts, ...figures }['head'], 9)
})

test('a replica with another peer ID than its key’s is reported where no key runs twice', () => {
  const status = { nodes: [{ ordinal: 0, peerID: 'former' }] }
  const reasonOf = (views: ObservedState['views']): string | undefined =>
    condition('IdentityReady', { status, state: { views } })?.reason
  assert.equal(reasonOf(saying({})), 'PeerIDChanged')
  assert.equal(reasonOf(new Map()), 'KeyringGenerated')
})

test('another signing key in the same key directory is an Event', () => {
  const other = `03${'a'.repeat(64)}`
  const status = { nodes: [{ ordinal: 0, peerID, identity: other }] }
  assert.deepEqual(wanted({ status, state: { views: saying({ identity }) } }).notes, [
    {
      reason: 'SigningKeyChanged',
      action: 'Observe',
      note: `Replica 0 signs with ${identity}, and did with ${other}.`,
    },
  ])
  assert.deepEqual(wanted({ status }).notes, [])
})

const former = (type: string, reason: string) => ({
  ...{ type, reason, status: 'True' as const, message: 'former', observedGeneration: 1 },
  lastTransitionTime: '2026-01-01T00:00:00Z',
})

test('what was seen stays as it was said while nothing was fetched, or nothing can be read', () => {
  const conditions = [
    former('Ready', 'AllReady'),
    former('IdentityReady', 'KeyringGenerated'),
    former('PeersConnected', 'Connected'),
  ]
  const messagesOf = (findings: Seen['findings'] = {}): unknown =>
    ['IdentityReady', 'PeersConnected', 'SignersAgree'].map(
      (type) => condition(type, { status: { conditions }, findings })?.message,
    )
  assert.deepEqual(messagesOf({ inputs: null }), ['former', 'former', undefined])
  assert.deepEqual(messagesOf({ isUnread: true, error: new Error('no') }), [
    'former',
    'former',
    undefined,
  ])
  const unread = condition('Ready', { findings: { isUnread: true, error: new Error('no') } })
  assert.deepEqual([unread?.status, unread?.reason], ['Unknown', 'Unread'])
  assert.notDeepEqual(messagesOf(), ['former', 'former', undefined])
})

test('what replicas say counts as soon as all of them were asked, and they know their own ID', () => {
  const reasonOf = (views: ObservedState['views']): string | undefined =>
    condition('SignersAgree', { state: { views } })?.reason
  const trusting = { trust: 'bootstrap' }
  assert.equal(reasonOf(saying(trusting)), 'Agreed')
  assert.equal(reasonOf(saying({ ...trusting, p2p: {} })), 'Unobserved')
  assert.equal(reasonOf(new Map([[0, null]])), 'Unobserved')
})

test('a suspended Host says so, with the pods that are still there', () => {
  const pods = new Map([[0, podWith(minimal, {})]])
  const found = condition('Suspended', { spec: { suspend: true }, state: { pods } })
  assert.equal(found?.message, 'Pods are being stopped: mainnet-host-0.')
  const problem = { reason: 'ChainMismatch', message: 'other' } as const
  const stalled = condition('Suspended', {
    ...{ spec: { suspend: true }, state: { pods }, findings: { problem } },
  })
  assert.equal(stalled?.message, 'Pods go on until what Stalled says is done: mainnet-host-0.')
  assert.equal(condition('Suspended', {}), undefined)
})

test('of a Host that waits for keys nothing is said to go on while it is paused', () => {
  const lack = { reason: 'KeyMissing', message: 'no key "0"' } as const
  const findings = { identity: { generate: [], problem: null, lack } }
  assert.equal(condition('Reconciling', { findings })?.reason, 'Progressing')
  assert.equal(condition('Reconciling', { findings, spec: { paused: true } }), undefined)
})

test('a Host whose pods run otherwise than a paused spec wants is as ready as they are', () => {
  const counts = { ...readyCounts, wantedReplicas: 2, replicas: 2, readyReplicas: 2 }
  const readyOf = (more: object): string | undefined =>
    condition('Ready', {
      spec: { paused: true },
      state: { set: {}, counts: { ...counts, ...more }, claims: boundClaims(minimal) },
      findings: { waiting: ['StatefulSet mainnet-host changed (spec.replicas)'] },
    })?.message
  assert.equal(
    readyOf({}),
    'Pods that are ready: 2, wanted: 1. Changes of the spec wait while it is paused; see Paused.',
  )
  assert.equal(readyOf({ readyReplicas: 1 }), '1 pods are being removed.')
})

test('what identifies a replica or its chain is written at once, figures alone are not', () => {
  const views = saying({ identity, genesis: `0x${'ab'.repeat(32)}`, head: 7, lag: 0 })
  const first = wanted({ state: { views } }).facts
  const nodes = first['nodes'] as readonly NodeStatus[]
  const [node] = nodes
  const isPrompt = (changed: Partial<NodeStatus>): boolean => {
    const before = { head: 6, lag: 1, nodes: [{ ...node, ordinal: 0, ...changed }] }
    return 'nodes' in wanted({ status: before, state: { views } }).facts
  }
  assert.ok(node?.addresses)
  assert.equal(isPrompt({ head: 6, lag: 1 }), false)
  assert.equal(isPrompt({ identity: `03${'a'.repeat(64)}` }), true)
  assert.equal(isPrompt({ genesis: `0x${'cd'.repeat(32)}` }), true)
  assert.equal(isPrompt({ addresses: [] }), true)
  assert.equal(isPrompt({ addresses: node.addresses.slice(1) }), true)
})
