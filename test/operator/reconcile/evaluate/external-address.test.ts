import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import {
  addressStatement,
  discoveredAddresses,
} from '../../../../operator/reconcile/evaluate/external-address.ts'
import type { Ingress } from '../../../../operator/reconcile/observe/ingress.ts'
import { keepPod } from '../../../../operator/reconcile/observe/pod.ts'
import { readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readGenerator('generator-minimal')
const host = readHost('host-minimal')
const withP2p = (
  type: 'None' | 'ClusterIP' | 'NodePort' | 'LoadBalancer',
  announce?: readonly string[],
): Generator => ({
  ...minimal,
  spec: { ...minimal.spec, p2p: { service: { type }, ...(announce && { announce }) } },
})
const discover = (of: Generator, ingress: Ingress): string[][] =>
  discoveredAddresses(of, {
    ingress: new Map([['mainnet-generator-p2p-0', ingress]]),
    pods: new Map(),
  })

test('the address of a load balancer is published to peers, by IP or by name', () => {
  const balanced = withP2p('LoadBalancer')
  assert.deepEqual(discover(balanced, [{ ip: '203.0.113.7' }]), [['/ip4/203.0.113.7/tcp/9171']])
  assert.deepEqual(discover(balanced, [{ ip: '2001:db8::7' }]), [['/ip6/2001:db8::7/tcp/9171']])
  const named = discover(balanced, [{ hostname: 'lb.example.org' }])
  assert.deepEqual(named, [['/dns4/lb.example.org/tcp/9171']])
  assert.equal(addressStatement(balanced, named).reason, 'LoadBalancer')
  assert.deepEqual(discover(balanced, [{}]), [[]])
  const unmade = { ingress: new Map(), pods: new Map() }
  assert.deepEqual(discoveredAddresses(balanced, unmade), [[]], 'before there is a Service')
})

test('a load balancer without an address is waited for, unless the spec gives one', () => {
  const waiting = addressStatement(withP2p('LoadBalancer'), [[]])
  assert.equal(waiting.reason, 'Pending')
  assert.match(waiting.message, /mainnet-generator-p2p-0/)
  const given = withP2p('LoadBalancer', ['/dns4/gen.example.org/tcp/9171'])
  assert.equal(addressStatement(given, [[]]).reason, 'LoadBalancer')
})

test('an address that only private networks reach is not called published', () => {
  const balanced = withP2p('LoadBalancer')
  for (const ip of [
    '10.1.2.3',
    '192.168.1.1',
    '172.20.0.1',
    '100.64.0.1',
    '169.254.1.1',
    'fd00::1',
  ]) {
    assert.equal(
      addressStatement(balanced, discover(balanced, [{ ip }])).reason,
      'PrivateAddress',
      ip,
    )
  }
  const mixed = discover(balanced, [{ ip: '10.1.2.3' }, { ip: '203.0.113.7' }])
  assert.equal(addressStatement(balanced, mixed).reason, 'LoadBalancer')
})

test('an address that cannot be discovered is asked for', () => {
  assert.deepEqual(addressStatement(withP2p('NodePort'), [[]]), {
    reason: 'AddressUnknown',
    message:
      'A Service of type NodePort does not report the address of the machines: write that of mainnet-generator-0 to p2p.announce, or use LoadBalancer.',
  })
  const given = withP2p('NodePort', ['/ip4/203.0.113.7/tcp/30171'])
  assert.equal(addressStatement(given, [[]]).reason, 'Manual')
  assert.equal(addressStatement(withP2p('None'), [[]]).reason, 'InCluster')
})

test('a Host says the address of each replica; the ones without are named', () => {
  const withAnnounce = (announce: readonly (readonly string[])[]): typeof host => {
    const p2p = { type: 'NodePort', publicHealth: false, announce } as const
    return {
      ...host,
      spec: { ...host.spec, replicas: 2, services: { ...host.spec.services, p2p } },
    }
  }
  const first = '/ip4/203.0.113.7/tcp/30171'
  assert.deepEqual(addressStatement(withAnnounce([[first]]), [[], []]), {
    reason: 'AddressUnknown',
    message:
      'A Service of type NodePort does not report the address of the machines: write that of mainnet-host-1 to services.p2p.announce, or use LoadBalancer.',
  })
  const second = '/ip4/203.0.113.8/tcp/30171'
  assert.deepEqual(addressStatement(withAnnounce([[first], [second]]), [[], []]), {
    reason: 'Manual',
    message: `Published to peers: ${first}, ${second}.`,
  })
})

test('no address is reported where none is wanted, or its pod has no machine yet', () => {
  const withSpec = (spec: object): typeof host => ({ ...host, spec: { ...host.spec, ...spec } })
  const onMachines = { podTemplate: { spec: { hostNetwork: true } } }
  assert.deepEqual(
    addressStatement(withSpec({ ...onMachines, replicas: 2 }), [
      ['/ip4/198.51.100.4/tcp/9171'],
      [],
    ]),
    {
      reason: 'Pending',
      message: 'Not on a machine yet: mainnet-host-1; see Ready.',
    },
  )
  for (const type of ['None', 'LoadBalancer'] as const) {
    const services = { ...host.spec.services, p2p: { type, publicHealth: true } }
    const none = withSpec({ ...onMachines, replicas: 0, services })
    assert.deepEqual(addressStatement(none, []), {
      reason: 'NotNeeded',
      message: 'No pods are wanted.',
    })
    assert.deepEqual(addressStatement(withSpec({ services, suspend: true }), []), {
      reason: 'NotNeeded',
      message: 'No pods are wanted. Services and addresses are kept while it is suspended.',
    })
  }
})

test('a private address comes with what makes it a public one', () => {
  const balanced = withP2p('LoadBalancer')
  const discovered = discover(balanced, [{ ip: '10.1.2.3' }])
  assert.equal(
    addressStatement(balanced, discovered).message,
    'Private networks only reach /ip4/10.1.2.3/tcp/9171: ask this cluster for a public load balancer by spec.p2p.service.annotations, or write the external address to spec.p2p.announce.',
  )
  const services = {
    ...host.spec.services,
    p2p: { type: 'LoadBalancer', publicHealth: true },
  } as const
  const reported = addressStatement({ ...host, spec: { ...host.spec, services } }, discovered)
  assert.match(
    reported.message,
    /: ask this cluster .* by spec\.services\.p2p\.annotations, or .* to spec\.services\.p2p\.announce\.$/,
  )
})

test('in the network of the machine the address is the machine’s', () => {
  const spec = { ...host.spec, podTemplate: { spec: { hostNetwork: true } } }
  const pod = keepPod({
    metadata: { name: 'mainnet-host-0' },
    spec: { hostNetwork: true, containers: [] },
    status: { hostIP: '198.51.100.4' },
  })
  const discoveredOf = (found: typeof pod): string[][] =>
    discoveredAddresses(
      { ...host, spec },
      { ingress: new Map(), pods: new Map([[pod.name, found]]) },
    )
  const discovered = discoveredOf(pod)
  assert.deepEqual(discovered, [['/ip4/198.51.100.4/tcp/9171']])
  assert.deepEqual(addressStatement({ ...host, spec }, discovered), {
    reason: 'HostNetwork',
    message: 'Those of the machines: /ip4/198.51.100.4/tcp/9171.',
  })
  assert.deepEqual(discoveredOf({ ...pod, isHostNetwork: false }), [[]])
  assert.deepEqual(discoveredOf({ ...pod, hostIP: null }), [[]])
  const within = hostWith({ type: 'ClusterIP' }, { podTemplate: spec.podTemplate })
  assert.equal(addressStatement(within, discovered).reason, 'InCluster')
})

const hostWith = (p2p: object, more: object = {}): typeof host => {
  const services = { ...host.spec.services, p2p: { publicHealth: true, ...p2p } }
  return {
    ...host,
    spec: { ...host.spec, services: services as Host['spec']['services'], ...more },
  }
}

test('a load balancer without an IP address hides a Host from dashboards, and no Generator', () => {
  const names = [['/dns4/lb.example.org/tcp/9171']]
  const of = (p2p: object): ReturnType<typeof addressStatement> =>
    addressStatement(hostWith({ type: 'LoadBalancer', ...p2p }), names)
  assert.deepEqual(of({}), {
    reason: 'HostnameOnly',
    message:
      'Registry dashboards ask for health by IP address, and there are only names in /dns4/lb.example.org/tcp/9171: give the load balancer fixed IP addresses, mostly by spec.services.p2p.annotations, and write those that it does not report to spec.services.p2p.announce. Where no dashboard asks, set spec.services.p2p.publicHealth to false.',
  })
  const [ip, name] = ['/ip4/203.0.113.7/tcp/9171', '/dns4/host.example.org/tcp/9171']
  assert.equal(of({ announce: [[name]] }).reason, 'HostnameOnly')
  assert.equal(of({ announce: [[name, ip]] }).reason, 'LoadBalancer')
  assert.equal(of({ publicHealth: false }).reason, 'LoadBalancer')
  assert.equal(addressStatement(withP2p('LoadBalancer'), names).reason, 'LoadBalancer')
  const two = hostWith({ type: 'LoadBalancer', announce: [[ip]] }, { replicas: 2 })
  assert.match(addressStatement(two, [[], ...names]).message, / names in \/dns4\/lb\.example\.org/)
})

test('an address of a load balancer at which another peer answers is not called published', () => {
  const addresses = [['/ip4/203.0.113.7/tcp/9171']]
  const reasonOf = (finding: 'replica' | 'otherPeer'): string =>
    addressStatement(hostWith({ type: 'LoadBalancer' }), addresses, new Map([[0, finding]])).reason
  assert.deepEqual(
    [reasonOf('replica'), reasonOf('otherPeer')],
    ['LoadBalancer', 'HealthPortUnreachable'],
  )
})

test('one replica behind a private load balancer is named, whatever the others have', () => {
  const two = hostWith({ type: 'LoadBalancer' }, { replicas: 2 })
  const reported = addressStatement(two, [
    ['/ip4/203.0.113.7/tcp/9171'],
    ['/ip4/10.1.2.3/tcp/9171'],
  ])
  assert.equal(reported.reason, 'PrivateAddress')
  assert.match(reported.message, /^Private networks only reach \/ip4\/10\.1\.2\.3\/tcp\/9171:/)
})

test('where the spec gives some replicas an address, those without are named', () => {
  const announce = [['/ip4/203.0.113.7/tcp/9171']]
  const two = hostWith({ type: 'None', announce }, { replicas: 2 })
  assert.deepEqual(addressStatement(two, [[], []]), {
    reason: 'Manual',
    message:
      'Published to peers: /ip4/203.0.113.7/tcp/9171. From within the cluster only: mainnet-host-1.',
  })
})
