/** What is known of a resource before anything is decided: what is watched of it, and what its replicas say. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import {
  identitiesOf,
  type ObservedState,
  observeState,
} from '../../../../operator/reconcile/evaluate/observed-state.ts'
import { keepClaim, type PlacedClaim } from '../../../../operator/reconcile/observe/claim.ts'
import type { HealthObserver } from '../../../../operator/reconcile/observe/health-observer.ts'
import { parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import {
  childMetadata,
  keptMetadata,
  selectorLabels,
} from '../../../../operator/resources/names/metadata.ts'
import { p2pServiceName, podName, type Volume } from '../../../../operator/resources/names/names.ts'
import { recordAnnotations } from '../../../../operator/resources/pod/template-record.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const observedMs = 1_767_268_800_000
const running = (ordinal: number, more: object = {}): KubernetesObject =>
  ({
    kind: 'Pod',
    metadata: { name: podName(host, ordinal), namespace, uid: 'pod', labels: selectorLabels(host) },
    status: { podIP: `10.0.0.${ordinal + 1}`, ...more },
  }) as KubernetesObject
const reportOf = (id: string): ReturnType<typeof parseHealth> =>
  parseHealth(JSON.stringify({ program: 'host', p2p: { self: { id } } }))
const silent: HealthObserver['view'] = () => undefined

/** What is observed where there are these objects, and the replicas say this. */
function observed(
  objects: readonly KubernetesObject[],
  {
    of = host,
    view = silent,
    unwatched = [],
  }: {
    readonly of?: Host
    readonly view?: HealthObserver['view']
    readonly unwatched?: readonly PlacedClaim[]
  } = {},
): ObservedState {
  const parts = { view: viewOf(objects), observer: { view }, now: () => new Date(observedMs) }
  return observeState(parts, of, unwatched)
}

const withReplicas = (replicas: number, status: Host['status'] = {}): Host => ({
  ...host,
  status,
  spec: { ...host.spec, replicas },
})

test('observing reads what replicas reported last', () => {
  const state = observed([running(0)], { view: () => reportOf('me') })
  assert.equal(state.observedMs, observedMs)
  assert.equal(state.pods.get(0)?.ip, '10.0.0.1')
  assert.equal(state.views.get(0)?.peerID, 'me')
})

test('a peer ID that the status has counts more than what a replica says now', () => {
  const of = withReplicas(3, { nodes: [{ ordinal: 1, peerID: 'known' }] })
  const view: HealthObserver['view'] = (_, { ordinal }) => (ordinal === 2 ? null : reportOf('said'))
  assert.deepEqual(
    observed(
      [0, 1, 2].map((ordinal) => running(ordinal)),
      { of, view },
    ).peerIDs,
    new Map([
      [0, 'said'],
      [1, 'known'],
    ]),
  )
})

test('what answers at an external address is known once it was asked', () => {
  const services = {
    ...host.spec.services,
    p2p: { type: 'LoadBalancer', publicHealth: true },
  } as const
  const of: Host = { ...host, spec: { ...host.spec, services } }
  const metadata = childMetadata(host, p2pServiceName(host, 0))
  const ingress = [{ ip: '203.0.113.7' }]
  const service = { kind: 'Service', metadata, status: { loadBalancer: { ingress } } }
  const ready = running(0, { conditions: [{ type: 'Ready', status: 'True' }] })
  const found = (outside: ReturnType<HealthObserver['view']>): ObservedState =>
    observed([service as KubernetesObject, ready], {
      of,
      view: (_, { ip }) => (ip === '203.0.113.7' ? outside : reportOf('me')),
    })
  assert.deepEqual(found(undefined).discovered, [['/ip4/203.0.113.7/tcp/9171']])
  assert.deepEqual(found(undefined).external, new Map())
  assert.deepEqual(found(null).external, new Map([[0, 'nobody']]))
  assert.deepEqual(found(reportOf('me')).external, new Map([[0, 'replica']]))
})

const template = (image: string): Record<string, string> =>
  recordAnnotations({ inputs: 'abc', template: { metadata: { name: image } } })
const setWith = (more: object, of: Host = host): KubernetesObject =>
  ({
    kind: 'StatefulSet',
    metadata: { ...childMetadata(of, 'mainnet-host'), ...more },
    spec: { replicas: 2 },
  }) as KubernetesObject
const configWith = (annotations: Record<string, string>): KubernetesObject =>
  ({
    kind: 'ConfigMap',
    metadata: childMetadata(host, 'mainnet-host-config', { annotations }),
  }) as KubernetesObject

