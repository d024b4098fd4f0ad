/** What is said of a Generator that hangs, or whose execution node does: no kill, so that nothing is started again. */
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Condition } from '../../../../operator/api/status.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  generatorOf,
  type LiveObject,
  type Namespaced,
  writeNode,
} from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'
import { type PodProcess, podProcess } from '../support/pod-process.ts'

/** Nobody asks for it: the operator has to find out by itself in this time. */
const noticedMs = 70_000

describe('a program that hangs, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
    await writeNode(cluster, space.namespace)
    await here.write(generatorOf('source'))
    await here.reason('Generator', 'source', 'Ready', 'AllReady')
    await goesOn()
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const goesOn = async (): Promise<void> => {
    await here.reason('Generator', 'source', 'UpstreamReachable', 'WebSocket')
    await eventually(async () => {
      const { lag, head = -1 } = await here.status('Generator', 'source')
      assert.ok(lag !== undefined && head >= 0)
    })
  }
  const upstream = async (): Promise<Condition | null> =>
    await here.condition('Generator', 'source', 'UpstreamReachable')
  /** Hangs a program for as long as the test lasts; null where it is on another machine. */
  const hang = (
    t: TestContext,
    pod: LiveObject | null | undefined,
    program: string,
  ): PodProcess | null => {
    assert.ok(pod)
    const found = podProcess(pod.metadata.uid, program)
    if (found === null) {
      t.skip('the pod runs on another machine')
      return null
    }
    t.after(() => found.resume())
    found.hang()
    return found
  }
  /** What status says as soon as it is so. */
  const noticed = async (status: Condition['status'], reason: string): Promise<Condition> =>
    await eventually(async () => {
      const found = await upstream()
      assert.deepEqual([found?.status, found?.reason], [status, reason])
      return found as Condition
    }, noticedMs)

  test('an execution node that hangs is Unreachable, and no lag is claimed until it goes on', async (t) => {
    const [node] = (await here.list('Pod')).filter(
      ({ metadata }) => metadata.labels?.['app'] === 'node',
    )
    const hung = hang(t, node, 'anvil')
    if (hung === null) return
    const { message } = await noticed('False', 'Unreachable')
    assert.match(message, /did not answer within 10000 ms \(CHAIN_TIMEOUT\)/)
    const { head = -1, lag, nodes } = await here.status('Generator', 'source')
    assert.ok(head >= 0)
    assert.deepEqual(
      [lag, nodes?.[0]?.lag, nodes?.[0]?.upstreamMode],
      [undefined, undefined, 'offline'],
    )
    await here.reason('Generator', 'source', 'Ready', 'AllReady')
    hung.resume()
    await goesOn()
  })

  test('a Generator that hangs is neither Ready nor observed, and its figures are gone', async (t) => {
    const hung = hang(t, await here.find('Pod', 'source-generator-0'), 'node')
    if (hung === null) return
    await noticed('Unknown', 'Unobserved')
    const { head, lag, nodes } = await here.status('Generator', 'source')
    assert.deepEqual([head, lag, nodes?.[0]?.head], [undefined, undefined, undefined])
    await eventually(async () => {
      const ready = await here.condition('Generator', 'source', 'Ready')
      assert.equal(ready?.status, 'False')
      assert.match(ready.message, /not yet: source-generator-0 \(no answer at \/health\)/)
    }, noticedMs)
    hung.resume()
    await here.reason('Generator', 'source', 'Ready', 'AllReady')
    await goesOn()
  })
})
