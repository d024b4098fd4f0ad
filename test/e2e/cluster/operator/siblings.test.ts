/** Replicas that know each other, and are ready once they have data, on a real cluster. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type HealthReport,
  paths,
  ports,
  type ReadyReport,
} from '../../../../src/service/contract.ts'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  askedReason,
  eventually,
  generatorOf,
  hostOf,
  type Namespaced,
  writeNode,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

/** More than a replica may be behind another one. */
const manyBlocks = 80
const host = (replicas: number): ReturnType<typeof hostOf> =>
  hostOf('pair', { replicas, readiness: {}, generators: [{ name: 'source' }] })

describe('replicas of a Host whose Generator goes, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    await writeNode(cluster, space.namespace)
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const asked = async <T>(pod: string, path: string): Promise<{ status: number; body: T }> => {
    const at = `${here.path('Pod', pod)}:${ports.health}/proxy${path}`
    const { status, body } = await cluster.request('GET', at)
    return { status, body: body as T }
  }
  const health = async (pod: string): Promise<Partial<HealthReport>> =>
    (await asked<Partial<HealthReport>>(pod, paths.health)).body
  /** Pods to which the Service of the API leads. */
  const served = async (name: string): Promise<string[]> => {
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${space.namespace}/endpointslices`
    const query = { labelSelector: `kubernetes.io/service-name=${name}` }
    const { body } = await expectStatus(cluster.request('GET', slices, { query }), 200)
    const { items = [] } = body as { items?: { endpoints?: Endpoint[] | null }[] }
    return items
      .flatMap(({ endpoints }) => endpoints ?? [])
      .flatMap(({ conditions, targetRef }) => (conditions.ready ? [targetRef.name] : []))
      .toSorted()
  }

  test('a Host without any block is healthy and not ready, and its Service leads nowhere', async () => {
    await here.write(hostOf('empty', { readiness: {} }))
    await eventually(async () => {
      assert.equal((await asked('empty-host-0', paths.health)).status, 200)
    })
    const { status, body } = await asked<ReadyReport>('empty-host-0', paths.ready)
    assert.deepEqual([status, body.unready?.reason], [503, 'too-few-blocks'])
    await eventually(async () => {
      const { reason, message } = (await here.condition('Host', 'empty', 'Ready')) ?? {}
      assert.equal(reason, 'Initializing')
      assert.match(
        `${message}`,
        /not yet: empty-host-0 \(too few blocks\)\. Blocks come from peers/,
      )
    })
    assert.deepEqual(await served('empty-host'), [])
    await here.write(hostOf('empty', { readiness: { minBlocks: 0 } }))
    await here.reason('Host', 'empty', 'Ready', 'AllReady')
    await here.delete('Host', 'empty')
  })

  test('a Host becomes ready with its first blocks', async () => {
    await here.write(generatorOf('source'))
    await here.write(host(1))
    await here.reason('Host', 'pair', 'Ready', 'AllReady')
    const { status, body } = await asked<ReadyReport>('pair-host-0', paths.ready)
    assert.deepEqual([status, body], [200, { ready: true, unready: null }])
    assert.ok(((await health('pair-host-0')).head ?? -1) >= 0)
    await here.reason('Host', 'pair', 'PeersConnected', 'Connected')
  })

  test('a new replica catches up from the other one while there is no Generator', async () => {
    await eventually(async () => {
      assert.ok(((await health('pair-host-0')).head ?? -1) > manyBlocks)
    })
    await here.delete('Generator', 'source')
    await eventually(async () => assert.equal(await here.find('Pod', 'source-generator-0'), null))
    await askedReason(here, 'Host', 'pair', ['PeersConnected', 'GeneratorMissing'])
    const whole = await health('pair-host-0')
    assert.deepEqual(await served('pair-host'), ['pair-host-0'], 'it stays ready')

    await here.write(host(2))
    await eventually(async () => {
      const { body } = await asked<ReadyReport>('pair-host-1', paths.ready)
      assert.ok((await served('pair-host')).includes('pair-host-0'))
      assert.equal(body.ready, true)
    })
    assert.ok(((await health('pair-host-1')).head ?? -1) >= 0, 'it is ready with blocks only')
    await here.reason('Host', 'pair', 'Ready', 'AllReady')
    assert.deepEqual(await served('pair-host'), ['pair-host-0', 'pair-host-1'])
    await eventually(async () => {
      const { tail, head, gaps } = await health('pair-host-1')
      assert.deepEqual([tail, head, gaps], [whole.tail, whole.head, []])
    })
    await eventually(async () => {
      const { nodes = [] } = await here.status('Host', 'pair')
      const { data = {} } = (await here.find('ConfigMap', 'pair-host-config')) ?? {}
      const own = nodes.flatMap(({ addresses = [] }) => addresses.slice(-1))
      assert.equal(own.length, 2)
      assert.equal(data['siblings'], own.map((address) => `${address}\n`).join(''))
    })
  })

  test('replicas that know nobody but each other are not said to be connected', async () => {
    await here.write(generatorOf('source', { paused: true }))
    const { message } = await askedReason(here, 'Host', 'pair', ['PeersConnected', 'NotConnected'])
    assert.match(message, /^No peer but each other at replica 0, 1/)
    assert.deepEqual(await served('pair-host'), ['pair-host-0', 'pair-host-1'])
  })
})

interface Endpoint {
  readonly conditions: { readonly ready?: boolean }
  readonly targetRef: { readonly name: string }
}
