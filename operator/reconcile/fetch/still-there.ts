/**
 * Whether a resource is still at the API server. Each kind is watched by itself, so that the loss of its objects,
 * which Kubernetes collects once a resource is deleted, can be seen before its own deletion is.
 */
import type { Resource } from '../../api.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import type { ResourceType } from '../../runtime/client/resource-type.ts'

/** Asked by a list of one, since the operator may list and watch the resources of a namespace, and not get them. */
export async function isStillThere(
  { api, type }: { readonly api: Pick<KubernetesApi, 'list'>; readonly type: ResourceType },
  { metadata: { namespace, name, uid } }: Resource,
  signal: AbortSignal,
): Promise<boolean> {
  const fieldSelector = `metadata.name=${name}`
  const keep = ({ metadata }: KubernetesObject): boolean =>
    metadata?.uid === uid && !('deletionTimestamp' in metadata)
  const { items } = await api.list({ type, namespace, fieldSelector }, { keep, signal })
  return items.includes(true)
}
