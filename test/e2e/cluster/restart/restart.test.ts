/**
 * Restarts the API server, and then the whole cluster, beneath operators that run. It disturbs everybody who
 * uses the cluster, so it runs alone: `npm run test:cluster:restart`. How the two are restarted only the
 * machine knows: VIEWMESH_TEST_RESTART_API and VIEWMESH_TEST_RESTART_CLUSTER are shell commands that end
 * when the cluster answers again.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { V1ContainerStatus } from '@kubernetes/client-node'
import type { ChildProgram } from '../../../support/child-program.ts'
import { type Cluster, openCluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { madeKinds } from '../support/cluster-objects.ts'
import { type OperatorSpace, openOperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  hostOf,
  inNamespace,
  type Namespaced,
  parked,
} from '../support/cluster-resources.ts'
import { restartBeneath, restartCommand } from '../support/cluster-restart.ts'
import { helm, imageValues, untilReady } from '../support/helm.ts'

describe('an operator beneath which the cluster restarts', { timeout: 900_000 }, () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let operator: ChildProgram
  let replicas = 1

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    cluster = await openCluster()
    await cluster.installDefinitions()
    space = await openOperatorSpace(cluster)
    here = inNamespace(cluster, space.namespace)
    operator = await space.start()
    await here.write(hostOf('steady'))
    await peerIDs()
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  /** Of all replicas, once they are ready, the newest spec has been acted upon and others know of them. */
  const peerIDs = async (): Promise<string[]> =>
    await eventually(async () => {
      const host = await here.find('Host', 'steady')
      const { nodes = [], pods, observedGeneration } = await here.status('Host', 'steady')
      assert.equal(observedGeneration, host?.metadata.generation)
      assert.equal((await here.condition('Host', 'steady', 'Ready'))?.reason, 'AllReady')
      assert.equal(pods, `${replicas}/${replicas}`)
      const ids = nodes.flatMap(({ peerID }) => peerID ?? [])
      assert.equal(ids.length, replicas)
      for (const { data } of await here.list('Secret')) {
        const reported = Buffer.from(data?.['peers'] ?? '', 'base64').toString()
        if (data?.['peers'] !== undefined) assert.ok(ids.every((id) => reported.includes(id)))
      }
      return ids
    })
  /** What must neither go nor come twice, and keys as they are. */
  const belongings = async (): Promise<unknown> =>
    await Promise.all(
      ([...madeKinds, 'Pod'] as const).map(async (kind) =>
        (await here.list(kind)).map(({ metadata: { name, uid }, data }) => [
          kind,
          name,
          uid,
          kind === 'Secret' ? data : {},
        ]),
      ),
    )
  const grow = async (): Promise<void> => {
    replicas += 1
    await here.write(hostOf('steady', { replicas }))
  }

  test('goes on with its work when the API server restarts, beside the cluster and in a pod', async () => {
    const command = restartCommand('VIEWMESH_TEST_RESTART_API')
    const inside = await openPodOperator(cluster)
    try {
      const ids = await peerIDs()
      const owned = await belongings()
      const containers = await containersOf(here, 'steady-host-0')
      const containersInside = await inside.containers()

      const said = await restartBeneath(command, cluster, operator)
      assert.deepEqual(said, { healthz: [200], readyz: [200] })
      assert.deepEqual(await peerIDs(), ids)
      assert.deepEqual(await belongings(), owned)
      await grow()
      assert.deepEqual((await peerIDs()).slice(0, ids.length), ids)
      assert.deepEqual(await containersOf(here, 'steady-host-0'), containers)
      assert.equal(operator.process.exitCode, null)

      await inside.here.write(hostOf('later', parked))
      await inside.here.reason('Host', 'later', 'Ready', 'Unschedulable')
      assert.deepEqual(await inside.containers(), containersInside)
    } finally {
      await inside.close()
    }
  })

  test('goes on with its work when the whole cluster was down; the Host keeps its identity', async () => {
    const command = restartCommand('VIEWMESH_TEST_RESTART_CLUSTER')
    const ids = await peerIDs()
    const owned = await belongings()
    const containers = await containersOf(here, 'steady-host-0')

    const said = await restartBeneath(command, cluster, operator)
    assert.deepEqual(said, { healthz: [200], readyz: [200] })
    await eventually(async () => {
      assert.notDeepEqual(await containersOf(here, 'steady-host-0'), containers)
    })
    assert.deepEqual(await peerIDs(), ids)
    assert.deepEqual(await belongings(), owned)
    await grow()
    assert.deepEqual((await peerIDs()).slice(0, ids.length), ids)
    assert.equal(operator.process.exitCode, null)
  })
})

/** An operator in its pod, with the rights of its chart. */
interface PodOperator {
  readonly here: Namespaced
  /** Of its pod: other ones after a restart. */
  containers(): Promise<readonly (readonly [string, number])[]>
  close(): Promise<void>
}

async function openPodOperator(cluster: Cluster): Promise<PodOperator> {
  const namespace = await cluster.createNamespace()
  const here = inNamespace(cluster, namespace)
  const values = {
    image: imageValues(clusterImage('operator')),
    operands: { generator: clusterImage('generator'), host: clusterImage('host') },
    scope: { clusterWide: false },
    crds: { install: false },
  }
  const release = ['op', '--namespace', namespace, ...untilReady]
  const { code, stderr } = await helm(['install', ...release, 'charts/operator'], values)
  const close = async (): Promise<void> => {
    await helm(['uninstall', ...release])
    await cluster.deleteNamespace(namespace)
  }
  if (code !== 0) {
    await close()
    throw new Error(stderr)
  }
  const [pod] = await here.list('Pod')
  const containers = async (): Promise<[string, number][]> =>
    await containersOf(here, pod?.metadata.name ?? '')
  return { here, close, containers }
}

/** ID and number of restarts of each container of a pod. */
async function containersOf(here: Namespaced, pod: string): Promise<[string, number][]> {
  const status = (await here.find('Pod', pod))?.status ?? {}
  const found: V1ContainerStatus[] = Reflect.get(status, 'containerStatuses') ?? []
  return found.map(({ containerID = '', restartCount }) => [containerID, restartCount])
}
