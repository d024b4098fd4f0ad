import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import {
  type ExternalFinding,
  externalFinding,
  externalHealthStatement,
  externalTargets,
} from '../../../../operator/reconcile/evaluate/external-health.ts'
import type { Target } from '../../../../operator/reconcile/observe/health-observer.ts'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const minimal = readHost('host-minimal')
const hostWith = (p2p: object, more: object = {}): Host => {
  const balanced = { type: 'LoadBalancer', publicHealth: true, ...p2p } as const
  const services = { ...minimal.spec.services, p2p: balanced }
  return { ...minimal, spec: { ...minimal.spec, services, ...more } }
}
const host = hostWith({})
const saying = (id: string): HealthView | null =>
  parseHealth(JSON.stringify({ program: 'host', p2p: { self: { id } } }))
const [discovered, pod] = [[['/ip4/203.0.113.7/tcp/9171']], { uid: 'pod', isReady: true }]
const running = { pods: new Map([[0, pod]]), views: new Map([[0, saying('one')]]), discovered }
const target: Target = { ordinal: 0, uid: 'pod', ip: '203.0.113.7', expected: 'one' }

test('the public address of a load balancer is checked for replicas that are ready and answer', () => {
  assert.deepEqual(externalTargets(host, running), [target])
  const unready = new Map([[0, { ...pod, isReady: false }]])
  assert.deepEqual(externalTargets(host, { ...running, pods: unready }), [])
  assert.deepEqual(externalTargets(host, { ...running, views: new Map([[0, null]]) }), [])
  assert.deepEqual(externalTargets(host, { ...running, views: new Map() }), [])
  const removed = new Map([...running.pods, [1, { ...pod, uid: 'goes' }]])
  const views = new Map([...running.views, [1, saying('two')]])
  assert.deepEqual(externalTargets(host, { ...running, pods: removed, views }), [target])
})

test('one address is asked, of the kind that dashboards know first', () => {
  const both = [
    ['/ip6/2001:db8::7/tcp/9171', '/ip4/203.0.113.8/tcp/9171', ...(discovered[0] ?? [])],
  ]
  const ips = (addresses: string[][]): string[] =>
    externalTargets(host, { ...running, discovered: addresses }).map(({ ip }) => ip)
  assert.deepEqual(ips(both), ['203.0.113.8'])
  assert.deepEqual(ips([['/ip6/2001:db8::7/tcp/9171']]), ['2001:db8::7'])
  assert.deepEqual(ips([['/ip4/10.1.2.3/tcp/9171', '/dns4/lb.example.org/tcp/9171']]), [])
})

test('no address is checked where no dashboard asks, and none that the spec gives', () => {
  const asked = (of: Parameters<typeof externalTargets>[0]): Target[] =>
    externalTargets(of, running)
  assert.deepEqual(asked(hostWith({ publicHealth: false })), [])
  assert.deepEqual(asked(hostWith({ announce: [['/ip4/203.0.113.7/tcp/9171']] })), [])
  assert.deepEqual(asked(hostWith({ announce: [['/dns4/host.example.org/tcp/9171']] })), [target])
  for (const type of ['None', 'ClusterIP'] as const) assert.deepEqual(asked(hostWith({ type })), [])
  const generator = readGenerator('generator-minimal')
  const p2p = { service: { type: 'LoadBalancer' } } as const
  assert.deepEqual(asked({ ...generator, spec: { ...generator.spec, p2p } }), [])
})

test('an answer is that of the replica, of another peer, or none', () => {
  assert.equal(externalFinding(target, saying('one')), 'replica')
  assert.equal(externalFinding(target, saying('two')), 'otherPeer')
  assert.equal(externalFinding(target, null), 'nobody')
})

const said = (found: readonly [number, ExternalFinding][], of: Host = host): string | undefined =>
  externalHealthStatement(of, [...discovered, ['/ip6/2001:db8::7/tcp/9171']], new Map(found))
    ?.message

const remedy =
  'Open port 8080 on the load balancer and in its firewall, and see that nothing else has the address. Where the replica answers from outside, this cluster does not reach its own load balancer: write the address to spec.services.p2p.announce, and it is asked no more.'

test('a replica that does not answer externally is named with the address, and what to do', () => {
  const two = hostWith({}, { replicas: 2 })
  const found: [number, ExternalFinding][] = [
    [0, 'nobody'],
    [1, 'otherPeer'],
  ]
  assert.equal(
    said(found, two),
    `Asked from within the cluster, not found where registry dashboards ask: mainnet-host-0 at http://203.0.113.7:8080/health (no health report), mainnet-host-1 at http://[2001:db8::7]:8080/health (another peer). ${remedy}`,
  )
  assert.equal(said([[0, 'replica']]), undefined)
  assert.equal(said([]), undefined)
})

test('until it is known again, status keeps what it says of an address, and of no other', () => {
  const message = said([[0, 'nobody']]) ?? ''
  const condition = {
    type: 'AddressPublished',
    status: 'False',
    reason: 'HealthPortUnreachable',
    message,
    lastTransitionTime: '2026-11-21T00:00:00Z',
  } as const
  const before: Host = { ...host, status: { conditions: [condition] } }
  assert.equal(said([], before), message)
  assert.equal(said([[0, 'replica']], before), undefined)
  const moved = [['/ip4/203.0.113.70/tcp/9171']]
  assert.equal(externalHealthStatement(before, moved, new Map()), null)
  const two = { ...before, spec: { ...before.spec, replicas: 2 } }
  assert.equal(said([[0, 'replica']], two), undefined)
})
