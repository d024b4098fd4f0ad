import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeStatus } from '../../../../operator/api/status.ts'
import type { Host } from '../../../../operator/api.ts'
import { keepClaim, type PlacedClaim } from '../../../../operator/reconcile/observe/claim.ts'
import type { HealthView } from '../../../../operator/reconcile/observe/health-view.ts'
import {
  changedPeerID,
  changedSigningKeys,
  hasBegunOrEnded,
  type NodeFacts,
  nodeStatuses,
  totals,
} from '../../../../operator/reconcile/status/node-status.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const marked: PlacedClaim = {
  volume: 'keys',
  ordinal: 0,
  claim: keepClaim({
    metadata: { uid: 'claim', annotations: { 'viewmesh.io/keyring-fingerprint': 'abc' } },
  }),
}
const genesis = `0x${'ab'.repeat(32)}`
const lastBlockTime = '2026-01-02T03:04:05Z'
const view: HealthView = {
  peerID: 'first',
  genesis,
  chainID: 5,
  lastBlockTime,
  headStandsSince: null,
  signers: null,
  head: 10,
  lag: 2,
  peers: ['a', 'b'],
  upstreamMode: null,
  schema: 'current',
  identity: 'aa',
  trust: 'bootstrap',
  unready: null,
  errors: [],
}
const facts: NodeFacts = {
  claims: [marked],
  keyring: { exists: true, fingerprints: new Map([[0, 'abc']]) },
  views: new Map([[0, view]]),
  chainIDs: new Map(),
  discovered: [[]],
  clusterDomain: 'cluster.local',
}
const known: NodeStatus = {
  ordinal: 0,
  peerID: 'first',
  keyringFingerprint: 'abc',
  keysClaimUID: 'claim',
  head: 9,
  lag: 3,
  peers: 1,
}

const withNodes = (nodes: readonly NodeStatus[], replicas = 1): Host => ({
  ...minimal,
  spec: { ...minimal.spec, replicas },
  status: { nodes },
})

test('a suspended replica keeps its identity and its addresses, and has no figures', () => {
  const { spec } = minimal
  const addresses = ['/ip4/203.0.113.9/tcp/9171']
  const suspended: Host = { ...withNodes([known]), spec: { ...spec, suspend: true } }
  const seen = { ...facts, views: new Map(), discovered: [addresses] }
  assert.deepEqual(nodeStatuses(suspended, seen), [
    {
      ordinal: 0,
      peerID: 'first',
      keyringFingerprint: 'abc',
      keysClaimUID: 'claim',
      addresses: [
        '/ip4/203.0.113.9/tcp/9171/p2p/first',
        '/dns4/mainnet-host-0.mainnet-host-nodes.apps.svc.cluster.local/tcp/9171/p2p/first',
      ],
    },
  ])
})

test('a replica has its peer ID, its addresses and how far it is', () => {
  assert.deepEqual(nodeStatuses(withNodes([]), facts), [
    {
      ordinal: 0,
      peerID: 'first',
      identity: 'aa',
      genesis,
      chainID: 5,
      keyringFingerprint: 'abc',
      keysClaimUID: 'claim',
      addresses: [
        '/dns4/mainnet-host-0.mainnet-host-nodes.apps.svc.cluster.local/tcp/9171/p2p/first',
      ],
      head: 10,
      lastBlockTime,
      lag: 2,
      peers: 2,
    },
  ])
})

test('a replica that was not asked yet keeps its figures, one that does not answer loses them', () => {
  const unasked = nodeStatuses(withNodes([known]), { ...facts, views: new Map([[0, undefined]]) })
  const { head, lag, peers } = unasked[0] ?? {}
  assert.deepEqual({ head, lag, peers }, { head: 9, lag: 3, peers: 1 })
  const silent = nodeStatuses(withNodes([known]), { ...facts, views: new Map([[0, null]]) })
  assert.equal(silent[0]?.head, undefined)
  assert.equal(silent[0]?.peerID, 'first')
})

