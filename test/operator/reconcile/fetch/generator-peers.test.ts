import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../../../../operator/api/status.ts'
import type { Generator, Host } from '../../../../operator/api.ts'
import {
  chainIDOf,
  chainIDsOf,
  foreignGenerators,
  peersOf,
  referredGenerators,
  repeatedGenerators,
  schemaGenerator,
  unreadyReason,
  wasReconciled,
} from '../../../../operator/reconcile/fetch/generator-peers.ts'
import {
  peersStatement,
  schemaStatement,
} from '../../../../operator/reconcile/status/observed-conditions.ts'
import { peerID, readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const host: Host = {
  ...minimal,
  spec: {
    ...minimal.spec,
    generators: [{ name: 'first', namespace: 'validators' }, { name: 'second' }],
  },
}
const generator = (name: string, namespace: string, more: Partial<Generator> = {}): Generator => {
  const base = readGenerator('generator-minimal')
  return { ...base, metadata: { ...base.metadata, name, namespace }, ...more }
}
const first = generator('first', 'validators', { status: { nodes: [{ ordinal: 0, peerID }] } })
const second = generator('second', 'apps')
const withReady = (of: Generator, ready: Pick<Condition, 'status' | 'reason'>): Generator => {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const condition = { type: 'Ready', message: 'why', lastTransitionTime, ...ready }
  return { ...of, status: { ...of.status, conditions: [condition] } }
}
const referred = (...found: readonly Generator[]): ReturnType<typeof referredGenerators> =>
  referredGenerators(
    host,
    (namespace, name) =>
      found.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name) ??
      null,
  )

test('peers are the Generators whose peer ID is known', () => {
  assert.deepEqual(peersOf(referred(first, second), 'cluster.local'), [
    `/dns4/first-generator-nodes.validators.svc.cluster.local/tcp/9171/p2p/${peerID}`,
  ])
})

test('a Generator that is named with and without the namespace of the Host counts once', () => {
  const generators = [{ name: 'second' }, { name: 'second', namespace: 'apps' }]
  const twice: Host = { ...host, spec: { ...host.spec, generators } }
  const found = referredGenerators(twice, () => second)
  assert.deepEqual(
    found.map(({ reference }) => reference),
    [{ name: 'second', namespace: 'apps' }],
  )
  assert.deepEqual([repeatedGenerators(host), repeatedGenerators(twice)], [[], ['apps/second']])
})

test('the schema is that of the first Generator that lets this namespace have a key', () => {
  const source = schemaGenerator(host, referred(first, second), null)
  assert.equal(source?.reference.name, 'second')
  const open = { ...first, spec: { ...first.spec, schemaAuth: { allowedNamespaces: ['apps'] } } }
  assert.equal(schemaGenerator(host, referred(open, second), null)?.reference.name, 'first')
})

test('a source that was chosen stays while it is gone for a while, not when it refuses', () => {
  const current = { name: 'first', namespace: 'validators' }
  assert.equal(schemaGenerator(host, referred(second), current)?.reference.name, 'first')
  assert.equal(schemaGenerator(host, referred(first, second), current)?.reference.name, 'second')
})

test('a source that was chosen stays though one before it would do, and its namesake is not it', () => {
  const open = { schemaAuth: { allowedNamespaces: ['apps'] } }
  const before = { ...first, spec: { ...first.spec, ...open } }
  const sourceFor = (name: string, namespace: string): string | undefined =>
    schemaGenerator(host, referred(before, second), { name, namespace })?.reference.name
  assert.equal(sourceFor('second', 'apps'), 'second')
  assert.equal(sourceFor('second', 'validators'), 'first')
  assert.equal(sourceFor('another', 'apps'), 'first')
})

test('the chain ID of a Generator is what its node says, else what its spec wants', () => {
  const { chain } = second.spec
  const wanting = { ...second, spec: { ...second.spec, chain: { ...chain, id: 5 } } }
  assert.equal(chainIDOf({ ...wanting, status: { nodes: [{ ordinal: 0, chainID: 1 }] } }), 1)
  assert.equal(chainIDOf({ ...wanting, status: { nodes: [{ ordinal: 0 }] } }), 5)
  assert.equal(chainIDOf(wanting), 5)
  assert.equal(chainIDOf(second), null)
})

test('a Generator was reconciled once its status says of which generation it is', () => {
  const isDone = (observedGeneration?: number): boolean =>
    wasReconciled({
      ...second,
      status: { ...(observedGeneration !== undefined && { observedGeneration }) },
    })
  assert.deepEqual([undefined, -1, 0, 1].map(isDone), [false, false, true, true])
})

test('a Host without peers says what is missing', () => {
  const views = new Map()
  const none = { ...host, spec: { ...host.spec, generators: [] } }
  assert.equal(
    peersStatement(none, { referred: [], changed: [], views }).reason,
    'NoPeersConfigured',
  )
  assert.deepEqual(peersStatement(host, { referred: referred(second), changed: [], views }), {
    reason: 'GeneratorMissing',
    message: 'No such Generator: validators/first. Create it, or correct spec.generators.',
  })
})

test('a Generator in a namespace that is not watched is not called missing', () => {
  const watched = referredGenerators(
    host,
    () => null,
    (namespace) => namespace === 'apps',
  )
  assert.deepEqual(peersStatement(host, { referred: watched, changed: [], views: new Map() }), {
    reason: 'GeneratorNotWatched',
    message:
      "This operator does not watch the namespace of Generator validators/first: add it to the operator's namespaces (scope.namespaces of its chart), or write the address of the Generator into spec.bootstrapPeers.",
  })
})

