import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  hostOf,
  type LiveObject,
  type Namespaced,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('a StatefulSet that somebody scaled by hand, on a real cluster', () => {
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

  const services = { services: { p2p: { type: 'ClusterIP' } } }
  /** Peer IDs of the ready replicas, once there are this many. */
  const peerIDs = async (name: string, count: number): Promise<string[]> =>
    await eventually(async () => {
      const { nodes = [], pods } = await here.status('Host', name)
      assert.equal(pods, `${count}/${count}`)
      const ids = nodes.slice(0, count).flatMap(({ peerID }) => peerID ?? [])
      assert.equal(ids.length, count)
      return ids
    })
  /** UIDs of the claims of these replicas, once they are bound. */
  const claims = async (name: string, ordinals: readonly number[]): Promise<string[]> =>
    await eventually(async () => {
      const names = ordinals.flatMap((ordinal) =>
        ['keys', 'data'].map((volume) => `${volume}-${name}-host-${ordinal}`),
      )
      return await Promise.all(
        names.map(async (claim) => {
          const found = await here.find('PersistentVolumeClaim', claim)
          assert.deepEqual([phaseOf(found), claim], ['Bound', claim])
          return found?.metadata.uid ?? ''
        }),
      )
    })
  /** Has it scaled while nobody minds, until its controller has made claims and volumes. */
  const scaleByHand = async (name: string): Promise<string[]> => {
    await space.stop()
    await here.patch('StatefulSet', `${name}-host`, { spec: { replicas: 3 } })
    return await claims(name, [1, 2])
  }

  test('is put back, and what it left behind serves the replicas that the spec asks for later', async () => {
    await here.write(hostOf('moment', services))
    const [first] = await peerIDs('moment', 1)
    const left = await scaleByHand('moment')
    await space.start()
    await eventually(async () => {
      const pods = (await here.list('Pod')).map(({ metadata }) => metadata.name)
      assert.deepEqual(pods, ['moment-host-0'])
    })

    await here.write(hostOf('moment', { ...services, replicas: 3 }))
    const ids = await peerIDs('moment', 3)
    assert.equal(ids[0], first)
    assert.equal(new Set(ids).size, 3)
    assert.deepEqual(await claims('moment', [1, 2]), left)
  })

  test('has pods that are older than their keys replaced where the spec asks for as many since', async () => {
    await here.write(hostOf('kept', services))
    await peerIDs('kept', 1)
    const left = await scaleByHand('kept')
    await here.write(hostOf('kept', { ...services, replicas: 3 }))
    await space.start()
    await peerIDs('kept', 3)
    assert.deepEqual(await claims('kept', [1, 2]), left)
    const restarted = await here.notes('PodRestarted')
    assert.deepEqual(
      restarted.toSorted(),
      [1, 2].map(
        (ordinal) =>
          `Pod kept-host-${ordinal} is recreated, since it was created before its key was in the keyring Secret.`,
      ),
    )
  })
})

function phaseOf(claim: LiveObject | null): unknown {
  return Reflect.get(claim?.status ?? {}, 'phase')
}
