/** What conditions say of peers and schemas, from what replicas say at `/health`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import { referredGenerators } from '../../../../operator/reconcile/fetch/generator-peers.ts'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import {
  conditionsOf,
  occurrencesOf,
} from '../../../../operator/reconcile/statements/conditions.ts'
import {
  peersStatement,
  schemaStatement,
  upstreamStatement,
} from '../../../../operator/reconcile/status/observed-conditions.ts'
import type { FailureReport } from '../../../../src/service/contract.ts'
import {
  type HealthState,
  startingState,
  toHealthReport,
} from '../../../../src/service/health/health-report.ts'
import { peerID, readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const other = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'
const address = '/ip4/203.0.113.9/tcp/9171'
const minimal = readHost('host-minimal')
const generator: Generator = {
  ...readGenerator('generator-minimal'),
  status: { nodes: [{ ordinal: 0, peerID }] },
}
const { name, namespace } = generator.metadata
const reference = { name, namespace }
const byAddress: Host = {
  ...minimal,
  spec: { ...minimal.spec, generators: [], bootstrapPeers: [`${address}/p2p/${other}`] },
}
const byReference: Host = { ...minimal, spec: { ...minimal.spec, generators: [reference] } }

const mismatch = (expected: string, actual: string): FailureReport => ({
  code: 'P2P_PEER_ID_MISMATCH',
  message: `peer id mismatch: expected ${expected}, but remote key matches ${actual}, at ${address}`,
  remedy: 'Set BOOTSTRAP_PEERS.',
  expected_peer: expected,
})
const refusal: FailureReport = {
  code: 'HOST_SCHEMA_UNAUTHORIZED',
  message: 'the Generator at http://generator:8080/api/v1/schema does not accept the token',
  remedy: 'Set GENERATOR_SCHEMA_AUTH_TOKEN.',
}

/** What is read of the answer of a Host in this state. */
function viewOf(peers: readonly string[], more: Partial<HealthState>): HealthView {
  const found = peers.map((id) => ({ id, addresses: [] }))
  const state: HealthState = {
    ...startingState('Ethereum', 'Mainnet'),
    ready: true,
    schema: { state: 'embedded', differing: [] },
    p2p: { self: { id: 'me', addresses: [] }, peers: found },
    ...more,
  }
  const context = { program: 'host', version: '1.2.3', startedMs: 0, nowMs: 1_000 } as const
  const view = parseHealth(JSON.stringify(toHealthReport(state, context)))
  assert.ok(view)
  return view
}

const referredOf = (host: Host) => referredGenerators(host, () => generator)

test('a replica that finds another peer names both IDs, the address, and what to write where', () => {
  const views = new Map([
    [0, viewOf([peerID], {})],
    [1, viewOf([], { errors: [mismatch(other, peerID), refusal] })],
  ])
  const statement = peersStatement(byAddress, { referred: [], changed: [], views })
  assert.deepEqual(conditionsOf({ PeersConnected: statement }), [
    {
      type: 'PeersConnected',
      status: 'False',
      reason: 'PeerIDMismatch',
      message: `Replica 1: peer id mismatch: expected ${other}, but remote key matches ${peerID}, at ${address}. If that is the peer you mean, write its ID into spec.bootstrapPeers, else correct the address there.`,
    },
  ])
})

test('an ID that was discovered from a Generator need not be written by hand', () => {
  const views = new Map([[0, viewOf([], { errors: [mismatch(peerID, other)] })]])
  const { bootstrapPeers = [] } = byAddress.spec
  const host = { ...byReference, spec: { ...byReference.spec, bootstrapPeers } }
  const { reason, message } = peersStatement(host, {
    referred: referredOf(host),
    changed: [],
    views,
  })
  assert.equal(reason, 'PeerIDMismatch')
  assert.match(message, /The expected ID was discovered from a Generator, and is discovered again/)
})

test('an ID of the spec is corrected in the spec, also where a Generator answers in its place', () => {
  const views = new Map([[0, viewOf([], { errors: [mismatch(other, peerID)] })]])
  const { bootstrapPeers = [] } = byAddress.spec
  const host = { ...byReference, spec: { ...byReference.spec, bootstrapPeers } }
  const { message } = peersStatement(host, { referred: referredOf(host), changed: [], views })
  assert.match(message, /write its ID into spec\.bootstrapPeers/)
})

