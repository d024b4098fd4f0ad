import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Cluster } from '../support/cluster.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  hostOf,
  type Namespaced,
  writeNode,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

/** The kubelet brings a changed ConfigMap into a pod within about a minute and a half. */
const filesFollowMs = 240_000

describe('a Generator that is somewhere else, or somebody else, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let hostPod: string | undefined

  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    await writeNode(cluster, space.namespace)
    await here.write(generatorOf('moving'))
    await here.reason('Generator', 'moving', 'Ready', 'AllReady')
    await eventually(async () => assert.ok(await peerID()))
    await here.write(hostOf('staying', { generators: [{ name: 'moving' }] }))
    await connected()
    hostPod = (await here.find('Pod', 'staying-host-0'))?.metadata.uid
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const peerID = async (): Promise<string | undefined> =>
    (await here.status('Generator', 'moving')).nodes?.[0]?.peerID
  const connected = async (): Promise<void> => {
    await eventually(async () => {
      const condition = await here.condition('Host', 'staying', 'PeersConnected')
      assert.equal(condition?.reason, 'Connected')
      const { head = -1 } = await here.status('Host', 'staying')
      assert.ok(head >= 0)
    }, filesFollowMs)
  }
  const untouched = async (): Promise<void> => {
    assert.equal((await here.find('Pod', 'staying-host-0'))?.metadata.uid, hostPod)
  }
  const headMoves = async (): Promise<void> => {
    const { head: before = 0 } = await here.status('Host', 'staying')
    await eventually(async () => {
      const { head = 0 } = await here.status('Host', 'staying')
      assert.ok(head > before + 5, `${head} after ${before}`)
    }, filesFollowMs)
  }

  test('its pod gets another address: the Host finds it again without a restart', async () => {
    const before = await peerID()
    await here.delete('Pod', 'moving-generator-0')
    await headMoves()
    assert.equal(await peerID(), before)
    await untouched()
  })

  test('it begins with a new identity: the Host learns that too, without a restart', async () => {
    const before = await peerID()
    await here.delete('Generator', 'moving')
    await here.delete('Secret', 'moving-generator-keyring')
    await eventually(async () => assert.equal(await here.find('Pod', 'moving-generator-0'), null))
    for (const volume of ['keys', 'data']) {
      await here.delete('PersistentVolumeClaim', `${volume}-moving-generator-0`)
    }
    await eventually(async () => {
      assert.equal(await here.find('PersistentVolumeClaim', 'keys-moving-generator-0'), null)
    })
    await here.reason('Host', 'staying', 'PeersConnected', 'GeneratorMissing')
    await here.write(generatorOf('moving'))
    await eventually(async () => assert.ok(await peerID()))
    assert.notEqual(await peerID(), before)
    await connected()
    await headMoves()
    await untouched()
  })
})
