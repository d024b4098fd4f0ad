import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { markedClaims, normalObjects } from '../support/cluster-objects.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced, parked } from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

const alone = { LEADER_ELECT: 'false' }

describe('an operator that is killed at each of its writes, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let expected: unknown

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster({ env: alone }))
    await here.write(pair('model'))
    await settled('model')
    expected = await normalObjects(here, 'model')
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const pair = (name: string): ReturnType<typeof hostOf> =>
    hostOf(name, { replicas: 2, services: { p2p: { type: 'ClusterIP' } }, ...parked })
  const settled = async (name: string): Promise<void> => {
    await here.reason('Host', name, 'Ready', 'Unschedulable')
    await eventually(async () => {
      const { nodes = [] } = await here.status('Host', name)
      assert.equal(nodes.filter(({ keyringFingerprint }) => keyringFingerprint).length, 2)
      assert.equal(await markedClaims(here, name), 4)
    })
  }
  const keysOf = async (name: string): Promise<Readonly<Record<string, string>>> =>
    (await here.find('Secret', `${name}-host-keyring`))?.data ?? {}
  /** Runs an operator that dies at a moment, until it has. */
  const dieAt = async (moment: string, write: () => Promise<void>): Promise<void> => {
    await space.stop('SIGKILL')
    const env = { ...alone, OPERATOR_TEST_DIE_AT: moment }
    const dying = await space.start({ env, expectDeath: true })
    await write()
    assert.equal((await dying.ended()).signal, 'SIGKILL', dying.stdout())
  }

  const creations = [
    'before apply Secret',
    'before create Secret',
    'after create Secret',
    'before apply ServiceAccount',
    'before apply ConfigMap',
    'before apply Service',
    'before apply Service 3',
    'before apply NetworkPolicy',
    'before apply PodDisruptionBudget',
    'before apply StatefulSet',
    'after apply StatefulSet',
    'before apply PersistentVolumeClaim',
    'after apply PersistentVolumeClaim 3',
    'before apply Host/status',
    'after apply Host/status',
  ]
  for (const [index, moment] of creations.entries()) {
    test(`${moment}: the same objects come of it, and keys that were written stay`, async () => {
      const name = `host${index}`
      await dieAt(moment, async () => await here.write(pair(name)))
      const keys = await keysOf(name)
      await space.start({ env: alone })
      await settled(name)
      for (const [ordinal, key] of Object.entries(keys)) {
        assert.equal((await keysOf(name))[ordinal], key)
      }
      assert.deepEqual(await normalObjects(here, name), expected)
    })
  }

  const scalings = ['before patch Secret', 'after patch Secret', 'before apply StatefulSet']
  for (const [index, moment] of scalings.entries()) {
    test(`${moment}, while a replica is added: running pods and their identities stay`, async () => {
      const name = `wide${index}`
      const running = (replicas: number): ReturnType<typeof hostOf> => hostOf(name, { replicas })
      await space.start({ env: alone })
      await here.write(running(1))
      await here.reason('Host', name, 'Ready', 'AllReady')
      const pod = (await here.find('Pod', `${name}-host-0`))?.metadata.uid
      const first = await eventually(async () => {
        const [node] = (await here.status('Host', name)).nodes ?? []
        assert.ok(node?.keyringFingerprint && node.peerID)
        return node
      })
      const { 0: key } = await keysOf(name)
      await dieAt(moment, async () => await here.write(running(2)))
      await space.start({ env: alone })
      await eventually(async () => {
        const { nodes = [], pods } = await here.status('Host', name)
        assert.equal(pods, '2/2')
        assert.equal(nodes[0]?.keyringFingerprint, first.keyringFingerprint)
        assert.equal(nodes[0]?.peerID, first.peerID)
        assert.notEqual(nodes[1]?.peerID ?? first.peerID, first.peerID)
      })
      assert.equal((await here.find('Pod', `${name}-host-0`))?.metadata.uid, pod)
      assert.equal((await keysOf(name))['0'], key)
    })
  }
})