test('the chain ID of a chain is what all Generators on it say', () => {
  const [same, other] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(32)}`]
  const on = (generator: Generator, genesis: string, chainID: number): Generator => ({
    ...generator,
    status: { nodes: [{ ordinal: 0, genesis, chainID }] },
  })
  const idsOf = (...generators: readonly Generator[]): unknown => [
    ...chainIDsOf(referred(...generators)),
  ]
  assert.deepEqual(idsOf(on(first, same, 1), on(second, same, 1)), [[same, 1]])
  assert.deepEqual(idsOf(on(first, same, 1), on(second, same, 61)), [])
  assert.deepEqual(idsOf(on(first, same, 1), on(second, other, 5)), [
    [same, 1],
    [other, 5],
  ])
  assert.deepEqual(idsOf(first), [])
  for (const half of [{ genesis: same }, { chainID: 1 }])
    assert.deepEqual(idsOf({ ...first, status: { nodes: [{ ordinal: 0, ...half }] } }), [])
})

test('a Generator is of another chain by its network, or by an ID that both have', () => {
  const chainOf = (chain: object): Generator => ({
    ...first,
    spec: { ...first.spec, chain: { ...host.spec.chain, ...chain } },
  })
  const isForeign = (chain: object, id?: number): boolean => {
    const spec = { ...host.spec, chain: { ...host.spec.chain, ...(id !== undefined && { id }) } }
    return foreignGenerators({ ...host, spec }, referred(chainOf(chain))).length > 0
  }
  assert.equal(isForeign({}), false)
  assert.equal(isForeign({}, 1), false)
  assert.equal(isForeign({ id: 1 }), false)
  assert.equal(isForeign({ id: 1 }, 1), false)
  assert.equal(isForeign({ id: 5 }, 1), true)
  assert.equal(isForeign({ network: 'Another' }), true)
  assert.deepEqual(foreignGenerators(host, referred()), [], 'none of them is there')
})

test('a Generator is up where its condition Ready says so, and it is not suspended', () => {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const saying = (status: 'True' | 'False', reason: string): string | null => {
    const other = { type: 'Paused', status: 'True', reason: 'NothingWaiting' } as const
    const conditions = [other, { type: 'Ready', status, reason } as const].map((condition) => ({
      ...{ ...condition, message: '', lastTransitionTime },
    }))
    return unreadyReason({ generator: { ...first, status: { conditions } } })
  }
  assert.equal(saying('True', 'AllReady'), null)
  assert.equal(saying('True', 'Suspended'), 'Suspended')
  assert.equal(saying('False', 'Initializing'), 'Initializing')
  assert.equal(unreadyReason({ generator: first }), 'Pending')
  assert.equal(unreadyReason({ generator: null }), null)
})

test('a lonely replica is explained', () => {
  const view = {
    peerID: 'me',
    genesis: null,
    chainID: null,
    head: null,
    lastBlockTime: null,
    headStandsSince: null,
    signers: null,
    lag: null,
    peers: [],
    upstreamMode: null,
    schema: 'embedded',
    trust: null,
    unready: null,
    identity: null,
    errors: [],
  } as const
  const facts = { referred: referred(first, second), changed: [], views: new Map([[0, view]]) }
  const messageOf = (...generators: readonly Generator[]): string => {
    const statement = peersStatement(host, { ...facts, referred: referred(...generators) })
    assert.equal(statement.reason, 'NotConnected')
    return statement.message
  }
  const failing = withReady(first, { status: 'False', reason: 'PodsFailing' })
  const ready = { status: 'True', reason: 'AllReady' } as const
  const why = 'kubectl describe generator first --namespace validators says why.'
  assert.equal(
    messageOf(failing, second),
    `No peer at replica 0, and not Ready: Generator validators/first (PodsFailing), apps/second (Pending). ${why}`,
  )
  assert.equal(
    messageOf(failing, withReady(second, ready)),
    `No peer at replica 0, and not Ready: Generator validators/first (PodsFailing). ${why} See also whether its other peers run and port 9171 is open between them.`,
  )
  const suspended = { status: 'True', reason: 'Suspended' } as const
  assert.equal(
    messageOf(withReady(first, suspended), withReady(second, suspended)),
    `No peer at replica 0, and suspended: Generator validators/first (Suspended), apps/second (Suspended). ${why}`,
  )
  assert.equal(
    messageOf(withReady(first, ready), withReady(second, ready)),
    'No peer at replica 0: the peer ID of apps/second is not known yet, see whether it runs.',
  )
})

test('a schema that no Generator lets this namespace have is reported with the remedy', () => {
  const facts = {
    schemaSource: null,
    keyless: null,
    isRefused: true,
    awaited: null,
    referred: [],
    views: new Map(),
  }
  assert.deepEqual(schemaStatement(host, facts), {
    reason: 'NotAllowed',
    message:
      'The embedded schema is used, since no Generator of spec.generators lets this namespace have a key: add apps to spec.schemaAuth.allowedNamespaces there.',
  })
})

test('a Generator whose key is not there yet is named', () => {
  const keyless = { name: 'second', namespace: 'apps' }
  const facts = {
    schemaSource: null,
    keyless,
    isRefused: false,
    awaited: null,
    referred: [],
    views: new Map(),
  }
  assert.match(schemaStatement(host, facts).message, /Generator apps\/second has no schema key yet/)
})
