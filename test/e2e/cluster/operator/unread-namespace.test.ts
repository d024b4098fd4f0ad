import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { chartRules, type OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  hostOf,
  inNamespace,
  type Namespaced,
  parked,
} from '../support/cluster-resources.ts'
import { healthPort } from '../support/cluster-restart.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('an operator that may not read one of its namespaces, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let there: Namespaced
  let closed: string
  let ready: () => Promise<readonly [number, string]>

  const restart = async (): Promise<void> => {
    const port = healthPort(await space.start())
    ready = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
      return [answer.status, await answer.text()]
    }
  }
  const versionOf = async (name: string): Promise<string | undefined> =>
    (await here.find('ConfigMap', name))?.metadata.resourceVersion

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster({ namespaces: 2 }))
    closed = space.namespaces[1] ?? ''
    there = inNamespace(cluster, closed)
    await here.write(hostOf('alone', parked))
    await here.write(hostOf('bound', parked))
    await there.write(hostOf('lost', parked))
    await here.reason('Host', 'alone', 'Ready', 'Unschedulable')
    await here.reason('Host', 'bound', 'Ready', 'Unschedulable')
    await there.reason('Host', 'lost', 'Ready', 'Unschedulable')
    const generators = [{ name: 'source', namespace: closed }]
    await here.write(hostOf('bound', { ...parked, generators }))
    await here.reason('Host', 'bound', 'PeersConnected', 'GeneratorMissing')
    await space.stop()
    await space.grant([], [closed])
    await restart()
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  test('an unreadable namespace is named at /readyz and in the log while the others are served', async () => {
    await here.write(hostOf('alone', { ...parked, replicas: 2 }))
    await eventually(async () => {
      assert.equal((await here.find('StatefulSet', 'alone-host'))?.metadata.generation, 2)
    })
    await here.reason('Host', 'alone', 'Ready', 'Unschedulable')
    const [status, text] = await ready()
    assert.equal(status, 200, text)
    assert.match(text, new RegExp(`^\\[!\\]watches: nothing is done .*Pod.* in ${closed}$`, 'm'))
    assert.match(
      space.output(),
      new RegExp(`"namespace":"${closed}".*"nothing is done here until it can be read"`),
    )
  })

  test('a Host whose Generators are in there is left as it is, and says so', async () => {
    const before = await versionOf('bound-host')
    const { message } = await here.reason('Host', 'bound', 'Stalled', 'Forbidden')
    assert.match(message, new RegExp(`list generators ${closed}: 403 `))
    assert.equal(await versionOf('bound-host'), before)
  })

  test('an operator that may read none of them is not ready, and works again once it may', async () => {
    await space.stop()
    await space.grant(chartRules('election-rules'))
    await restart()
    const [status, text] = await ready()
    assert.equal(status, 503, text)
    assert.match(text, new RegExp(`^\\[-\\]watches failed: not read: .*Pod.* in ${closed}$`, 'm'))
    await space.grant(chartRules())
    await here.reason('Host', 'bound', 'Ready', 'Unschedulable')
    await there.write(hostOf('lost', { ...parked, replicas: 2 }))
    await eventually(async () => {
      assert.equal((await there.find('StatefulSet', 'lost-host'))?.metadata.generation, 2)
    })
    assert.match((await ready())[1], /^\[\+\]watches ok$/m)
  })

  test('a right that is taken from an operator at work is missed within a minute of its watches', async () => {
    await space.grant(rulesWithout('pods'), [closed])
    const { message } = await there.reason('Host', 'lost', 'Stalled', 'Forbidden')
    assert.match(message, new RegExp(`^(list|watch) pods ${closed}: 403 `))
    const remark = new RegExp(`^\\[!\\]watches: nothing is done .*: Pod in ${closed}$`, 'm')
    assert.match((await ready())[1], remark)
    const before = await setGeneration()
    await there.write(hostOf('lost', { ...parked, replicas: 3 }))
    await here.write(hostOf('alone', { ...parked, replicas: 1 }))
    await eventually(async () => {
      assert.equal((await here.find('StatefulSet', 'alone-host'))?.metadata.generation, 3)
    })
    assert.equal(await setGeneration(), before)
    await space.grant(chartRules(), [closed])
    await there.reason('Host', 'lost', 'Ready', 'Unschedulable')
    await eventually(async () => assert.notEqual(await setGeneration(), before))
    assert.match((await ready())[1], /^\[\+\]watches ok$/m)
  })

  const setGeneration = async (): Promise<unknown> =>
    (await there.find('StatefulSet', 'lost-host'))?.metadata.generation
})

/** The rules of the chart, without the right to list and watch what has this plural. */
function rulesWithout(plural: string): ReturnType<typeof chartRules> {
  return chartRules().map((rule) =>
    rule.resources.includes(plural)
      ? { ...rule, verbs: rule.verbs.filter((verb) => !['list', 'watch'].includes(verb)) }
      : rule,
  )
}
