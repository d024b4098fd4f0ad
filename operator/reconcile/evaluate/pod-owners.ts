/**
 * Which pods have the resource itself as their owner. Kubernetes deletes a pod together with its StatefulSet, and
 * that together with the resource; pods whose StatefulSet was removed without them would outlive both, and go on
 * sealing. So they have the resource as an owner until another StatefulSet has adopted them.
 */
import type { Workload } from '../../api.ts'
import { selectorLabels } from '../../resources/names/metadata.ts'
import type { KeptPod } from '../observe/pod.ts'
import { isOfFormer, isOwnedBy } from '../statements/ownership.ts'
import type { ObservedState } from './observed-state.ts'

export interface PodOwnerChanges {
  /** Pods that are to go together with the resource. */
  readonly own: readonly KeptPod[]
  /** Pods that go together with their StatefulSet again. */
  readonly release: readonly KeptPod[]
}

/** `areStray`: their StatefulSet is gone, or goes without them, be it in this very reconcile. */
export function podOwnerChanges(
  resource: Workload,
  { pods, set }: Pick<ObservedState, 'pods' | 'set'>,
  areStray: boolean,
): PodOwnerChanges {
  const setUID = set?.metadata?.uid
  const ours = [...pods.values()].filter((pod) => isOurs(resource, pod, setUID))
  if (areStray) {
    return { own: ours.filter(({ owners }) => !isOwnedBy(resource, owners)), release: [] }
  }
  const adopted = ours.filter(({ controllerUID }) => controllerUID === setUID)
  return { own: [], release: adopted.filter(({ owners }) => isOwnedBy(resource, owners)) }
}

/** One that another controller has is that one's, and one of a deleted resource of this name is about to go with it. */
function isOurs(
  resource: Workload,
  { labels, owners, controllerUID, isTerminating }: KeptPod,
  setUID: string | undefined,
): boolean {
  if (isTerminating || isOfFormer(resource, owners)) return false
  if (controllerUID !== null && controllerUID !== setUID) return false
  return Object.entries(selectorLabels(resource)).every(([name, value]) => labels[name] === value)
}
