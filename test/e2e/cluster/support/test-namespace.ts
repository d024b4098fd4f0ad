/** A real cluster with a namespace of the test's own, as suites without an operator of theirs begin. */
import { type Cluster, openCluster } from './cluster.ts'
import { inNamespace, type Namespaced } from './cluster-resources.ts'

interface TestNamespace {
  readonly cluster: Cluster
  readonly namespace: string
  /** What is in it. */
  readonly here: Namespaced
  /** Takes the namespace away, and closes the cluster. */
  close(): Promise<void>
}

interface TestNamespaceStart {
  /** Labels of the namespace; default none. */
  readonly labels?: Readonly<Record<string, string>>
}

/** The definitions are installed as well. */
export async function openTestNamespace({
  labels = {},
}: TestNamespaceStart = {}): Promise<TestNamespace> {
  const cluster = await openCluster()
  await cluster.installDefinitions()
  const namespace = await cluster.createNamespace(labels)
  return {
    cluster,
    namespace,
    here: inNamespace(cluster, namespace),
    async close() {
      await cluster.deleteNamespace(namespace)
      cluster.close()
    },
  }
}
