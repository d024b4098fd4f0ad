import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import { paths, ports } from '../../../../src/service/contract.ts'
import type { Cluster } from '../support/cluster.ts'
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

describe('a schema key that is renewed, with real pods', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    await writeNode(cluster, space.namespace)
    const upstream = { podSelector: { matchLabels: { app: 'node' }, httpPort: 8545 } }
    await here.write(generatorOf('renewed', { upstream }))
    await here.write(hostOf('reading', { generators: [{ name: 'renewed' }] }))
    await here.reason('Generator', 'renewed', 'Ready', 'AllReady')
    await here.reason('Host', 'reading', 'Ready', 'AllReady')
    await askedReason(here, 'Host', 'reading', ['SchemaInSync', 'Matched'])
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const secretText = async (secret: string, key: string): Promise<string> =>
    atob((await here.find('Secret', secret))?.data?.[key] ?? '')
  const pod = async (name: string): Promise<V1Pod> =>
    ((await here.find('Pod', name)) ?? {}) as V1Pod
  const statusWith = async (key: string): Promise<number> => {
    const { status } = await pod('renewed-generator-0')
    const url = `http://${status?.podIP}:${ports.health}${paths.schema}`
    return (await fetch(url, { headers: { 'x-api-key': key } })).status
  }
  /** Waits for another pod of this name than the one with this UID. */
  const replaced = async (name: string, uid: string | undefined): Promise<void> => {
    await eventually(async () => {
      const { metadata, status } = await pod(name)
      assert.notEqual(metadata?.uid ?? uid, uid)
      assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
    })
  }
  /** Times that the Host's pod of now was refused. */
  const refusals = async (): Promise<string[]> => {
    const { status } = await pod('reading-host-0')
    const answer = await fetch(`http://${status?.podIP}:${ports.health}${paths.metrics}`)
    return (await answer.text()).match(/^.*HOST_SCHEMA_UNAUTHORIZED.*$/gm) ?? []
  }

  test('the Generator takes both keys, and a Host that starts meanwhile is not refused', async () => {
    const old = await secretText('renewed-generator-connection', 'schema-key')
    const { metadata } = await pod('renewed-generator-0')
    await here.delete('Secret', 'renewed-generator-schema-keys')
    await replaced('renewed-generator-0', metadata?.uid)
    const [renewed = ''] = (await secretText('renewed-generator-schema-keys', 'keys')).split(',')
    assert.notEqual(renewed, old)
    assert.deepEqual([await statusWith(renewed), await statusWith(old)], [200, 200])
    assert.equal(await statusWith('another'), 403)
    assert.equal(await secretText('reading-host-schema-keys', 'token'), old)

    const before = await pod('reading-host-0')
    await here.delete('Pod', 'reading-host-0')
    await replaced('reading-host-0', before.metadata?.uid)
    await askedReason(here, 'Host', 'reading', ['SchemaInSync', 'Matched'])
    assert.deepEqual(await refusals(), [])
  })

  test('a key that is written into the Secret is taken without a restart', async () => {
    const { metadata } = await pod('renewed-generator-0')
    const [renewed = '', old = ''] = (
      await secretText('renewed-generator-schema-keys', 'keys')
    ).split(',')
    const keys = btoa(`added,${renewed}`)
    await here.patch('Secret', 'renewed-generator-schema-keys', { data: { keys } })
    await eventually(async () => assert.equal(await statusWith('added'), 200))
    assert.deepEqual([await statusWith(renewed), await statusWith(old)], [200, 200])
    assert.equal((await pod('renewed-generator-0')).metadata?.uid, metadata?.uid)
  })
})
