import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { requests } from '../../../../operator/api/annotations.ts'
import { type KubernetesProxy, openKubernetesProxy } from '../support/audited/kubernetes-proxy.ts'
import type { Cluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { madeKinds } from '../support/cluster-objects.ts'
import { chartRules, type OperatorSpace } from '../support/cluster-operator.ts'
import { eventually, hostOf, type Namespaced, parked } from '../support/cluster-resources.ts'
import { testLabels } from '../support/leftovers.ts'
import { openOperatedCluster } from '../support/operated-cluster.ts'

describe('an operator that may not, or shall not, on a real cluster', () => {
  let cluster: Cluster
  let space: OperatorSpace
  let here: Namespaced
  let proxy: KubernetesProxy | null = null

  diagnoseFailures(() => ({ cluster, space }))
  before(async () => {
    ;({ cluster, space, here } = await openOperatedCluster())
  })
  after(async () => {
    await space.close()
    await proxy?.close()
    cluster.close()
  })
  // Claims are bound or not whatever the operator does.
  const kinds = madeKinds.filter((kind) => kind !== 'PersistentVolumeClaim')
  const versions = async (prefix: string): Promise<string[]> => {
    const all = await Promise.all(kinds.map((kind) => here.list(kind)))
    return all
      .flat()
      .filter(({ metadata }) => metadata.name.startsWith(prefix))
      .map(({ metadata, kind }) =>
        [kind, metadata.name, metadata.generation ?? metadata.resourceVersion].join(' '),
      )
  }

  test('a paused resource gets only status and Events, and its condition lists what waits', async () => {
    const kubeconfig = `${space.kubeconfig}-proxied`
    proxy = await openKubernetesProxy(space.kubeconfig, kubeconfig)
    // Without a Lease, whose renewals are writes of their own.
    await space.start({ env: { KUBECONFIG: kubeconfig, LEADER_ELECT: 'false' } })
    await here.write(hostOf('held', parked))
    await here.reason('Host', 'held', 'Ready', 'Unschedulable')
    await here.write(hostOf('held', { ...parked, paused: true }))
    await here.reason('Host', 'held', 'Paused', 'NothingWaiting')
    const { length: writtenBefore } = proxy.writes
    assert.ok(proxy.writes.some(({ path }) => path.endsWith('/statefulsets/held-host')))
    await here.delete('Service', 'held-host')
    await here.delete('Secret', 'held-host-connection')
    await here.write(hostOf('held', { ...parked, paused: true, replicas: 2 }))
    await here.reason('Host', 'held', 'Paused', 'ChangesWaiting')
    for (const reported of [
      'Secret held-host-connection created',
      'keyring key "1"',
      'Service held-host created',
      'StatefulSet held-host changed',
      'PodDisruptionBudget held-host created',
    ]) {
      await eventually(async () => {
        const condition = await here.condition('Host', 'held', 'Paused')
        assert.ok(condition?.message.includes(reported), condition?.message)
      })
    }
    const written = proxy.writes.slice(writtenBefore).map(({ method, path }) => `${method} ${path}`)
    const isReport = /^PATCH .*\/hosts\/held\/status$|\/events(\/[^/]+)?$/
    assert.deepEqual(
      written.filter((write) => !isReport.test(write)),
      [],
    )

    await here.write(hostOf('held', { ...parked, replicas: 2 }))
    await eventually(async () => {
      assert.equal(await here.condition('Host', 'held', 'Paused'), null)
      assert.ok(await here.find('Service', 'held-host'))
      assert.equal((await here.find('StatefulSet', 'held-host'))?.metadata.generation, 2)
    })
  })

  test('a resource paused from the start creates nothing until it is resumed', async () => {
    await here.write(hostOf('early', { ...parked, paused: true }))
    const { message } = await here.reason('Host', 'early', 'Ready', 'Paused')
    assert.match(message, /^There is no StatefulSet, and none is made while spec\.paused is true/)
    assert.equal(await here.condition('Host', 'early', 'Reconciling'), null)
    assert.equal(await here.find('StatefulSet', 'early-host'), null)
    await here.write(hostOf('early', parked))
    await here.reason('Host', 'early', 'Ready', 'Unschedulable')
  })

  test('a forbidden verb ends in a condition that names it, and goes on when it is given', async () => {
    const rules = chartRules()
    await space.grant(rules.filter(({ resources }) => !resources.includes('statefulsets')))
    await here.write(hostOf('unable', parked))
    const { message } = await here.reason('Host', 'unable', 'Stalled', 'Forbidden')
    assert.match(
      message,
      /cannot \w+ resource "statefulsets".* Give the role of the operator this verb/,
    )
    await space.grant(rules)
    await here.reason('Host', 'unable', 'Ready', 'Unschedulable')
    assert.equal(await here.condition('Host', 'unable', 'Stalled'), null)
  })

  test('an operator that may not list a kind writes nothing that would follow from an empty list', async () => {
    const rules = chartRules()
    await here.write(hostOf('blind', { ...parked, replicas: 2 }))
    await here.reason('Host', 'blind', 'Ready', 'Unschedulable')
    await space.stop()
    await space.grant(rules.filter(({ resources }) => !resources.includes('pods')))
    const before = await versions('blind-')
    await space.start()
    const { message } = await here.reason('Host', 'blind', 'Stalled', 'Forbidden')
    assert.match(message, /list (pods|persistentvolumeclaims)/)
    assert.deepEqual(await versions('blind-'), before)
    await space.grant(rules)
    await here.reason('Host', 'blind', 'Ready', 'Unschedulable')
  })

  /** Allows no objects of a kind in the namespace, once it is so; answers where the quota is. */
  const forbidMore = async (
    kind: 'ConfigMap' | 'PersistentVolumeClaim',
    counted: string,
  ): Promise<string> => {
    const path = `/api/v1/namespaces/${space.namespace}/resourcequotas/none`
    const quota = { metadata: { name: 'none' }, spec: { hard: { [counted]: '0' } } }
    await cluster.apply(path, { apiVersion: 'v1', kind: 'ResourceQuota', ...quota })
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } }
    await eventually(async () => {
      const { status } = await cluster.request('PATCH', here.path(kind, 'tried'), {
        body: {
          apiVersion: 'v1',
          kind,
          metadata: { name: 'tried' },
          ...(kind === 'ConfigMap' ? {} : { spec: claim }),
        },
        query: { fieldManager: 'viewmesh-test', dryRun: 'All' },
        type: 'application/apply-patch+yaml',
      })
      assert.equal(status, 403)
    })
    return path
  }

  test('a refusal by an admission policy is reported in its words, not as missing RBAC', async () => {
    const metadata = { name: `${space.namespace}-replicas`, labels: testLabels() }
    const { name } = metadata
    const group = '/apis/admissionregistration.k8s.io/v1'
    const apiVersion = 'admissionregistration.k8s.io/v1'
    const policy = `${group}/validatingadmissionpolicies/${name}`
    const binding = `${group}/validatingadmissionpolicybindings/${name}`
    const rule = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['statefulsets'] }
    const selector = { matchLabels: { 'kubernetes.io/metadata.name': space.namespace } }
    await cluster.apply(policy, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE', 'UPDATE'] }] },
        validations: [
          {
            expression: "!object.metadata.name.startsWith('policed')",
            message: 'names of teams only',
            reason: 'Forbidden',
          },
        ],
      },
    })
    await cluster.apply(binding, {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: selector },
      },
    })
    try {
      await eventually(async () => {
        const { status } = await cluster.request('PATCH', here.path('StatefulSet', 'policed'), {
          body: {
            apiVersion: 'apps/v1',
            kind: 'StatefulSet',
            metadata: { name: 'policed' },
            spec: {
              selector: { matchLabels: { a: 'b' } },
              template: {
                metadata: { labels: { a: 'b' } },
                spec: { containers: [{ name: 'a', image: 'a' }] },
              },
            },
          },
          query: { fieldManager: 'viewmesh-test', dryRun: 'All' },
          type: 'application/apply-patch+yaml',
        })
        assert.equal(status, 403)
      })
      await here.write(hostOf('policed', parked))
      const { message } = await here.reason('Host', 'policed', 'Stalled', 'Forbidden')
      assert.match(message, /names of teams only\. A policy of the cluster refuses it, /)
    } finally {
      await cluster.request('DELETE', binding)
      await cluster.request('DELETE', policy)
    }
    await here.reason('Host', 'policed', 'Ready', 'Unschedulable')
  })

  test('a quota that is used up is reported as such', async () => {
    const path = await forbidMore('ConfigMap', 'count/configmaps')
    await here.write(hostOf('full', parked))
    const { message } = await here.reason('Host', 'full', 'Stalled', 'QuotaExceeded')
    assert.match(message, /exceeded quota: none/)
    await cluster.request('DELETE', path)
    await here.reason('Host', 'full', 'Ready', 'Unschedulable')
  })

  test('a quota of claims, which only the StatefulSet meets, is repeated by Ready', async () => {
    const path = await forbidMore('PersistentVolumeClaim', 'persistentvolumeclaims')
    await here.write(hostOf('crowded', parked))
    await eventually(async () => {
      const { message } = await here.reason('Host', 'crowded', 'Ready', 'FailedCreate')
      assert.match(
        message,
        /create Claim \S+-crowded-host-0 for Pod crowded-host-0 in StatefulSet /,
      )
      assert.match(message, /exceeded quota: /)
    })
    await cluster.request('DELETE', path)
    await here.delete('Host', 'crowded')
  })

  test('a Secret that goes while pods run is reported in Ready, which stays True, and in one Event', async () => {
    const name = 'admin'
    const stringData = { token: 'secret' }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData }
    await cluster.apply(here.path('Secret', name), secret)
    const registry = { adminTokenSecretRef: { name, key: 'token' } }
    await here.write(hostOf('losing', { registry }))
    await here.reason('Host', 'losing', 'Ready', 'AllReady')
    await here.delete('Secret', name)
    const missing = /Secret admin of spec\.registry\.adminTokenSecretRef does not exist: /
    await eventually(async () => {
      const { status, message } = await here.reason('Host', 'losing', 'Ready', 'AllReady')
      assert.equal(status, 'True')
      assert.match(message, missing)
      const [note = '', ...others] = await here.notes('SecretGone')
      assert.match(note, missing)
      assert.deepEqual(others, [])
    })
    await cluster.apply(here.path('Secret', name), secret)
    await eventually(async () => {
      const { message } = await here.reason('Host', 'losing', 'Ready', 'AllReady')
      assert.equal(message, '1 of 1 pods are ready.')
    })
    await here.delete('Host', 'losing')
  })

  test('a program that fails is reported with its termination message', async () => {
    const containers = [{ name: 'host', env: [{ name: 'LOG_LEVEL', value: 'loud' }] }]
    await here.write(hostOf('failing', { podTemplate: { spec: { containers } } }))
    await eventually(async () => {
      const { message } = await here.reason('Host', 'failing', 'Ready', 'PodsFailing')
      assert.match(message, /container host: CrashLoopBackOff .*LOG_LEVEL.*\(CONFIG_INVALID\)\. /)
    })
    await here.delete('Host', 'failing')
  })

  test('a quantity of podTemplate that is none is reported by its field until it is corrected', async () => {
    const bad = {
      podTemplate: {
        spec: { containers: [{ name: 'host', resources: { limits: { cpu: 'x' } } }] },
      },
    }
    await here.write(hostOf('wrong', bad))
    const { message } = await here.reason('Host', 'wrong', 'Stalled', 'InvalidSpec')
    assert.equal(
      message,
      'Not a quantity, such as 500m or 2Gi: spec.podTemplate.spec.containers[host].resources.limits.cpu is "x". Correct it in the spec.',
    )
    await here.patch('Host', 'wrong', {
      metadata: { annotations: { [requests.reconcileAt]: 'now' } },
    })
    await eventually(async () => {
      assert.equal((await here.status('Host', 'wrong')).lastHandledReconcileAt, 'now')
    })
    const reported = space.output().match(/^.*"name":"wrong".*"stopped until a person acts".*$/gm)
    assert.equal(reported?.length, 1)
    await here.write(hostOf('wrong', parked))
    await here.reason('Host', 'wrong', 'Ready', 'Unschedulable')
  })
})
