import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { labels } from '../../../../operator/api/annotations.ts'
import { selectorLabels } from '../../../../operator/resources/names/metadata.ts'
import { childNames, podName } from '../../../../operator/resources/names/names.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { type Cluster, openCluster } from '../support/cluster.ts'
import { diagnoseFailures } from '../support/cluster-diagnostics.ts'
import { chartRules } from '../support/cluster-operator.ts'
import { eventually, inNamespace, type Namespaced } from '../support/cluster-resources.ts'
import { type RenderedObject, renderChart } from '../support/helm.ts'
import { testLabels } from '../support/leftovers.ts'

interface GivenPod {
  readonly labels: Readonly<Record<string, string>>
  readonly subdomain?: string
}

const policies = 'validatingadmissionpolicies'
const paths: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: `/apis/admissionregistration.k8s.io/v1/${policies}`,
  ValidatingAdmissionPolicyBinding:
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
}

/** What the chart restricts pods by. */
async function policyOf(namespace: string, values: object = {}): Promise<RenderedObject[]> {
  const global = { imageRegistry: 'localhost' }
  const objects = await renderChart('operator', { name: 'op', namespace }, { global, ...values })
  return objects.filter(({ kind }) => kind in paths)
}

test('pods are restricted where the whole cluster is watched, unless that is switched off', async () => {
  const kinds = async (values: object): Promise<string[]> =>
    (await policyOf('viewmesh', values)).map(({ kind }) => kind).toSorted()
  assert.deepEqual(await kinds({}), Object.keys(paths))
  assert.deepEqual(await kinds({ scope: { clusterWide: false } }), [])
  assert.deepEqual(await kinds({ rbac: { restrictPods: false } }), [])
  assert.deepEqual(await kinds({ rbac: { create: false } }), [])
})

