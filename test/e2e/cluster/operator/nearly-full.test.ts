import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced } from '../support/cluster-resources.ts'
import { openNodeVolume } from '../support/node-volume.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('a volume that fills, on a real cluster', () => {
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

  test('a volume that is nearly full is reported until there is room, and the pod works on', async (t) => {
    const volume = await openNodeVolume(cluster, `${space.namespace}-small`)
    if (typeof volume === 'string') return t.skip(volume)
    t.after(async () => {
      await here.delete('Host', 'filling')
      await eventually(async () => assert.equal(await here.find('Pod', 'filling-host-0'), null))
      await here.delete('PersistentVolumeClaim', 'data-filling-host-0')
      await volume.close()
    })
    const data = { size: '64Mi', storageClassName: volume.className }
    await here.write(hostOf('filling', { storage: { keys: { size: '1Mi' }, data } }))
    await here.reason('Host', 'filling', 'Ready', 'AllReady')
    await here.reason('Host', 'filling', 'StorageReady', 'Bound')
    volume.fill()
    const { message } = await here.reason('Host', 'filling', 'StorageReady', 'NearlyFull')
    assert.match(message, /^Little room is left: data-filling-host-0\./)
    await here.reason('Host', 'filling', 'Ready', 'AllReady')
    volume.makeRoom()
    await here.reason('Host', 'filling', 'StorageReady', 'Bound')
  })
})