/** Which template was the last one, and whether that is known from the ConfigMap. */
const recordIn = (objects: readonly KubernetesObject[]): readonly unknown[] => {
  const { recorded, isParked } = observed(objects)
  return [recorded?.template.metadata?.name, isParked]
}

test('the last template is that of the StatefulSet, or of the ConfigMap while there is none', () => {
  const set = setWith({ annotations: template('in-set') })
  const config = configWith(template('parked'))
  assert.deepEqual(recordIn([set, config]), ['in-set', false])
  assert.deepEqual(recordIn([setWith({}), config]), [undefined, false])
  assert.deepEqual(recordIn([config]), ['parked', true])
  assert.deepEqual(recordIn([configWith({})]), [undefined, false])
  const former: Host = { ...host, metadata: { ...host.metadata, uid: 'former' } }
  const left = setWith({ annotations: template('of-former') }, former)
  assert.deepEqual(recordIn([left, config]), ['parked', true])
  const { set: none, counts } = observed([left])
  assert.deepEqual([none, counts], [null, null])
})

test('a StatefulSet that is being deleted is known as such, with its counts', () => {
  const { isSetTerminating, counts, set } = observed([
    setWith({ deletionTimestamp: '2026-01-01T00:00:00Z' }),
  ])
  assert.deepEqual(
    [isSetTerminating, counts?.wantedReplicas, set?.metadata?.name],
    [true, 2, 'mainnet-host'],
  )
  assert.equal(observed([setWith({})]).isSetTerminating, false)
  const none = observed([])
  assert.deepEqual([none.isSetTerminating, none.counts, none.set], [false, null, null])
})

const claimOf = (volume: Volume, ordinal: number, uid: string, annotations = {}): PlacedClaim => {
  const metadata = { name: `${volume}-mainnet-host-${ordinal}`, uid, annotations }
  return { volume, ordinal, claim: keepClaim({ metadata }) }
}
const watchedClaim = (ordinal: number): KubernetesObject => {
  const metadata = keptMetadata(host, `keys-mainnet-host-${ordinal}`)
  const labels = { ...metadata.labels, 'viewmesh.io/holds': 'keys' }
  const uid = `watched-${ordinal}`
  return { kind: 'PersistentVolumeClaim', metadata: { ...metadata, labels, uid } } as never
}
const uidsOf = (claims: readonly PlacedClaim[]): string[] => claims.map(({ claim }) => claim.uid)

test('claims of removed replicas are known, and count for none of the wanted ones', () => {
  const { allClaims, claims } = observed([watchedClaim(0), watchedClaim(1), watchedClaim(15)], {
    unwatched: [claimOf('keys', 0, 'old'), claimOf('data', 0, 'data')],
  })
  assert.deepEqual(uidsOf(allClaims), ['watched-0', 'watched-1', 'watched-15', 'data'])
  assert.deepEqual(uidsOf(claims), ['watched-0', 'data'])
})

test('an identity is what keyring, keys claim and status say of the same replica', () => {
  const mark = { 'viewmesh.io/keyring-fingerprint': 'marked' }
  const allClaims = [
    claimOf('data', 0, 'data'),
    claimOf('keys', 1, 'second', mark),
    claimOf('keys', 0, 'first', mark),
  ]
  const of = withReplicas(2, {
    nodes: [{ ordinal: 0, keyringFingerprint: 'known', keysClaimUID: 'first' }, { ordinal: 1 }],
  })
  const keyring = { fingerprints: new Map([[0, 'key']]) }
  const claim = { fingerprint: 'marked', isTerminating: false, volumeName: null }
  const second = { ordinal: 1, key: null, claim: { ...claim, uid: 'second' }, known: null }
  assert.deepEqual(identitiesOf(of, { allClaims }, keyring), [
    {
      ordinal: 0,
      key: 'key',
      claim: { ...claim, uid: 'first' },
      known: { fingerprint: 'known', claimUID: 'first' },
    },
    second,
  ])
  const [unused] = identitiesOf(of, { allClaims }, keyring, new Set(['first']))
  assert.equal(unused?.claim, null)
  const one = withReplicas(1, { nodes: [{ ordinal: 0, keyringFingerprint: 'known' }] })
  assert.deepEqual(
    identitiesOf(one, { allClaims }, keyring).map(({ known }) => known),
    [{ fingerprint: 'known', claimUID: null }],
  )
})
