/** Two Generators of one node, of which one goes; the other one's node then leaves more blocks than it may decide alone. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { NodeStatus } from '../../../../operator/api/status.ts'
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

/** More than one of two signers may replace, also where the Host is some blocks behind. */
const forkDepth = 80
/** For so many blocks of the other branch it is seen that the condition lasts. */
const lastingBlocks = 15

describe('a branch that a Host may not follow yet, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    await writeNode(cluster, space.namespace)
    await here.write(generatorOf('staying'))
    await here.write(generatorOf('leaving'))
    await here.write(hostOf('beside', { generators: [{ name: 'staying' }, { name: 'leaving' }] }))
    await askedReason(here, 'Host', 'beside', ['SignersAgree', 'Agreed'])
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const askNode = async (method: string, ...params: readonly unknown[]): Promise<void> => {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const at = `${here.path('Service', 'node')}:8545/proxy/`
    const answer = await expectStatus(cluster.request('POST', at, { body }), 200)
    assert.ok(!('error' in answer.body), JSON.stringify(answer.body))
  }
  const replica = async (kind: 'Generator' | 'Host', name: string): Promise<Partial<NodeStatus>> =>
    (await here.status(kind, name)).nodes?.[0] ?? {}
  const headOf = async (kind: 'Generator' | 'Host', name: string): Promise<number> =>
    (await replica(kind, name)).head ?? -1

  test('ChainForked names the signer that is missing, and lasts until it is back', async () => {
    await askNode('anvil_mine', forkDepth + 10)
    await eventually(async () => {
      for (const name of ['staying', 'leaving'])
        assert.ok((await headOf('Generator', name)) > forkDepth)
      assert.ok((await headOf('Host', 'beside')) > forkDepth)
    })
    const { identity = '' } = await replica('Generator', 'leaving')
    await here.patch('Generator', 'leaving', { spec: { suspend: true } })
    await here.reason('Generator', 'leaving', 'Suspended', 'PodsGone')
    await askedReason(here, 'Host', 'beside', ['SignersAgree', 'SignerSilent'])
    const alone = await headOf('Generator', 'staying')
    await eventually(async () => assert.ok((await headOf('Host', 'beside')) > alone))
    await askNode('anvil_reorg', forkDepth, [])

    const forked = ['SignersAgree', 'ChainForked'] as const
    const { message } = await askedReason(here, 'Host', 'beside', forked)
    assert.match(message, new RegExp(`alone: ${identity.slice(0, 12)}… is silent`))
    const from = await headOf('Generator', 'staying')
    const stored = await headOf('Host', 'beside')
    const lasting = new Set<string | undefined>()
    await eventually(async () => {
      await askedReason(here, 'Generator', 'staying', ['UpstreamReachable', 'WebSocket'])
      await askedReason(here, 'Host', 'beside', forked)
      lasting.add((await here.condition('Host', 'beside', 'SignersAgree'))?.reason)
      assert.ok((await headOf('Generator', 'staying')) > from + lastingBlocks)
    })
    assert.deepEqual([[...lasting], await headOf('Host', 'beside')], [['ChainForked'], stored])

    await here.patch('Generator', 'leaving', { spec: { suspend: false } })
    await askedReason(here, 'Host', 'beside', ['SignersAgree', 'Agreed'])
    await eventually(async () => assert.ok((await headOf('Host', 'beside')) > from))
  })
})
