import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ports } from '../../../../src/service/contract.ts'
import { type Cluster, expectStatus, restrictedLevel } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { askedReason, eventually, hostOf, type Namespaced } from '../support/cluster-resources.ts'
import { imageValues, releasesIn, untilReady } from '../support/helm.ts'
import { openTestNamespace } from '../support/test-namespace.ts'

// Addresses for documentation (RFC 5737), which are nobody's: kube-proxy answers them to pods, or nobody does.
const [first, second, foreign] = ['203.0.113.21', '203.0.113.22', '203.0.113.23']

const labels = {
  'app.kubernetes.io/name': 'host',
  'app.kubernetes.io/instance': 'shown',
}

/** The operator is in a pod: addresses of load balancers are those of the cluster within it. */
describe('a Host that dashboards ask by its load balancers, on a real cluster', () => {
  let cluster: Cluster
  let namespace: string
  let close: () => Promise<void>
  let here: Namespaced

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    ;({ cluster, namespace, here, close } = await openTestNamespace({ labels: restrictedLevel }))
    await releasesIn(namespace)(['install', 'operator', 'charts/operator', ...untilReady], {
      image: imageValues(clusterImage('operator')),
      operands: { generator: clusterImage('generator'), host: clusterImage('host') },
      scope: { clusterWide: false },
      crds: { install: false },
      networkPolicy: { enabled: true },
    })
    const services = { p2p: { type: 'LoadBalancer' } }
    await here.write(hostOf('shown', { replicas: 2, services }))
    await here.reason('Host', 'shown', 'Ready', 'AllReady')
  })
  after(() => close())

  /** As a load balancer's controller does it; with mode `Proxy` the cluster does not answer there itself. */
  const giveAddress = async (
    ordinal: number,
    address: object,
    ipMode?: 'VIP' | 'Proxy',
  ): Promise<void> => {
    const ingress = [{ ...address, ...(ipMode && { ipMode }) }]
    const body = { status: { loadBalancer: { ingress } } }
    const type = 'application/merge-patch+json'
    const path = `${here.path('Service', `shown-host-p2p-${ordinal}`)}/status`
    await expectStatus(cluster.request('PATCH', path, { body, type }), 200)
  }
  const reported = async (reason: string): Promise<string> =>
    (await askedReason(here, 'Host', 'shown', ['AddressPublished', reason])).message
  /** The cluster takes its time until it answers an address, and until then nobody does. */
  const unreachable = async (who: string): Promise<void> =>
    await eventually(async () => {
      const message = await reported('HealthPortUnreachable')
      assert.equal(/ask: (.*?)\. Open port 8080/.exec(message)?.[1], who)
    })

  test('a load balancer with a name alone is HostnameOnly, or LoadBalancer where nobody asks', async () => {
    await giveAddress(0, { hostname: 'a.lb.example.org' })
    await giveAddress(1, { hostname: 'b.lb.example.org' })
    assert.match(await reported('HostnameOnly'), /\/dns4\/a\.lb\.example\.org\/tcp\/9171, /)
    const publicHealth = async (shown: boolean): Promise<unknown> =>
      await here.patch('Host', 'shown', { spec: { services: { p2p: { publicHealth: shown } } } })
    await publicHealth(false)
    await reported('LoadBalancer')
    await publicHealth(true)
    await reported('HostnameOnly')
  })

  test('HealthPortUnreachable names a Ready replica until its address is corrected', async () => {
    await giveAddress(0, { ip: first }, 'VIP')
    await giveAddress(1, { ip: second }, 'Proxy')
    await unreachable(`shown-host-1 at http://${second}:8080/health (no health report)`)
    assert.equal((await here.condition('Host', 'shown', 'Ready'))?.reason, 'AllReady')
    await giveAddress(1, { ip: second }, 'VIP')
    assert.equal(
      await reported('LoadBalancer'),
      `Published to peers: /ip4/${first}/tcp/9171, /ip4/${second}/tcp/9171.`,
    )
  })

  test('an address of another peer is reported until announce excludes it', async () => {
    await cluster.apply(here.path('Service', 'foreign'), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'foreign', namespace },
      spec: {
        externalIPs: [foreign],
        selector: { ...labels, 'apps.kubernetes.io/pod-index': '1' },
        ports: [{ port: ports.health, targetPort: ports.publicHealth }],
      },
    })
    await giveAddress(0, { ip: foreign }, 'Proxy')
    await unreachable(`shown-host-0 at http://${foreign}:8080/health (another peer)`)
    const announce = [[`/ip4/${foreign}/tcp/${ports.p2p}`]]
    await here.patch('Host', 'shown', { spec: { services: { p2p: { announce } } } })
    await reported('LoadBalancer')
  })
})
