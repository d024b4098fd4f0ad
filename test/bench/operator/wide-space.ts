/**
 * Namespaces for many Hosts, and an account with the rights that the chart gives an operator of the whole
 * cluster, which is what it installs unless told otherwise.
 */
import { type Cluster, expectStatus, restrictedLevel } from '../../e2e/cluster/support/cluster.ts'
import { account, chartRules } from '../../e2e/cluster/support/cluster-operator.ts'
import { eventually } from '../../e2e/cluster/support/cluster-resources.ts'
import { expectNoResources } from '../../e2e/cluster/support/no-resources.ts'

interface WideSpace {
  /** The account, and the Lease, are in the first one. */
  readonly namespaces: readonly string[]
  /** Takes everything away, and waits until it is gone. */
  close(): Promise<void>
}

interface WideSpaceOptions {
  /** Of what belongs to no namespace; nobody else's. */
  readonly name: string
  readonly count: number
}

const group = 'rbac.authorization.k8s.io'
const rbac = `/apis/${group}/v1`
const goneMs = 900_000

/** Throws where the cluster has Generators or Hosts, which the operator would take for its own. */
export async function openWideSpace(
  { name, count }: WideSpaceOptions,
  { cluster }: { readonly cluster: Cluster },
): Promise<WideSpace> {
  await expectNoResources(cluster)
  const namespaces = await Promise.all(
    Array.from({ length: count }, () => cluster.createNamespace(restrictedLevel)),
  )
  const [namespace = ''] = namespaces
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account } }
  await expectStatus(cluster.request('POST', path, { body }), 201)
  await cluster.apply(`${rbac}/clusterroles/${name}`, {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name },
    rules: chartRules('rules', 'cluster-rules', 'election-rules'),
  })
  await cluster.apply(`${rbac}/clusterrolebindings/${name}`, {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  })
  return {
    namespaces,
    async close() {
      for (const place of namespaces) await cluster.deleteNamespace(place)
      for (const place of namespaces) await gone(cluster, `/api/v1/namespaces/${place}`)
      await cluster.request('DELETE', `${rbac}/clusterrolebindings/${name}`)
      await cluster.request('DELETE', `${rbac}/clusterroles/${name}`)
    },
  }
}

/** Kubernetes deletes a namespace with everything in it bit by bit. */
async function gone(cluster: Cluster, path: string): Promise<void> {
  await eventually(async () => {
    const { status } = await cluster.request('GET', path)
    if (status !== 404) throw new Error(`${path} is still there`)
  }, goneMs)
}
