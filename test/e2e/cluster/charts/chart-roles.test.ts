import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Cluster, expectStatus } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { eventually, hostOf, type Namespaced } from '../support/cluster-resources.ts'
import { renderChart } from '../support/helm.ts'
import { openTestNamespace } from '../support/test-namespace.ts'

describe('what the chart adds to the roles view, edit and admin', () => {
  const user = 'viewmesh-test-editor'
  let cluster: Cluster
  let namespace: string
  let here: Namespaced
  let close: () => Promise<void>

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    ;({ cluster, namespace, here, close } = await openTestNamespace())
    await here.write(hostOf('wide', {}))
  })
  after(() => close())

  /** Lets the user do what the chart adds to these roles, and nothing else. */
  const allow = async (...roles: readonly string[]): Promise<void> => {
    const objects = await renderChart(
      'operator',
      { name: 'op', namespace },
      { global: { imageRegistry: 'localhost' }, rbac: { aggregateClusterRoles: true } },
    )
    const rules = objects
      .filter(({ metadata }) =>
        roles.some(
          (role) => `rbac.authorization.k8s.io/aggregate-to-${role}` in (metadata.labels ?? {}),
        ),
      )
      .flatMap((object) => object['rules'] as object[])
    assert.notEqual(rules.length, 0)
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
    const metadata = { name: user, namespace }
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    await cluster.apply(`${rbac}/roles/${user}`, { apiVersion, kind: 'Role', metadata, rules })
    await cluster.apply(`${rbac}/rolebindings/${user}`, {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
    })
  }
  const asUser = (...args: readonly string[]) =>
    cluster.kubectl([...args, '--namespace', namespace, '--as', user])

  test('the edit role scales a Host, also on condition of how many replicas it has', async () => {
    await allow('view', 'edit')
    await eventually(async () => {
      assert.equal((await asUser('scale', 'host', 'wide', '--replicas', '2')).code, 0)
    })
    const answer = await asUser(
      'scale',
      'host',
      'wide',
      '--current-replicas',
      '2',
      '--replicas',
      '3',
    )
    assert.equal(answer.code, 0, answer.stderr)
    const path = here.path('Host', 'wide')
    const { body } = await expectStatus(cluster.request('GET', path), 200)
    assert.equal(Reflect.get(body.spec ?? {}, 'replicas'), 3)
  })

  test('the view role sees Hosts and their scale, and changes nothing', async () => {
    await allow('view')
    await eventually(async () => {
      assert.match(
        (await asUser('scale', 'host', 'wide', '--replicas', '4')).stderr,
        /cannot patch/,
      )
    })
    const scale = `/apis/viewmesh.io/v1alpha1/namespaces/${namespace}/hosts/wide/scale`
    const { code, stdout } = await cluster.kubectl(['get', '--raw', scale, '--as', user])
    assert.deepEqual([code, JSON.parse(stdout).spec], [0, { replicas: 3 }])
  })
})
