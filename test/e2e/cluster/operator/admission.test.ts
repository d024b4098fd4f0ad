import assert from 'node:assert/strict'
import process from 'node:process'
import { after, afterEach, before, describe, type TestContext, test } from 'node:test'
import {
  addDeadWebhook,
  addMutatingPolicies,
  mutatingPolicyVersion,
  openMutatingWebhook,
  type RemoveAdmission,
} from '../support/admission/admission.ts'
import { none, tryAdmission, withVariable } from '../support/admission/admission-trial.ts'
import { missingProgram, openOwnAPIServer } from '../support/admission/own-api-server.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import type { OperatorSpace } from '../support/cluster-operator.ts'
import {
  eventually,
  hostOf,
  type LiveObject,
  type Namespaced,
} from '../support/cluster-resources.ts'
import { type OperatedCluster, openOperatedCluster } from '../support/operated-cluster.ts'

describe('admission that fails, or changes what is applied, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let remove: RemoveAdmission | null = null

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
  })
  afterEach(async () => {
    await remove?.()
    remove = null
  })
  after(async () => {
    await space.close()
    cluster.close()
  })

  const wait = async (name: string, seconds: number): Promise<number> => {
    const what = ['wait', '--for=condition=Ready', `host/${name}`, `--timeout=${seconds}s`]
    return (await cluster.kubectl(['--namespace', space.namespace, ...what])).code
  }

  test('kubectl wait does not succeed while a webhook that fails keeps the spec from being written', async () => {
    await here.write(hostOf('kept', none))
    assert.equal(await wait('kept', 60), 0)
    remove = await addDeadWebhook(cluster, space.namespace)
    await eventually(async () => {
      const query = { dryRun: 'All' }
      const path = here.path('StatefulSet', 'kept-host')
      const body = { metadata: { annotations: { a: 'b' } } }
      const type = 'application/merge-patch+json'
      assert.equal((await cluster.request('PATCH', path, { body, query, type })).status, 500)
    })
    await here.write(hostOf('kept', { ...none, ...withVariable('1') }))
    const { message } = await here.reason('Host', 'kept', 'Reconciling', 'ProgressingWithRetry')
    assert.match(message, /apply statefulsets .*: 500 .*failed calling webhook "test.viewmesh.io"/)
    assert.equal(await wait('kept', 5), 1)
    const host = (await here.find('Host', 'kept')) as LiveObject
    const { observedGeneration = 0 } = await here.status('Host', 'kept')
    assert.ok(observedGeneration < (host.metadata.generation ?? 0))
    await remove()
    remove = null
    assert.equal(await wait('kept', 120), 0)
    assert.equal((await here.status('Host', 'kept')).observedGeneration, host.metadata.generation)
  })

  test('what a webhook changes is written once, reported once, and no drift', async () => {
    remove = await openMutatingWebhook(cluster, space.namespace)
    await tryAdmission({ cluster, space, here }, 'webhook')
  })

  test('what a MutatingAdmissionPolicy changes is written once, reported once, and no drift', async (t) => {
    const place = await openWithPolicies(t)
    if (place === null) return
    const { version, ...operated } = place
    remove = await addMutatingPolicies(operated.cluster, operated.space.namespace, version)
    await tryAdmission(operated, 'policy')
  })

  /**
   * A cluster that knows such policies, which are beta in 1.34 and off there: this one, or else an API server of this
   * test with that feature. Null where that is impossible, which is said aloud.
   */
  const openWithPolicies = async (
    t: TestContext,
  ): Promise<(OperatedCluster & { readonly version: string }) | null> => {
    const version = await mutatingPolicyVersion(cluster)
    if (version !== null) return { cluster, space, here, version }
    const missing = missingProgram()
    if (missing !== null) {
      const message = `NOT RUN: this cluster knows no MutatingAdmissionPolicy, and without ${missing} on the PATH there is no other`
      process.stderr.write(`\n!! ${message}\n`)
      t.skip(message)
      return null
    }
    const server = await openOwnAPIServer([
      '--feature-gates=MutatingAdmissionPolicy=true',
      '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
    ])
    let operated: OperatedCluster | null = null
    t.after(async () => {
      await operated?.space.close()
      operated?.cluster.close()
      await server.close()
    })
    operated = await openOperatedCluster({ kubeconfig: server.kubeconfig })
    return { ...operated, version: 'v1beta1' }
  }
})