test('of a replica it is said what is known of it, and nothing of what is not', () => {
  const of = (before: Partial<NodeStatus>, seen: HealthView | null | undefined): unknown => {
    const given = { ...facts, claims: [], views: new Map([[0, seen]]) }
    return nodeStatuses(withNodes([{ ordinal: 0, ...before }]), given)[0]
  }
  const figures = { head: 9, lastBlockTime, lag: 3, peers: 1, upstreamMode: 'http' } as const
  assert.deepEqual(of({}, undefined), { ordinal: 0 })
  assert.deepEqual(of(figures, undefined), { ordinal: 0, ...figures })
  assert.deepEqual(of(figures, null), { ordinal: 0 })
  const starting: HealthView = {
    ...{ ...view, peerID: null, genesis: null, chainID: null, identity: null },
    ...{ head: null, lastBlockTime: null, lag: null, peers: [] },
  }
  assert.deepEqual(of(figures, starting), { ordinal: 0, peers: 0 })
  const watching: HealthView = { ...starting, head: 0, lag: 0, upstreamMode: 'websocket' }
  assert.deepEqual(of({}, watching), {
    ...{ ordinal: 0, head: 0, lag: 0, peers: 0, upstreamMode: 'websocket' },
  })
})

test('the chain ID of a Host is what its Generators say of the chain that it stores, or said', () => {
  const other = `0x${'cd'.repeat(32)}`
  const chainIDs = new Map([[genesis, 31_337]])
  const idOf = (host: Host, seen: HealthView | null, of: NodeFacts['chainIDs']): unknown =>
    nodeStatuses(host, { ...facts, views: new Map([[0, seen]]), chainIDs: of })[0]?.chainID
  const stores = { ...view, chainID: null }
  assert.equal(idOf(withNodes([]), stores, chainIDs), 31_337)
  assert.equal(idOf(withNodes([]), { ...stores, genesis: other }, chainIDs), undefined)
  const before = { ...known, genesis, chainID: 31_337 }
  assert.equal(idOf(withNodes([before]), stores, new Map()), 31_337)
  assert.equal(idOf(withNodes([before]), null, new Map()), 31_337)
  assert.equal(idOf(withNodes([before]), { ...stores, genesis: other }, new Map()), undefined)
})

test('the chain of a replica stays on record while it does not answer, and is no stranger’s', () => {
  const other = `0x${'cd'.repeat(32)}`
  const chainOf = (seen: HealthView | null | undefined): unknown[] => {
    const before = { ...known, genesis, chainID: 5, lastBlockTime }
    const [node] = nodeStatuses(withNodes([before]), { ...facts, views: new Map([[0, seen]]) })
    return [node?.genesis, node?.chainID, node?.lastBlockTime]
  }
  assert.deepEqual(chainOf(undefined), [genesis, 5, lastBlockTime])
  assert.deepEqual(chainOf(null), [genesis, 5, undefined])
  assert.deepEqual(chainOf({ ...view, genesis: other, chainID: 6 }), [other, 6, lastBlockTime])
  assert.deepEqual(chainOf({ ...view, genesis: null, chainID: null }), [
    undefined,
    undefined,
    lastBlockTime,
  ])
  assert.deepEqual(chainOf({ ...view, genesis: null, chainID: 7 }).slice(0, 2), [undefined, 7])
  const stranger = { ...view, peerID: 'second', genesis: other, chainID: 6 }
  assert.deepEqual(chainOf(stranger).slice(0, 2), [genesis, 5])
})