test('a Generator that is named with its namespace and without counts once, and is reported', () => {
  const own = { name, namespace: minimal.metadata.namespace }
  const generators = [{ name }, { ...own, name: 'other' }, own]
  const host: Host = { ...minimal, spec: { ...minimal.spec, generators } }
  const views = new Map([[0, viewOf([peerID], {})]])
  const referred = referredOf(host)
  assert.deepEqual(
    referred.map(({ reference }) => reference.name),
    [name, 'other'],
  )
  assert.deepEqual(peersStatement(host, { referred, changed: [], views }), {
    reason: 'ConnectedInPart',
    message: `Every replica that answers has a peer. Generator ${own.namespace}/${name} is named more than once in spec.generators, with its namespace and without, and counts once: leave one of the two out.`,
  })
})

test('an address in bootstrapPeers with an ID that nobody can have is said to be left out', () => {
  const address = `/dns4/generator.example.org/tcp/9171/p2p/12D3KooW${'z'.repeat(44)}`
  const host = { ...byAddress, spec: { ...byAddress.spec, bootstrapPeers: [address] } }
  const leftOut = `Left out of spec.bootstrapPeers, since no peer can have such an ID: ${address}. Copy it again from p2p.self.id in the /health of that node.`
  const said = (peers: readonly string[]): { reason: string; message: string } =>
    peersStatement(host, { referred: [], changed: [], views: new Map([[0, viewOf(peers, {})]]) })
  assert.deepEqual(said([peerID]), {
    reason: 'ConnectedInPart',
    message: `Every replica that answers has a peer. ${leftOut}`,
  })
  assert.deepEqual(said([]), {
    reason: 'NotConnected',
    message: `No peer at replica 0: see whether its peers run and port 9171 is open between them. ${leftOut}`,
  })
})

test('a wrong ID among several peers leaves the condition True, and is reported in an Event', () => {
  const connected = viewOf([peerID], {})
  const facts = { referred: [], changed: [], views: new Map([[0, connected]]) }
  const before = conditionsOf({ PeersConnected: peersStatement(byAddress, facts) })
  assert.equal(before[0]?.reason, 'Connected')
  const views = new Map([[0, viewOf([peerID], { errors: [mismatch(other, peerID)] })]])
  const statement = peersStatement(byAddress, { referred: [], changed: [], views })
  const after = conditionsOf({ PeersConnected: statement })
  assert.deepEqual([after[0]?.status, after[0]?.reason], ['True', 'ConnectedInPart'])
  assert.match(
    after[0]?.message ?? '',
    /^Every replica that answers has a peer\. Replica 0: peer id mismatch/,
  )
  const at = { lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }
  const known = before.map((condition) => ({ ...condition, ...at }))
  assert.deepEqual(
    occurrencesOf(known, after).map(({ type, reason }) => [type, reason]),
    [['Normal', 'ConnectedInPart']],
  )
})

test('a Generator that refuses the key is explained, with what to do if it stays so', () => {
  const facts = {
    schemaSource: reference,
    keyless: null,
    isRefused: false,
    awaited: null,
    referred: [],
  }
  const fork = { code: 'HOST_FORK_TOO_DEEP', message: 'peers are on another branch' }
  const views = new Map([[0, viewOf([peerID], { errors: [fork, refusal] })]])
  const statement = schemaStatement(byReference, { ...facts, views })
  assert.deepEqual(conditionsOf({ SchemaInSync: statement }), [
    {
      type: 'SchemaInSync',
      status: 'False',
      reason: 'Unauthorized',
      message: `Generator ${namespace}/${name} refuses the key, and the embedded schema is used: ${refusal.message}. It takes a key that was just changed within two minutes; if it stays so, set its annotation viewmesh.io/roll-at.`,
    },
  ])
  const unread = new Map([[0, viewOf([peerID], {})]])
  assert.equal(schemaStatement(byReference, { ...facts, views: unread }).reason, 'Unreachable')
  const current = viewOf([peerID], { schema: { state: 'current', differing: [] } })
  const matched = schemaStatement(byReference, { ...facts, views: new Map([[0, current]]) })
  assert.equal(matched.reason, 'Matched')
})

test('a Host of an earlier version reports one error, which is understood as well', () => {
  const { code, message } = refusal
  const body = { program: 'host', p2p: { self: { id: 'me' } }, error: { code, message } }
  assert.deepEqual(parseHealth(JSON.stringify(body))?.errors, [{ code, message }])
})

/** The Generator if it were of another chain, as a Host sees it that names it. */
const elsewhere: Generator = {
  ...generator,
  spec: { ...generator.spec, chain: { name: 'Ethereum', network: 'Sepolia' } },
}
const foreign = referredGenerators(byReference, () => elsewhere)
const otherChain = `Of another chain than this Host (Ethereum__Mainnet): Generator ${namespace}/${name} (Ethereum__Sepolia). Correct spec.generators, or create another Host for that chain.`