describe('what the operator can do with pods by the policy of its chart', () => {
  const account = 'op-viewmesh-operator'
  const mainnet = readHost('host-minimal')
  const { base, nodes } = childNames(mainnet)
  const ours = podName(mainnet, 0)
  const host = selectorLabels(mainnet)
  const generator = { ...host, [labels.name]: 'generator' }
  /** Pods of somebody else who uses labels of the same values. */
  const strangers: Readonly<Record<string, GivenPod>> = {
    'web-5d9c7b-x2v4q': { labels: { [labels.name]: 'host' } },
    [`${base}-5d9c7b-x2v4q`]: { labels: host, subdomain: nodes },
    [`${base}-1`]: { labels: host, subdomain: base },
    [`${base}-2`]: { labels: host },
    [`${base}-3`]: { labels: generator, subdomain: 'mainnet-generator-nodes' },
    'host-0': { labels: { [labels.name]: 'host' }, subdomain: 'host-nodes' },
  }
  let cluster: Cluster
  let namespace: string
  let here: Namespaced
  let written: string[] = []

  diagnoseFailures(() => ({ cluster }))
  before(async () => {
    cluster = await openCluster()
    namespace = await cluster.createNamespace()
    here = inNamespace(cluster, namespace)
    await allow()
    await writePod(ours, { labels: host, subdomain: nodes })
    await writePod('theirs', { labels: { [labels.name]: 'postgres' } })
    for (const [name, pod] of Object.entries(strangers)) await writePod(name, pod)
    for (const object of await policyOf(namespace)) {
      const path = `${paths[object.kind]}/${object.metadata.name}`
      const metadata = { ...object.metadata }
      metadata.labels = { ...metadata.labels, ...testLabels() }
      await cluster.apply(path, { ...object, metadata })
      written = [...written, path]
    }
    await eventually(async () => {
      assert.match(await change('theirs', { annotations: { 'viewmesh.io/config-map': 'x' } }), only)
    })
  })
  after(async () => {
    for (const path of written) await cluster.request('DELETE', path)
    await cluster.deleteNamespace(namespace)
    cluster.close()
  })

  /** Gives the account the rights of the chart's Role, and what kubectl needs to begin with. */
  const allow = async (): Promise<void> => {
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    const metadata = { name: account, namespace }
    const reading = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
    const rules = [...chartRules('rules'), reading]
    await cluster.apply(`${rbac}/roles/${account}`, { apiVersion, kind: 'Role', metadata, rules })
    await cluster.apply(`${rbac}/rolebindings/${account}`, {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    })
  }
  /** No node takes it, so that it stays as it is. */
  const writePod = async (name: string, { labels, ...spec }: GivenPod): Promise<void> => {
    const annotations = { 'example.org/kept': 'as it is' }
    await cluster.apply(here.path('Pod', name), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels, annotations },
      spec: {
        ...spec,
        nodeSelector: { nowhere: 'at-all' },
        containers: [{ name: 'main', image: 'localhost/image:1' }],
      },
    })
  }
  const asOperator = async (...args: readonly string[]): Promise<string> => {
    const as = `system:serviceaccount:${namespace}:${account}`
    const { code, stderr } = await cluster.kubectl([...args, '--namespace', namespace, '--as', as])
    return code === 0 ? '' : stderr
  }
  /** What the API server says to a change of the pod, empty where it takes it. */
  const patch = (name: string, body: object): Promise<string> =>
    asOperator('patch', 'pod', name, '--type', 'strategic', '--patch', JSON.stringify(body))
  const change = (name: string, metadata: object): Promise<string> => patch(name, { metadata })
  const only = /forbidden: .*the operator changes and deletes pods of Generators and Hosts only/

  test('the API server finds nothing wrong with the expressions', async () => {
    const path = written.find((one) => one.includes(`/${policies}/`)) ?? ''
    const { typeChecking } = await eventually(async () => {
      const { body } = await cluster.request('GET', path)
      const status = Object(body.status) as { typeChecking?: object }
      assert.ok(status.typeChecking)
      return status
    })
    assert.deepEqual(typeChecking, {})
  })

  test('it changes its annotations and the owners of the pods of Generators and Hosts', async () => {
    assert.equal(await change(ours, { annotations: { 'viewmesh.io/config-map': 'abc' } }), '')
    assert.equal(await change(ours, { annotations: { 'viewmesh.io/config-map': null } }), '')
    const { uid } = (await here.find('ConfigMap', 'kube-root-ca.crt'))?.metadata ?? {}
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'kube-root-ca.crt', uid }
    assert.equal(await change(ours, { ownerReferences: [owner] }), '')
  })

  test('it changes nothing else of them', async () => {
    const image = { spec: { containers: [{ name: 'main', image: 'localhost/image:2' }] } }
    const its = /the operator changes owners and its own annotations of pods only/
    assert.match(await patch(ours, image), its)
    assert.match(await change(ours, { labels: { [labels.name]: 'other' } }), its)
    assert.match(await change(ours, { finalizers: ['example.org/forever'] }), its)
    const beginning = /the operator changes those that begin with viewmesh\.io\/ only/
    for (const value of ['changed', null]) {
      assert.match(await change(ours, { annotations: { 'example.org/kept': value } }), beginning)
    }
    assert.match(await change(ours, { annotations: { 'example.org/new': 'x' } }), beginning)
  })

  test('it neither changes nor deletes other pods, also where it would label them as its own', async () => {
    assert.match(await change('theirs', { labels: host }), only)
    assert.match(await asOperator('delete', 'pod', 'theirs'), only)
    assert.equal(await asOperator('delete', 'pod', ours, '--now'), '')
  })

  test('it neither changes nor deletes pods that only have the labels of a Generator or Host', async () => {
    for (const name of Object.keys(strangers)) {
      const { uid } = (await here.find('Pod', name))?.metadata ?? {}
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'kube-root-ca.crt', uid }
      assert.match(await change(name, { ownerReferences: [owner] }), only, name)
      assert.match(await change(name, { annotations: { 'viewmesh.io/config-map': 'x' } }), only)
      assert.match(await asOperator('delete', 'pod', name), only, name)
    }
  })

  test('it stands in the way of nobody else', async () => {
    const metadata = { labels: { [labels.name]: 'other' } }
    await here.patch('Pod', 'theirs', { metadata })
    await here.delete('Pod', 'theirs')
    await eventually(async () => assert.equal(await here.find('Pod', 'theirs'), null))
  })
})