test('another peer ID with the same key is reported, and the old one stays on record', () => {
  const views = new Map([[0, { ...view, peerID: 'second' }]])
  const nodes = nodeStatuses(withNodes([known]), { ...facts, views })
  assert.equal(nodes[0]?.peerID, 'first')
  assert.equal(changedPeerID(nodes, views)?.reason, 'PeerIDChanged')
  for (const said of [view, { ...view, peerID: null }, null, undefined])
    assert.equal(changedPeerID(nodes, new Map([[0, said]])), null)
  assert.equal(changedPeerID([{ ordinal: 0 }], views), null)
})

test('a replica whose keys claim is not marked yet has the peer ID that it says, or said', () => {
  const peerIDOf = (nodes: readonly NodeStatus[], seen: HealthView | null): string | undefined =>
    nodeStatuses(withNodes(nodes), { ...facts, claims: [], views: new Map([[0, seen]]) })[0]?.peerID
  const said = { ...view, peerID: 'second' }
  assert.equal(peerIDOf([], said), 'second')
  assert.equal(peerIDOf([known], said), 'first')
  assert.equal(peerIDOf([known], null), 'first')
  assert.equal(peerIDOf([], null), undefined)
})

test('a figure begins with the first block, lag or peer, and ends with the last of them', () => {
  const all = { head: 7, lag: 0, peers: 1 }
  const { head, lag, peers } = all
  assert.equal(hasBegunOrEnded(all, { head: 8, lag: 3, peers: 2 }), false)
  for (const some of [
    { lag, peers },
    { head, peers },
    { head, lag },
    { ...all, peers: 0 },
  ]) {
    assert.equal(hasBegunOrEnded(some, all), true)
    assert.equal(hasBegunOrEnded(all, some), true)
  }
  assert.equal(hasBegunOrEnded({ peers: 0 }, {}), false)
})

test('the signing key of a silent replica stays on record while its keys claim is the same', () => {
  const signing = { ...known, identity: 'aa' }
  const signerOf = (given: Partial<NodeFacts>, before: NodeStatus = signing): string | undefined =>
    nodeStatuses(withNodes([before]), { ...facts, ...given })[0]?.identity
  assert.equal(signerOf({ views: new Map([[0, null]]) }), 'aa')
  assert.equal(signerOf({ views: new Map([[0, { ...view, identity: 'bb' }]]) }), 'bb')
  assert.equal(
    signerOf({ views: new Map([[0, { ...view, peerID: 'second', identity: 'bb' }]]) }),
    'aa',
    'of somebody else in its place nothing is taken',
  )
  const renewed = { ...signing, keysClaimUID: 'the claim before' }
  assert.equal(signerOf({ views: new Map([[0, null]]) }, renewed), undefined)
})

test('another key in the same key directory is reported with both, one of a new directory is not', () => {
  const before: NodeStatus = { ...known, identity: 'aa' }
  const after: NodeStatus = { ...known, identity: 'bb' }
  const other: NodeStatus = { ...before, ordinal: 1, identity: 'cc' }
  assert.deepEqual(changedSigningKeys([other, before], [after, other]), [
    'Replica 0 signs with bb, and did with aa.',
  ])
  assert.deepEqual(changedSigningKeys([before], [{ ...after, keysClaimUID: 'new' }]), [])
  assert.deepEqual(changedSigningKeys([known], [after]), [])
  assert.deepEqual(changedSigningKeys([before], [known]), [], 'none is known now')
})

test('with another key another peer ID is right', () => {
  const views = new Map([[0, { ...view, peerID: 'second' }]])
  const old = { ...known, keyringFingerprint: 'old' }
  const nodes = nodeStatuses(withNodes([old]), { ...facts, views })
  assert.equal(nodes[0]?.peerID, 'second')
  assert.equal(changedPeerID(nodes, views), null)
})

const second = { ...known, ordinal: 1, peerID: 'other', identity: 'bb' }
const remembered = {
  ordinal: 1,
  peerID: 'other',
  identity: 'bb',
  keyringFingerprint: 'abc',
  keysClaimUID: 'claim',
}

