/** Reads the claims of a namespace with all that may use them. */
import type { V1PersistentVolumeClaim, V1Pod, V1StatefulSet } from '@kubernetes/client-node'
import { labels } from '../../api/annotations.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { listResources } from '../cluster/resources.ts'
import { type ClaimUse, claimUses } from './claim-use.ts'

/** Claims first: what begins to use one after that is seen. */
export async function readClaims(api: KubernetesApi, namespace: string): Promise<ClaimUse[]> {
  const claims = await api.list(
    {
      type: builtinTypes.PersistentVolumeClaim,
      namespace,
      labelSelector: `${labels.holds} in (keys,data)`,
    },
    { keep: (claim: V1PersistentVolumeClaim) => claim },
  )
  const sets = await api.list(
    { type: builtinTypes.StatefulSet, namespace },
    { keep: (set: V1StatefulSet) => set },
  )
  const resources = await listResources(api, namespace)
  const pods = await api.list({ type: builtinTypes.Pod, namespace }, { keep: (pod: V1Pod) => pod })
  return claimUses(claims.items, { resources, sets: sets.items, pods: pods.items })
}
