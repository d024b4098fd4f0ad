import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import {
  generatorNetworkPolicy,
  hostNetworkPolicy,
  type NetworkPolicy,
} from '../../../../operator/resources/objects/network-policy.ts'
import { ports } from '../../../../src/service/contract.ts'
import {
  generatorContext,
  hostContext,
  peerID,
  readGenerator,
  readHost,
} from '../../../support/resources/operator-cases.ts'
import { checkFlows, machine, outside, pod } from '../../support/network-flows.ts'
import type { Endpoint } from '../../support/network-policy.ts'

const prometheus = pod('monitoring', { 'app.kubernetes.io/name': 'prometheus' })
const operator = pod('viewmesh-system', { 'app.kubernetes.io/name': 'viewmesh-operator' })
const app = pod('shop', { app: 'shop' })
const nameServer = pod('kube-system', { 'k8s-app': 'kube-dns' })
const generatorPod = (namespace: string, instance: string): Endpoint =>
  pod(namespace, {
    'app.kubernetes.io/name': 'generator',
    'app.kubernetes.io/instance': instance,
  })

function defined(policy: NetworkPolicy | null): NetworkPolicy {
  assert.ok(policy)
  return policy
}

const inCluster = defined(
  hostNetworkPolicy(readHost('host-minimal'), hostContext, [ports.publicHealth]),
)
checkFlows('a Host inside the cluster', inCluster, [
  { name: 'a probe', direction: 'in', other: machine, port: 8080, passes: true },
  {
    name: 'the operator asking for health',
    direction: 'in',
    other: operator,
    port: 8080,
    passes: true,
  },
  { name: 'Prometheus', direction: 'in', other: prometheus, port: 8080, passes: true },
  { name: 'an application’s query', direction: 'in', other: app, port: 9181, passes: true },
  { name: 'the playground from a pod', direction: 'in', other: app, port: 9182, passes: true },
  {
    name: 'a peer of this cluster',
    direction: 'in',
    other: generatorPod('validators', 'a'),
    port: 9171,
    passes: true,
  },
  { name: 'a peer from outside', direction: 'in', other: outside, port: 9171, passes: true },
  { name: 'a query from outside', direction: 'in', other: outside, port: 9181, passes: false },
  { name: 'metrics from outside', direction: 'in', other: outside, port: 8080, passes: false },
  { name: 'health from outside', direction: 'in', other: outside, port: 9183, passes: false },
  {
    name: 'a pod asking for health by a P2P Service of type ClusterIP',
    direction: 'in',
    other: app,
    port: 9183,
    passes: true,
  },
  { name: 'another port from a pod', direction: 'in', other: app, port: 9229, passes: false },
  {
    name: 'UDP to the peer-to-peer port',
    direction: 'in',
    other: outside,
    port: 9171,
    protocol: 'UDP',
    passes: false,
  },
  {
    name: 'a look-up of a name',
    direction: 'out',
    other: nameServer,
    port: 53,
    protocol: 'UDP',
    passes: true,
  },
  { name: 'a long look-up over TCP', direction: 'out', other: nameServer, port: 53, passes: true },
  { name: 'a peer outside', direction: 'out', other: outside, port: 9171, passes: true },
  { name: 'anything else outside', direction: 'out', other: outside, port: 443, passes: false },
  {
    name: 'an execution node',
    direction: 'out',
    other: pod('nodes', { app: 'geth' }),
    port: 8545,
    passes: false,
  },
  { name: 'the API server', direction: 'out', other: outside, port: 6443, passes: false },
])

const peers = [`/dns4/far.example.org/tcp/29171/p2p/${peerID}`]
const isPublic = defined(hostNetworkPolicy(readHost('host-full'), { peers }, [ports.publicHealth]))
checkFlows('a Host that is shown outside', isPublic, [
  {
    name: 'a dashboard asking for health',
    direction: 'in',
    other: outside,
    port: 9183,
    passes: true,
  },
  { name: 'metrics from outside', direction: 'in', other: outside, port: 8080, passes: false },
  { name: 'Prometheus', direction: 'in', other: prometheus, port: 8080, passes: true },
  { name: 'a query from outside', direction: 'in', other: outside, port: 9181, passes: true },
  { name: 'another port from outside', direction: 'in', other: outside, port: 9229, passes: false },
  {
    name: 'the schema of its Generator',
    direction: 'out',
    other: generatorPod('validators', 'sepolia'),
    port: 8080,
    passes: true,
  },
  {
    name: 'the schema of a Generator of its own namespace',
    direction: 'out',
    other: generatorPod('apps', 'second'),
    port: 8080,
    passes: true,
  },
  {
    name: 'the schema of somebody else’s Generator',
    direction: 'out',
    other: generatorPod('validators', 'other'),
    port: 8080,
    passes: false,
  },
  {
    name: 'a configured peer on its port',
    direction: 'out',
    other: outside,
    port: 19_171,
    passes: true,
  },
  {
    name: 'a discovered peer on its port',
    direction: 'out',
    other: outside,
    port: 29_171,
    passes: true,
  },
  { name: 'the registry’s RPC', direction: 'out', other: outside, port: 443, passes: true },
  { name: 'the registry’s LCD', direction: 'out', other: outside, port: 1317, passes: true },
  { name: 'another port outside', direction: 'out', other: outside, port: 8443, passes: false },
])

