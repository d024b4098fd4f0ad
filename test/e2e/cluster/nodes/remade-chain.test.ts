/** A development chain that is created again, under its old name and lower, beside a Host that stores the old one. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { NodeStatus } from '../../../../operator/api/status.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  askedReason,
  eventually,
  generatorOf,
  hostOf,
  type LiveObject,
  type Namespaced,
  writeNode,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { runShown } from '../support/shown-command.ts'

/** How many blocks of the old chain there are: the new one is lower for as long as the test lasts. */
const oldBlocks = 90
/** For so many blocks of the new chain it is seen that the condition lasts. */
const lastingBlocks = 15

describe('a chain that is created again beside a Host, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    await writeNode(cluster, space.namespace)
    await here.write(generatorOf('source'))
    await here.write(hostOf('beside', { generators: [{ name: 'source' }] }))
    await here.reason('Host', 'beside', 'Ready', 'AllReady')
    await askedReason(here, 'Host', 'beside', ['SignersAgree', 'Agreed'])
    await eventually(async () => assert.ok(((await replica('Host')).head ?? 0) > oldBlocks))
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const replica = async (kind: 'Generator' | 'Host'): Promise<Partial<NodeStatus>> => {
    const { nodes } = await here.status(kind, kind === 'Host' ? 'beside' : 'source')
    return nodes?.[0] ?? {}
  }
  const nodePod = async (): Promise<LiveObject> => {
    const found = (await here.list('Pod')).find(
      ({ metadata }) => metadata.labels?.['app'] === 'node',
    )
    return found ?? assert.fail('there is no execution node')
  }
  /** The commands of a message, which a person would copy. */
  const runCommands = async (message: string): Promise<void> => {
    for (const [command] of message.matchAll(
      /kubectl delete (?:pvc|pod) [\w-]+(?: --wait=false)?/g,
    ))
      await runShown(command, space.namespace)
  }

  test('its Generator stops, says WrongChain, and begins again as the message says', async () => {
    const old = await replica('Generator')
    const stored = await replica('Host')
    assert.deepEqual([stored.genesis, stored.chainID], [old.genesis, old.chainID])
    assert.deepEqual((await here.status('Host', 'beside')).acceptedSigners, [
      { identity: old.identity, source: 'file' },
    ])
    await here.delete('Pod', (await nodePod()).metadata.name)
    const { message } = await askedReason(here, 'Generator', 'source', [
      'UpstreamReachable',
      'WrongChain',
    ])
    await runCommands(message)
    await eventually(async () => {
      const { genesis, identity } = await replica('Generator')
      assert.ok(genesis)
      assert.notEqual(genesis, old.genesis)
      assert.equal(identity, old.identity)
    })
  })

  test('ChainMismatch of the Host lasts as long as it stores the old chain, and ends with it', async () => {
    const wrong = ['SignersAgree', 'ChainMismatch'] as const
    const { message } = await askedReason(here, 'Host', 'beside', wrong)
    const stored = await replica('Host')
    const from = (await replica('Generator')).head ?? 0
    await eventually(async () => {
      const { reason } = (await here.condition('Host', 'beside', 'SignersAgree')) ?? {}
      lasting.add(reason)
      await askedReason(here, 'Generator', 'source', ['UpstreamReachable', 'WebSocket'])
      await askedReason(here, 'Host', 'beside', wrong)
      assert.ok(((await replica('Generator')).head ?? 0) > from + lastingBlocks)
    })
    assert.deepEqual([...lasting], ['ChainMismatch'])
    const { head, genesis } = await replica('Host')
    assert.deepEqual([head, genesis], [stored.head, stored.genesis])
    assert.ok((head ?? 0) > ((await replica('Generator')).head ?? Number.POSITIVE_INFINITY))

    await runCommands(message)
    await askedReason(here, 'Host', 'beside', ['SignersAgree', 'Agreed'])
    await eventually(async () => {
      const [host, generator] = [await replica('Host'), await replica('Generator')]
      assert.equal(host.genesis, generator.genesis)
      assert.ok((host.head ?? 0) > from)
    })
  })
  const lasting = new Set<string | undefined>()
})
