/** A real cluster with the definitions and an operator at work, as most suites about it begin. */
import { type Cluster, openCluster } from './cluster.ts'
import { writeDiagnostics } from './cluster-diagnostics.ts'
import { type OperatorSpace, type OperatorStart, openOperatorSpace } from './cluster-operator.ts'
import { inNamespace, type Namespaced } from './cluster-resources.ts'

export interface OperatedCluster {
  readonly cluster: Cluster
  readonly space: OperatorSpace
  /** What is in the operator's namespace. */
  readonly here: Namespaced
}

interface OperatedClusterStart extends OperatorStart {
  /** How many namespaces it looks after; default 1. */
  readonly namespaces?: number
  /** Of another cluster than that of KUBECONFIG. */
  readonly kubeconfig?: string
}

/** Starts the operator; who closes its space closes the cluster after it. */
export async function openOperatedCluster({
  namespaces = 1,
  kubeconfig,
  ...settings
}: OperatedClusterStart = {}): Promise<OperatedCluster> {
  const cluster = await openCluster(kubeconfig)
  await cluster.installDefinitions()
  const space = await openOperatorSpace(cluster, namespaces)
  try {
    await space.start(settings)
  } catch (error) {
    await writeDiagnostics('the start of the operator', { cluster, space })
    await space.close()
    cluster.close()
    throw error
  }
  return { cluster, space, here: inNamespace(cluster, space.namespace) }
}
