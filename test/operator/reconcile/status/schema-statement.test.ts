/** What a Host's condition says of its schema and a Generator's of its node, from what replicas say of theirs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import { referredGenerators } from '../../../../operator/reconcile/fetch/generator-peers.ts'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import {
  peersStatement,
  schemaStatement,
  upstreamStatement,
} from '../../../../operator/reconcile/status/observed-conditions.ts'
import { peerID, readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const generator: Generator = {
  ...readGenerator('generator-minimal'),
  status: { nodes: [{ ordinal: 0, peerID }] },
}
const { name, namespace } = generator.metadata
const source = { name, namespace }
const minimal = readHost('host-minimal')
const host: Host = { ...minimal, spec: { ...minimal.spec, generators: [source] } }
const unobserved = { reason: 'Unobserved', message: 'No pod could be asked for its health.' }

/** Replicas by what they report; null for one that could not be asked. */
const viewsOf = (...reports: readonly (object | null)[]): Map<number, HealthView | null> =>
  new Map(
    reports.map((report, ordinal) => [
      ordinal,
      report && parseHealth(JSON.stringify({ program: 'host', p2p: {}, ...report })),
    ]),
  )

type SeenSchema = Parameters<typeof schemaStatement>[1]
const schemaOf = (views: SeenSchema['views'], seen: Partial<SeenSchema> = {}) => {
  const read = { schemaSource: source, keyless: null, isRefused: false, awaited: null }
  return schemaStatement(host, { ...read, referred: [], views, ...seen })
}
const schema = (state: string) => ({ schema: { state } })
const unreached = {
  reason: 'Unreachable',
  message: `The schema of Generator ${namespace}/${name} could not be read, and the embedded one is used: see whether it runs and port 8080 is open to it.`,
}

test('a schema is that of the Generator where every replica says so that says anything of it', () => {
  const equal = { reason: 'Matched', message: `Equal to that of Generator ${namespace}/${name}.` }
  assert.deepEqual(schemaOf(viewsOf(schema('current'))), equal)
  assert.deepEqual(schemaOf(viewsOf(schema('current'), null, {})), equal)
  assert.deepEqual(schemaOf(viewsOf(schema('current'), schema('embedded'))), unreached)
  assert.deepEqual(schemaOf(viewsOf(schema('embedded'))), unreached)
})

test('a schema that differs at one replica differs, but for what that one says itself', () => {
  const views = viewsOf(schema('current'), schema('embedded'), schema('different'))
  assert.deepEqual(schemaOf(views), {
    reason: 'Different',
    message: `Fields differ from those of Generator ${namespace}/${name}: run one version of both.`,
  })
  const errors = [{ code: 'HOST_SCHEMA_UNREADABLE', message: 'no JSON' }]
  const failing = viewsOf(schema('different'), { ...schema('different'), errors })
  assert.equal(schemaOf(failing).reason, 'Unreadable')
})

test('nothing is said of a schema while its key is on the way, or no replica says anything', () => {
  const current = viewsOf(schema('current'))
  assert.deepEqual(schemaOf(viewsOf(null)), unobserved)
  assert.deepEqual(schemaOf(viewsOf({})), unobserved)
  assert.deepEqual(schemaOf(current, { schemaSource: null, awaited: source }), unobserved)
  assert.deepEqual(schemaOf(current, { schemaSource: null, keyless: source }), {
    reason: 'Unreachable',
    message: `Generator ${namespace}/${name} has no schema key yet, or none that the operator may read, and the embedded schema is used: see whether the Secret with its keys is there.`,
  })
})

test('a Host that names no Generator has the embedded schema, whatever its replicas say', () => {
  const facts = { schemaSource: null, keyless: null, isRefused: false, awaited: null }
  const bare: Host = { ...minimal, spec: { ...minimal.spec, generators: [] } }
  assert.deepEqual(
    schemaStatement(bare, { ...facts, referred: [], views: viewsOf(schema('different')) }),
    { reason: 'Embedded', message: 'No Generator is named, so the embedded schema is used.' },
  )
})

