import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced } from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('replicas of a Host, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  /** Peer IDs of this many ready replicas. */
  const peerIDs = async (count: number): Promise<string[]> =>
    await eventually(async () => {
      const { nodes = [], pods } = await here.status('Host', 'wide')
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

  test('scaled from 1 to 3 to 1 to 3 they come back as who they were', async () => {
    const p2p = { type: 'ClusterIP' }
    await here.write(hostOf('wide', { services: { p2p } }))
    await peerIDs(1)
    await scale(3)
    const ids = await peerIDs(3)
    assert.equal(new Set(ids).size, 3)
    assert.equal((await here.find('PodDisruptionBudget', 'wide-host'))?.kind, 'PodDisruptionBudget')

    await scale(1)
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

  test('the scale subresource tells what a HorizontalPodAutoscaler needs', async () => {
    const path = `/apis/viewmesh.io/v1alpha1/namespaces/${space.namespace}/hosts/wide/scale`
    const { body } = await expectStatus(cluster.request('GET', path), 200)
    assert.deepEqual(body.status, {
      replicas: 3,
      selector: 'app.kubernetes.io/name=host,app.kubernetes.io/instance=wide',
    })
  })

  test('scaled to zero it is ready, and its keys are kept', async () => {
    await scale(0)
    await here.reason('Host', 'wide', 'Ready', 'ScaledToZero')
    assert.equal((await here.list('PersistentVolumeClaim')).length, 6)
    const { nodes = [] } = await here.status('Host', 'wide')
    assert.equal(nodes.length, 3)
  })
})
