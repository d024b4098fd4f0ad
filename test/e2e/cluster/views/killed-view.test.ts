import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { plainDefinition } from '../../../support/resources/view-cases.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { alone, type OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced, parked } from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('an operator that is killed at each of its writes for a View, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster({ env: alone }))
    await here.write(hostOf('reader', parked))
    await here.reason('Host', 'reader', 'Ready', 'Unschedulable')
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const filesIn = async (name: string): Promise<Readonly<Record<string, string>>> => {
    const found = await here.find('ConfigMap', name)
    return (found as { binaryData?: Record<string, string> } | null)?.binaryData ?? {}
  }
  const moments = [
    'before apply ConfigMap',
    'after apply ConfigMap',
    'before apply View/status',
    'after apply View/status',
  ]
  for (const [index, moment] of moments.entries()) {
    test(`${moment}: the next one hands the same bytes to the Host, once`, async () => {
      const name = `view${index}`
      const sdl = `type Sender${index} { address: String }`
      const definition = { ...plainDefinition, sdl }
      await space.dieAt(moment, async () => {
        await here.write({ kind: 'View', name, spec: { definition } })
      })
      const before = await filesIn(`${name}-view`)
      await space.start({ env: alone })
      await here.reason('View', name, 'Served', 'Pending')
      const kept = await filesIn(`${name}-view`)
      assert.equal(Object.keys(kept).length, 1)
      assert.deepEqual({ ...kept, ...before }, kept)
      await eventually(async () => {
        const handed = await filesIn('reader-host-views-0')
        assert.equal(Object.keys(handed).length, index + 1)
        assert.deepEqual({ ...handed, ...kept }, handed)
      })
    })
  }
})
