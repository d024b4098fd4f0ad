import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { V1ServiceSpec } from '@kubernetes/client-node'
import { requests } from '../../../../operator/api/annotations.ts'
import {
  readTemplateRecord,
  recordAnnotations,
} from '../../../../operator/resources/pod/template-record.ts'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  type Namespaced,
  parked,
  type Written,
} from '../support/cluster-resources.ts'
import { openLoadMetrics, reasonAgainstLoadMetrics } from '../support/load-metrics.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('replicas of a Host, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  /** Peer IDs of this many ready replicas. */
  const peerIDs = async (count: number, name = 'wide'): Promise<string[]> =>
    await eventually(async () => {
      const { nodes = [], pods } = await here.status('Host', name)
      assert.equal(pods, `${count}/${count}`)
      const ids = nodes.slice(0, count).flatMap(({ peerID }) => peerID ?? [])
      assert.equal(ids.length, count)
      return ids
    })
  const scale = async (replicas: number): Promise<void> => {
    const path = `/apis/viewmesh.io/v1alpha1/namespaces/${space.namespace}/hosts/wide/scale`
    const type = 'application/merge-patch+json'
    await expectStatus(cluster.request('PATCH', path, { body: { spec: { replicas } }, type }), 200)
  }

  const replicasOf = async (kind: 'Host' | 'StatefulSet', name: string): Promise<unknown> =>
    Reflect.get((await here.find(kind, name))?.spec ?? {}, 'replicas')

  test('replicas scaled by spec or scale subresource come back with the same identities', async () => {
    const services = { p2p: { type: 'ClusterIP' } }
    await here.write(hostOf('wide', { services }))
    await peerIDs(1)
    await here.write(hostOf('wide', { services, replicas: 3 }))
    const ids = await peerIDs(3)
    assert.equal(new Set(ids).size, 3)
    assert.equal((await here.find('PodDisruptionBudget', 'wide-host'))?.kind, 'PodDisruptionBudget')

    await here.write(hostOf('wide', { services, replicas: 1 }))
    await here.reason('Host', 'wide', 'Ready', 'AllReady')
    assert.deepEqual(await peerIDs(1), ids.slice(0, 1))
    const names = async (): Promise<string[]> =>
      (await here.list('Service')).map(({ metadata }) => metadata.name)
    await eventually(async () => {
      assert.deepEqual(await names(), ['wide-host', 'wide-host-nodes', 'wide-host-p2p-0'])
    })
    assert.equal(await here.find('PodDisruptionBudget', 'wide-host'), null)
    assert.equal((await here.list('PersistentVolumeClaim')).length, 6)

    await scale(3)
    assert.deepEqual(await peerIDs(3), ids)
  })

  test('the scale subresource reports what a HorizontalPodAutoscaler needs', async () => {
    const path = `/apis/viewmesh.io/v1alpha1/namespaces/${space.namespace}/hosts/wide/scale`
    const { body } = await expectStatus(cluster.request('GET', path), 200)
    assert.deepEqual(body.status, {
      replicas: 3,
      selector: 'app.kubernetes.io/name=host,app.kubernetes.io/instance=wide',
    })
  })

  test('a suspended Host keeps all but its pods, whoever scales it, and goes on as it was', async () => {
    const ids = await peerIDs(3)
    const addressesOf = async (): Promise<unknown> =>
      ((await here.status('Host', 'wide')).nodes ?? []).map(({ addresses }) => addresses)
    const kept = async (): Promise<string[]> => {
      const kinds = ['PersistentVolumeClaim', 'Secret', 'Service'] as const
      const all = await Promise.all(kinds.map((kind) => here.list(kind)))
      return all.flat().map(({ metadata }) => metadata.uid)
    }
    const [addresses, before] = [await addressesOf(), await kept()]
    await here.patch('Host', 'wide', { spec: { suspend: true } })
    await here.reason('Host', 'wide', 'Ready', 'Suspended')
    await here.reason('Host', 'wide', 'Suspended', 'PodsGone')
    assert.deepEqual(await here.list('Pod'), [])
    assert.deepEqual(await kept(), before)
    assert.deepEqual(await addressesOf(), addresses)

    await scale(2)
    await here.reason('Host', 'wide', 'Ready', 'Suspended')
    await here.patch('StatefulSet', 'wide-host', { spec: { replicas: 1 } })
    await eventually(async () => assert.equal(await replicasOf('StatefulSet', 'wide-host'), 0))
    await scale(3)
    await here.patch('Host', 'wide', { spec: { suspend: false } })
    assert.deepEqual(await peerIDs(3), ids)
    assert.equal(await here.condition('Host', 'wide', 'Suspended'), null)
  })

  test('what pods would wait for keeps no resource from being suspended', async () => {
    const upstream = { service: { name: 'nowhere' } }
    await here.write(generatorOf('resting', { ...parked, upstream }))
    await here.reason('Generator', 'resting', 'Ready', 'WaitingForUpstream')
    await here.patch('Generator', 'resting', { spec: { suspend: true } })
    await here.reason('Generator', 'resting', 'Ready', 'Suspended')
    assert.equal(await replicasOf('StatefulSet', 'resting-generator'), 0)
    await here.delete('Generator', 'resting')
  })

  test('scaled to zero it is ready, its claims are kept, and its replicas are remembered', async () => {
    await scale(0)
    await here.reason('Host', 'wide', 'Ready', 'ScaledToZero')
    assert.equal((await here.list('PersistentVolumeClaim')).length, 6)
    const { nodes = [] } = await here.status('Host', 'wide')
    assert.equal(nodes.length, 3)
  })

  test('a HorizontalPodAutoscaler scales a Host up and down with the same identities', async (context) => {
    const reason = await reasonAgainstLoadMetrics(cluster)
    if (reason !== null) return context.skip(reason)
    const manifest = hostOf('elastic')
    await here.write(manifest)
    const load = await openLoadMetrics(cluster, space.namespace)
    try {
      load.set(1)
      await cluster.apply(...autoscalerOf('elastic', load.name, space.namespace))
      const [first] = await peerIDs(1, 'elastic')
      load.set(3)
      const ids = await peerIDs(3, 'elastic')
      assert.equal(new Set(ids).size, 3)
      assert.equal(ids[0], first)
      load.set(1)
      assert.deepEqual(await peerIDs(1, 'elastic'), ids.slice(0, 1))
      load.set(3)
      assert.deepEqual(await peerIDs(3, 'elastic'), ids)

      await here.write(manifest)
      const asked = '2026-01-01T00:00:00Z'
      const annotations = { 'viewmesh.io/reconcile-at': asked }
      await here.patch('Host', 'elastic', { metadata: { annotations } })
      await eventually(async () => {
        assert.equal((await here.status('Host', 'elastic')).lastHandledReconcileAt, asked)
      })
      assert.equal(await replicasOf('Host', 'elastic'), 3)
      assert.equal(await replicasOf('StatefulSet', 'elastic-host'), 3)
      assert.deepEqual(await peerIDs(3, 'elastic'), ids)

      await here.patch('Host', 'elastic', { spec: { suspend: true } })
      await here.reason('Host', 'elastic', 'Ready', 'Suspended')
      load.set(2)
      await eventually(async () => assert.equal(await replicasOf('Host', 'elastic'), 2))
      await here.reason('Host', 'elastic', 'Ready', 'Suspended')
      assert.equal(await replicasOf('StatefulSet', 'elastic-host'), 0)
    } finally {
      await load.close()
    }
  })

  test('a pod from before a port was added is asked for health where it listens', async () => {
    const shown = (more: object): Written => hostOf('shown', { ...parked, ...services, ...more })
    const services = { services: { p2p: { type: 'ClusterIP' } } }
    const asked = async (...targets: number[]): Promise<void> =>
      await eventually(async () => {
        const found = targets.map((_, ordinal) => here.find('Service', `shown-host-p2p-${ordinal}`))
        const specs = (await Promise.all(found)).map((service) => service?.spec as V1ServiceSpec)
        const at = specs.map(
          ({ ports = [] }) => ports.find(({ port }) => port === 8080)?.targetPort,
        )
        assert.deepEqual(at, targets)
      })
    await here.write(shown({ replicas: 0 }))
    await here.reason('Host', 'shown', 'Ready', 'ScaledToZero')
    const record = readTemplateRecord(
      (await here.find('StatefulSet', 'shown-host'))?.metadata.annotations,
    )
    const [program] = record?.template.spec?.containers ?? []
    assert.ok(record && program)
    program.ports = program.ports?.filter(({ name }) => name !== 'public-health') ?? []
    await here.patch('StatefulSet', 'shown-host', {
      metadata: { annotations: recordAnnotations(record) },
    })
    await here.reason('Host', 'shown', 'UpdateAvailable', 'NewTemplate')
    await here.write(shown({ replicas: 2 }))
    await asked(8080, 8080)
    await eventually(async () => assert.ok(await here.find('Pod', 'shown-host-1')))

    await here.patch('Host', 'shown', {
      metadata: { annotations: { [requests.rollAt]: 'now' } },
      spec: { updatePartition: 1 },
    })
    await asked(8080, 9183)
    await here.delete('Host', 'shown')
  })
})

/** Path and manifest of an autoscaler of a Host: as many replicas as the metric says. */
function autoscalerOf(name: string, metric: string, namespace: string): [string, object] {
  const atOnce = { stabilizationWindowSeconds: 0 }
  const target = { type: 'AverageValue', averageValue: '1' }
  return [
    `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers/${name}`,
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name, namespace },
      spec: {
        scaleTargetRef: { apiVersion: 'viewmesh.io/v1alpha1', kind: 'Host', name },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [{ type: 'External', external: { metric: { name: metric }, target } }],
        behavior: { scaleUp: atOnce, scaleDown: atOnce },
      },
    },
  ]
}
