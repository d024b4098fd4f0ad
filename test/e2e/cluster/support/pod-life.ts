/** How a pod that was replaced, or a container that was started again, is recognised. */
import type { Namespaced } from './cluster-resources.ts'

/** The same text for as long as the pod and each of its containers run on. */
export async function podLife(here: Namespaced, name: string): Promise<string> {
  const pod = await here.find('Pod', name)
  const { containerStatuses = [] } = (pod?.status ?? {}) as {
    containerStatuses?: { restartCount: number; containerID: string }[]
  }
  return JSON.stringify([
    name,
    pod?.metadata.uid,
    pod?.metadata.labels?.['controller-revision-hash'],
    containerStatuses.map(({ containerID, restartCount }) => [containerID, restartCount]),
  ])
}