test('a Generator of another chain is reported as that, whatever it allows, and is no peer', () => {
  const different = viewOf([peerID], { schema: { state: 'different', differing: ['network'] } })
  const facts = { referred: foreign, changed: [], views: new Map([[0, different]]) }
  const prefix = { reason: 'PrefixMismatch', message: otherChain }
  for (const found of [
    { schemaSource: reference, keyless: null, isRefused: false, awaited: null },
    { schemaSource: null, keyless: reference, isRefused: false, awaited: null },
    { schemaSource: null, keyless: null, isRefused: true, awaited: null },
  ]) {
    assert.deepEqual(schemaStatement(byReference, { ...found, ...facts }), prefix)
  }
  assert.deepEqual(peersStatement(byReference, facts), {
    reason: 'PrefixMismatch',
    message: `No peer of its chain at replica 0. ${otherChain}`,
  })
})

test('a Generator of another chain beside one of its own is reported as something to correct', () => {
  const views = new Map([[0, viewOf([peerID, other], {})]])
  assert.deepEqual(peersStatement(byReference, { referred: foreign, changed: [], views }), {
    reason: 'ConnectedInPart',
    message: `Every replica that answers has a peer. ${otherChain}`,
  })
  const own = { name: 'own', namespace }
  const both = [...foreign, { reference: own, generator, isWatched: true }]
  const facts = {
    schemaSource: own,
    keyless: null,
    isRefused: false,
    awaited: null,
    referred: both,
    views,
  }
  assert.equal(schemaStatement(byReference, facts).reason, 'Unreachable')
  const fromForeign = { ...facts, schemaSource: reference }
  const withoutKey = { ...facts, schemaSource: null, keyless: reference }
  for (const chosen of [fromForeign, withoutKey])
    assert.equal(schemaStatement(byReference, chosen).reason, 'PrefixMismatch')
})

test('peers that come and go change no message, so that they cost no write of the status', () => {
  const withPeers = (peers: readonly string[]): string =>
    peersStatement(byAddress, {
      referred: [],
      changed: [],
      views: new Map([[0, viewOf(peers, {})]]),
    }).message
  assert.equal(withPeers([peerID]), withPeers([peerID, other]))
})

test('a Host with missing Generators says so of its schema, and one that names none does not', () => {
  const nothing = { schemaSource: null, keyless: null, isRefused: false, awaited: null }
  const none = { ...nothing, referred: [], views: new Map() }
  assert.deepEqual(schemaStatement(byReference, none), {
    reason: 'GeneratorMissing',
    message:
      'No Generator of spec.generators is seen, so the embedded schema is used: see PeersConnected.',
  })
  assert.equal(schemaStatement(byAddress, none).reason, 'Embedded')
})

test('a failing execution node comes with what to do about it', () => {
  const reported = (errors: readonly FailureReport[]): string => {
    const { reason, message } = upstreamStatement(viewOf([], { errors }))
    return `${reason}: ${message}`
  }
  const error = (code: string): FailureReport => ({ code, message: 'no.', remedy: 'Do it.' })
  assert.equal(
    reported([error('CHAIN_TIMEOUT')]),
    'Unreachable: no (CHAIN_TIMEOUT). See whether it runs, and whether spec.upstream says where.',
  )
  assert.equal(
    reported([error('CHAIN_UNAUTHORIZED')]),
    'Unauthorized: no (CHAIN_UNAUTHORIZED). Correct the Secret of spec.upstream.auth.',
  )
  assert.equal(
    reported([error('CHAIN_METHOD_MISSING')]),
    'MethodMissing: no (CHAIN_METHOD_MISSING). Correct spec.upstream, or switch on the eth methods of that node for HTTP and WebSocket.',
  )
  assert.equal(reported([error('CHAIN_RPC_ERROR')]), 'Failing: no (CHAIN_RPC_ERROR). Do it.')
  const filling = error('STORE_NEARLY_FULL')
  assert.match(reported([error('CHAIN_TIMEOUT'), filling]), /^Unreachable: no \(CHAIN_TIMEOUT\)/)
  assert.equal(
    reported([filling]),
    reported([]),
    'the volume of the store is no matter of the node',
  )
  assert.match(
    reported([]),
    /^Unreachable: The execution node does not answer\. See whether it runs/,
  )
})