test('identities of removed replicas stay on record', () => {
  const both = { exists: true, fingerprints: new Map([0, 1].map((ordinal) => [ordinal, 'abc'])) }
  const nodes = nodeStatuses(withNodes([known, second]), { ...facts, keyring: both })
  assert.deepEqual(nodes[1], remembered)
})

test('a removed replica of which neither key nor keys claim is left is forgotten, and no other', () => {
  const of = (given: Partial<NodeFacts>, replicas = 1): unknown[] =>
    nodeStatuses(withNodes([known, second], replicas), { ...facts, ...given }).slice(1)
  assert.deepEqual(of({}), [])
  assert.deepEqual(of({ claims: [marked, { ...marked, ordinal: 1 }] }), [remembered])
  assert.deepEqual(of({ claims: [marked, { ...marked, ordinal: 1, volume: 'data' }] }), [])
  assert.deepEqual(of({ keyring: { exists: false, fingerprints: new Map() } }), [remembered])
  assert.deepEqual(of({ keyring: null }), [remembered])
  assert.equal((of({}, 2)[0] as NodeStatus).keyringFingerprint, 'abc', 'while it is wanted')
})

test('a removed replica that never had a key is forgotten', () => {
  const keyless: NodeStatus = { ordinal: 1, peerID: 'other' }
  const nodes = nodeStatuses(withNodes([known, keyless]), { ...facts, keyring: null })
  assert.deepEqual(
    nodes.map(({ ordinal }) => ordinal),
    [0],
  )
})

test('replicas are listed in the order of their numbers, however they were before', () => {
  const third = { ...remembered, ordinal: 2 }
  const nodes = nodeStatuses(withNodes([third, second, known]), { ...facts, keyring: null })
  assert.deepEqual(
    nodes.map(({ ordinal }) => ordinal),
    [0, 1, 2],
  )
})

test('a claim of a deleted resource, or one that is being deleted, says nothing of the new one', () => {
  const owner = { apiVersion: 'viewmesh.io/v1alpha1', kind: 'Host', name: 'mainnet', uid: 'former' }
  const former = { ...marked, claim: { ...marked.claim, owners: [owner] } }
  const going = { ...marked, claim: { ...marked.claim, isTerminating: true } }
  for (const claims of [[former], [going]]) {
    const [node] = nodeStatuses(withNodes([]), { ...facts, claims })
    assert.deepEqual([node?.keyringFingerprint, node?.keysClaimUID], [undefined, undefined])
  }
})

test('a peer ID that was seen before the key was known is not taken for that of the key', () => {
  const early: NodeStatus = { ordinal: 0, peerID: 'of the pod before' }
  assert.equal(nodeStatuses(withNodes([early]), facts)[0]?.peerID, 'first')
  const unasked = { ...facts, views: new Map([[0, undefined]]) }
  assert.equal(nodeStatuses(withNodes([early]), unasked)[0]?.peerID, undefined)
})

test('the claim of the data says nothing of the identity', () => {
  const data: PlacedClaim = { ...marked, volume: 'data', claim: keepClaim({}) }
  const [node] = nodeStatuses(withNodes([]), { ...facts, claims: [data, marked] })
  assert.deepEqual([node?.keyringFingerprint, node?.keysClaimUID], ['abc', 'claim'])
})

test('a lost claim leaves on record what it was', () => {
  const nodes = nodeStatuses(withNodes([known]), { ...facts, claims: [], views: new Map() })
  assert.equal(nodes[0]?.keyringFingerprint, 'abc')
  assert.equal(nodes[0]?.keysClaimUID, 'claim')
})

test('in total the slowest replica counts', () => {
  const nodes = [
    { ordinal: 0, head: 10, lag: 0, peers: 3 },
    { ordinal: 1, head: 7, lag: 3, peers: 1 },
  ]
  assert.deepEqual(totals(nodes), { head: 7, lag: 3, peers: 1 })
  assert.deepEqual(totals([]), {})
})