const besideMachine = defined(
  hostNetworkPolicy(readHost('host-full'), { peers, hasHostNetworkSource: true }, [
    ports.publicHealth,
  ]),
)
checkFlows('a Host whose Generator is in the network of its machine', besideMachine, [
  { name: 'its schema there', direction: 'out', other: machine, port: 8080, passes: true },
  { name: 'another port there', direction: 'out', other: machine, port: 8081, passes: false },
])
checkFlows('a Host whose Generators are in the network of pods', isPublic, [
  { name: 'port 8080 of a machine', direction: 'out', other: machine, port: 8080, passes: false },
])

/** The policy of the Host that is shown outside, changed so. */
function changed(change: (spec: Host['spec']) => Partial<Host['spec']>): NetworkPolicy {
  const { spec, ...host } = readHost('host-full')
  const of: Host = { ...host, spec: { ...spec, ...change(spec) } }
  return defined(hostNetworkPolicy(of, { peers }, [ports.publicHealth]))
}
const health = { name: 'health from outside', direction: 'in', other: outside, port: 9183 } as const
for (const type of ['None', 'ClusterIP'] as const)
  checkFlows(
    `a Host whose P2P Services are of type ${type}`,
    changed(({ services }) => ({ services: { ...services, p2p: { ...services.p2p, type } } })),
    [{ ...health, passes: false }],
  )
checkFlows(
  'a Host that shows its health to nobody',
  changed(({ services }) => ({
    services: { ...services, p2p: { ...services.p2p, publicHealth: false } },
  })),
  [{ ...health, passes: false }],
)
for (const generators of [[{ name: 'second' }], []])
  checkFlows(
    `a Host that names ${generators.length} Generators`,
    changed(() => ({ generators })),
    [
      {
        name: 'a schema',
        direction: 'out',
        other: generatorPod('apps', 'second'),
        port: 8080,
        passes: generators.length > 0,
      },
    ],
  )
checkFlows(
  'a Host that polls its registry',
  changed(() => ({ registry: { lcdUrl: 'http://registry.example.org:1317' } })),
  [
    { name: 'the LCD', direction: 'out', other: outside, port: 1317, passes: true },
    { name: 'no RPC', direction: 'out', other: outside, port: 443, passes: false },
  ],
)

const executionNode = { namespace: 'nodes', labels: { app: 'geth' } }
const beside = defined(
  generatorNetworkPolicy(readGenerator('generator-minimal'), { executionNode }),
)
checkFlows('a Generator', beside, [
  { name: 'a probe', direction: 'in', other: machine, port: 8080, passes: true },
  {
    name: 'the operator asking for health',
    direction: 'in',
    other: operator,
    port: 8080,
    passes: true,
  },
  {
    name: 'a Host asking for the schema',
    direction: 'in',
    other: pod('apps', { 'app.kubernetes.io/name': 'host' }),
    port: 8080,
    passes: true,
  },
  { name: 'a Host as a peer', direction: 'in', other: pod('apps', {}), port: 9171, passes: true },
  { name: 'a peer from outside', direction: 'in', other: outside, port: 9171, passes: true },
  { name: 'the schema from outside', direction: 'in', other: outside, port: 8080, passes: false },
  {
    name: 'its execution node',
    direction: 'out',
    other: pod('nodes', { app: 'geth' }),
    port: 8545,
    passes: true,
  },
  {
    name: 'its execution node, behind a Service of another port',
    direction: 'out',
    other: pod('nodes', { app: 'geth' }),
    port: 30_303,
    passes: true,
  },
  {
    name: 'another pod',
    direction: 'out',
    other: pod('nodes', { app: 'other' }),
    port: 8545,
    passes: false,
  },
  {
    name: 'a look-up of a name',
    direction: 'out',
    other: nameServer,
    port: 53,
    protocol: 'UDP',
    passes: true,
  },
  { name: 'anything else outside', direction: 'out', other: outside, port: 443, passes: false },
])

const inMachines = defined(
  generatorNetworkPolicy(readGenerator('generator-minimal'), {
    executionNode: { ...executionNode, isHostNetwork: true },
  }),
)
checkFlows('a Generator whose execution node is in the network of its machine', inMachines, [
  {
    name: 'its execution node, which has the address of a machine',
    direction: 'out',
    other: machine,
    port: 8545,
    passes: true,
  },
  {
    name: 'UDP to that machine',
    direction: 'out',
    other: machine,
    port: 8545,
    protocol: 'UDP',
    passes: false,
  },
])
checkFlows('a Generator whose execution node is in the network of pods', beside, [
  { name: 'a machine', direction: 'out', other: machine, port: 8545, passes: false },
])

const byUrl = defined(
  generatorNetworkPolicy(readGenerator('generator-minimal'), { executionNode: null }),
)
checkFlows('a Generator whose execution node is only an address', byUrl, [
  { name: 'any execution node', direction: 'out', other: outside, port: 443, passes: true },
  {
    name: 'UDP outside',
    direction: 'out',
    other: outside,
    port: 443,
    protocol: 'UDP',
    passes: false,
  },
])

test('a policy is about the pods of its resource only', () => {
  assert.deepEqual(inCluster.spec.podSelector, {
    matchLabels: { 'app.kubernetes.io/name': 'host', 'app.kubernetes.io/instance': 'mainnet' },
  })
})

test('no policy is made where the spec wants none', () => {
  assert.equal(generatorNetworkPolicy(readGenerator('generator-url'), generatorContext), null)
})