test('all peers that cannot be reached or are of another network are reported with what to do', () => {
  const unreached = (peer: string): FailureReport => ({
    code: 'P2P_ALL_DIALS_FAILED',
    message: `all dials failed to the peer ${peer}: no route`,
  })
  const errors = [unreached(other), unreached('another')]
  const reported = `Replica 0: all dials failed to the peer ${other}: no route; all dials failed to the peer another: no route (P2P_ALL_DIALS_FAILED). See whether that peer runs, and whether port 9171 is open to it.`
  const facts = { referred: [], changed: [] }
  assert.deepEqual(
    peersStatement(byAddress, { ...facts, views: new Map([[0, viewOf([peerID], { errors })]]) }),
    {
      reason: 'ConnectedInPart',
      message: `Every replica that answers has a peer. ${reported}`,
    },
  )
  const isolated = peersStatement(byAddress, {
    ...facts,
    views: new Map([[0, viewOf([], { errors })]]),
  })
  assert.equal(isolated.reason, 'NotConnected')
  assert.ok(isolated.message.endsWith(reported))
  const elsewhere = { code: 'P2P_OTHER_NETWORK', message: 'it serves Ethereum__Sepolia' }
  assert.deepEqual(
    peersStatement(byAddress, {
      ...facts,
      views: new Map([[0, viewOf([], { errors: [elsewhere] })]]),
    }),
    {
      reason: 'PrefixMismatch',
      message:
        'No peer of its chain at replica 0. Replica 0: it serves Ethereum__Sepolia (P2P_OTHER_NETWORK). Correct spec.bootstrapPeers, or create another Host for that chain.',
    },
  )
})

test('a Host without the address of a Generator with another identity refers to SignersAgree', () => {
  const changed = [{ generator: `${namespace}/${name}` }]
  const views = new Map([[0, viewOf([], {})]])
  assert.deepEqual(
    peersStatement(byReference, { referred: referredOf(byReference), changed, views }),
    {
      reason: 'NotConnected',
      message: `No peer at replica 0. It is not given the address of Generator ${namespace}/${name}, which says another identity than the one accepted of it: see SignersAgree.`,
    },
  )
})

test('a schema that cannot be read or reached for long is reported with the message of the Host', () => {
  const nothing = { schemaSource: reference, keyless: null, isRefused: false, awaited: null }
  const reported = (code: string): unknown => {
    const views = new Map([[0, viewOf([peerID], { errors: [{ code, message: 'It is so.' }] })]])
    return schemaStatement(byReference, { ...nothing, referred: [], views })
  }
  const embedded = 'and the embedded one is used'
  assert.deepEqual(reported('HOST_SCHEMA_UNREADABLE'), {
    reason: 'Unreadable',
    message: `What Generator ${namespace}/${name} answers is no schema, ${embedded}: It is so. Run one version of both.`,
  })
  assert.deepEqual(reported('HOST_SCHEMA_UNREACHABLE'), {
    reason: 'Unreachable',
    message: `The schema of Generator ${namespace}/${name} could not be read, ${embedded}: see whether it runs and port 8080 is open to it. It says: It is so.`,
  })
})

test('a node whose head stands still responds, and is said to; one that is offline is not', () => {
  const since = Date.UTC(2026, 0, 2, 3, 4, 5)
  const standing: HealthState = {
    ...startingState('Local', 'Devnet'),
    sourceHead: 7,
    sourceHeadSinceMs: since,
    upstreamMode: 'websocket',
  }
  const seen = (state: HealthState, nowMs: number): ReturnType<typeof upstreamStatement> => {
    const context = { program: 'generator', version: '1', startedMs: since, nowMs } as const
    return upstreamStatement(parseHealth(JSON.stringify(toHealthReport(state, context))))
  }
  assert.equal(seen(standing, since + 59_000).reason, 'WebSocket')
  assert.deepEqual(seen(standing, since + 60_000), {
    reason: 'HeadStandsStill',
    message:
      'The execution node responds, and its head has stood still since 2026-01-02T03:04:05Z. See whether it is in sync and has its consensus client; a chain that rests looks the same.',
  })
  const errors = [{ code: 'CHAIN_TIMEOUT', message: 'geth:8545 did not answer within 10000 ms' }]
  const hanging = { ...standing, upstreamMode: 'offline', errors } as const
  assert.equal(seen(hanging, since + 60_000).reason, 'Unreachable')
  const silent = { ...standing, upstreamMode: 'offline' } as const
  assert.equal(seen(silent, since + 60_000).reason, 'Unreachable')
})

test('a Generator with another chain ID than the Host wants is named with both', () => {
  const { chain } = byReference.spec
  const host: Host = { ...byReference, spec: { ...byReference.spec, chain: { ...chain, id: 1 } } }
  const foreign: Generator = {
    ...generator,
    status: { nodes: [{ ordinal: 0, peerID, chainID: 5 }] },
  }
  const referred = referredGenerators(host, () => foreign)
  const views = new Map([[0, viewOf([peerID], {})]])
  const { reason, message } = peersStatement(host, { referred, changed: [], views })
  assert.equal(reason, 'PrefixMismatch')
  assert.match(
    message,
    /this Host \(Ethereum__Mainnet, chain ID 1\): Generator .*\(Ethereum__Mainnet, chain ID 5\)\./,
  )
})
