/**
 * Has running pods see a changed ConfigMap now. The kubelet brings it into a pod when it next looks at
 * that pod, which may take a minute and a half, and looks at once when the pod changes in any way.
 */
import { records } from '../api/annotations.ts'
import type { Resource } from '../api.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import { hasCode } from '../runtime/api-error.ts'
import type { ReconcileRun } from '../runtime/controller.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import { type ClusterView, podsOf } from './cluster-view.ts'

/** Writes an annotation on each pod. Where that fails the pods only see the change later. */
export async function nudgePods(
  { api, view }: { readonly api: KubernetesApi; readonly view: ClusterView },
  resource: Resource,
  mark: string,
  { signal, log }: ReconcileRun,
): Promise<void> {
  const { namespace } = resource.metadata
  const annotations = { [records.configMap]: mark }
  for (const { name, isGoing, ip } of podsOf(view, resource).values()) {
    if (isGoing || ip === null) continue
    const address = { type: builtinTypes.Pod, namespace, name }
    try {
      await api.patch(address, { metadata: { annotations } }, { type: 'merge', signal })
    } catch (error) {
      if (hasCode(error, 'OPERATOR_FENCED')) throw error
      log.debug({ err: error, pod: name }, 'pod not told of its changed ConfigMap')
    }
  }
}
