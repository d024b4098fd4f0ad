/** The kinds of objects that are applied for a resource. */
import type {
  V1ConfigMap,
  V1PodDisruptionBudget,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
} from '@kubernetes/client-node'
import type { NetworkPolicy } from './network-policy.ts'

/** An object with apiVersion, kind, name and namespace, ready for server-side apply. */
export type ChildObject =
  | V1ConfigMap
  | V1PodDisruptionBudget
  | V1Service
  | V1ServiceAccount
  | V1StatefulSet
  | NetworkPolicy

/** The StatefulSet among the objects of a resource, if it is there. */
export function statefulSetOf(objects: readonly ChildObject[]): V1StatefulSet | undefined {
  return objects.find(({ kind }) => kind === 'StatefulSet') as V1StatefulSet | undefined
}

/** What one resource comes to. */
export interface ResourceObjects {
  readonly objects: readonly ChildObject[]
  /** Where this operator would build the pods differently, and waits with it: fields that differ. */
  readonly updateAvailable: readonly string[] | null
}