test('an execution node is reached as the Generator says, and not where it says nothing', () => {
  const said = (report: object | null): unknown => upstreamStatement(viewsOf(report).get(0) ?? null)
  assert.deepEqual(said(null), unobserved)
  assert.deepEqual(said({ upstream_mode: 'websocket' }), {
    reason: 'WebSocket',
    message: 'New blocks are reported over WebSocket.',
  })
  assert.deepEqual(said({ upstream_mode: 'http' }), {
    reason: 'HttpOnly',
    message: 'New blocks are polled for over HTTP.',
  })
  const silent = {
    reason: 'Unreachable',
    message:
      'The execution node does not answer. See whether it runs, and whether spec.upstream says where.',
  }
  assert.deepEqual(said({ upstream_mode: 'offline' }), silent)
  assert.deepEqual(said({}), silent)
  const errors = [{ code: 'CHAIN_RPC_ERROR', message: 'it fails' }]
  assert.deepEqual(said({ upstream_mode: 'http', errors }), {
    reason: 'Failing',
    message: 'it fails (CHAIN_RPC_ERROR). See the log of the pod.',
  })
})

/** Says which peers a replica has, and what it reports. */
const peers = (ids: readonly string[], ...errors: readonly object[]) => ({
  p2p: { self: { id: 'me' }, peers: ids.map((id) => ({ id })) },
  errors,
})
const elsewhere = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'
const mismatch = {
  code: 'P2P_PEER_ID_MISMATCH',
  message: 'another peer is there',
  expected_peer: elsewhere,
}
const peersOf = (
  views: SeenSchema['views'],
  of: Host = host,
  found: Generator | null = generator,
) => peersStatement(of, { referred: referredGenerators(of, () => found), changed: [], views })

test('a missing Generator is reported where a replica has no peer, or where none answers', () => {
  const missing = {
    reason: 'GeneratorMissing',
    message: `No such Generator: ${namespace}/${name}. Create it, or correct spec.generators.`,
  }
  const connected = peers([elsewhere])
  assert.deepEqual(peersOf(viewsOf(connected, peers([])), host, null), missing)
  assert.deepEqual(peersOf(viewsOf(null), host, null), missing)
  assert.equal(peersOf(viewsOf(connected, null), host, null).reason, 'Connected')
  assert.deepEqual(peersOf(viewsOf(null)), unobserved)
})

test('of replicas without peers it is said what they find, and not what others find', () => {
  const wrong = peers([elsewhere], mismatch)
  assert.deepEqual(peersOf(viewsOf(wrong, peers([]))), {
    reason: 'NotConnected',
    message: `No peer at replica 1, and not Ready: Generator ${namespace}/${name} (Pending). kubectl describe generator ${name} --namespace ${namespace} says why.`,
  })
  assert.deepEqual(peersOf(viewsOf(wrong, peers([], mismatch))), {
    reason: 'PeerIDMismatch',
    message:
      'Replica 1: another peer is there. The expected ID was discovered from a Generator, and is discovered again once that one answers.',
  })
})

test('another peer is not taken for a Generator where nobody says which ID was expected', () => {
  const { expected_peer: _, ...found } = mismatch
  const bootstrapPeers = [`/ip4/203.0.113.9/tcp/9171/p2p/${elsewhere}`]
  const both: Host = { ...host, spec: { ...host.spec, bootstrapPeers } }
  const unknown = readGenerator('generator-minimal')
  const { message } = peersOf(viewsOf(peers([], found)), both, unknown)
  assert.match(message, /write its ID into spec\.bootstrapPeers/)
})

test('only a Host that names no Generator and no address is told to name a peer', () => {
  const withSpec = (spec: Partial<Host['spec']>): Host => ({
    ...minimal,
    spec: { ...minimal.spec, generators: [], bootstrapPeers: [], ...spec },
  })
  const lonely = viewsOf(peers([]))
  assert.deepEqual(peersOf(lonely, withSpec({})), {
    reason: 'NoPeersConfigured',
    message:
      'Name a peer: a Generator of this cluster in generators, or an address in bootstrapPeers.',
  })
  const bootstrapPeers = [`/ip4/203.0.113.9/tcp/9171/p2p/${elsewhere}`]
  assert.equal(peersOf(lonely, withSpec({ bootstrapPeers })).reason, 'NotConnected')
  assert.equal(peersOf(lonely, withSpec({ generators: [source] })).reason, 'NotConnected')
  const { services } = minimal.spec
  const p2p = { ...services.p2p, type: 'LoadBalancer' } as const
  const exposed = withSpec({ services: { ...services, p2p } })
  assert.equal(peersOf(lonely, exposed).reason, 'NotConnected', 'others may come to it')
})
