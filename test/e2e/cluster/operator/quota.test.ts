import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { records } from '../../../../operator/api/annotations.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced, parked } from '../support/cluster-resources.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

/** The operator notices within this time that a quota was raised. */
const noticedWithinMs = 60_000

describe('quotas that keep something from being made, on a real cluster', () => {
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

  /** Allows so many of them, and waits until the API server counts. */
  const limit = async (what: 'pods' | 'secrets', count: number): Promise<void> => {
    const path = `/api/v1/namespaces/${space.namespace}/resourcequotas/${what}`
    const hard = { [what]: String(count) }
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: what },
      spec: { hard },
    }
    await cluster.apply(path, quota)
    await eventually(async () => {
      const { body } = await cluster.request('GET', path)
      assert.deepEqual(Reflect.get(body.status ?? {}, 'hard'), hard)
    })
  }

  test('a quota on pods is repeated by Ready, and is noticed soon once it is raised', async () => {
    await limit('pods', 0)
    await here.write(hostOf('podless', parked))
    const { message } = await here.reason('Host', 'podless', 'Ready', 'FailedCreate')
    assert.match(message, /create Pod podless-host-0 in StatefulSet podless-host failed error: /)
    assert.match(message, /exceeded quota: pods, requested: pods=1, used: pods=0, limited: pods=0/)
    await eventually(async () => {
      const set = await here.find('StatefulSet', 'podless-host')
      assert.ok(set?.metadata.annotations?.[records.nudgedAt])
    })
    await limit('pods', 10)
    await eventually(async () => {
      assert.ok(await here.find('Pod', 'podless-host-0'))
    }, noticedWithinMs)
    await here.reason('Host', 'podless', 'Ready', 'Unschedulable')
  })

  test('a quota on Secrets is reported in its words, and is noticed soon once it is raised', async () => {
    const secrets = await here.list('Secret')
    await limit('secrets', secrets.length + 1)
    await here.write(hostOf('keyless', parked))
    const { message } = await here.reason('Host', 'keyless', 'Stalled', 'QuotaExceeded')
    assert.match(
      message,
      /: 403 exceeded quota: secrets, requested: secrets=1, used: .* Raise the /,
    )
    await here.reason('Host', 'keyless', 'IdentityReady', 'KeyringPending')
    await limit('secrets', secrets.length + 10)
    await eventually(async () => {
      const found = await here.condition('Host', 'keyless', 'IdentityReady')
      assert.equal(found?.reason, 'KeyringGenerated')
    }, noticedWithinMs)
  })
})
