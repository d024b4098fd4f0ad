/** Whether a cluster is free for an operator that looks after all of it. */
import { category } from '../../../../operator/api/resource-kinds.ts'
import type { Cluster } from './cluster.ts'

/** Throws where there are resources of ours, which such an operator would take for its own. */
export async function expectNoResources(cluster: Cluster): Promise<void> {
  const command = ['get', category, '-A', '-o', 'name']
  const { code, stdout, stderr } = await cluster.kubectl(command)
  const isUndefined = stderr.includes("the server doesn't have a resource type")
  if (code !== 0 && !isUndefined) throw new Error(`nobody knows who uses the cluster: ${stderr}`)
  if (stdout !== '')
    throw new Error(`the cluster has to be free of Generators, Hosts and Views:\n${stdout}`)
}
