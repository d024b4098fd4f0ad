/** Writes whether pods have the resource as an owner (`../evaluate/pod-owners.ts`). */
import type { Workload } from '../../api.ts'
import { ownerReference } from '../../resources/names/metadata.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ReconcileRun } from '../../runtime/controller.ts'
import type { PodOwnerChanges } from '../evaluate/pod-owners.ts'
import type { KeptPod } from '../observe/pod.ts'
import type { ReconcileParts } from './reconcile-parts.ts'

/**
 * Writes what differs. A pod may be gone or another one by now, and what refuses this must not hide what else is to be
 * said of the resource: where it fails it is logged, and tried again by the next reconcile. Returns how it was
 * forbidden; null where it was not.
 */
export async function applyPodOwners<R extends Workload>(
  parts: Pick<ReconcileParts<R>, 'api'>,
  resource: R,
  { own, release }: PodOwnerChanges,
  run: ReconcileRun,
): Promise<unknown> {
  const changes = [
    ...own.map((pod) => ({ pod, ownerReferences: [ownerReference(resource)] })),
    ...release.map((pod) => ({ pod, ownerReferences: [] })),
  ]
  let refusal: unknown = null
  for (const change of changes)
    refusal = (await applyOwners(parts, resource, change, run)) ?? refusal
  return refusal
}

interface PodOwners {
  readonly pod: KeptPod
  /** Those that the operator writes; others stay. */
  readonly ownerReferences: readonly ReturnType<typeof ownerReference>[]
}

async function applyOwners<R extends Workload>(
  { api }: Pick<ReconcileParts<R>, 'api'>,
  { metadata: { namespace } }: R,
  { pod: { name, uid }, ownerReferences }: PodOwners,
  { signal, log }: ReconcileRun,
): Promise<unknown> {
  const metadata = { name, namespace, uid, ownerReferences }
  const object = { apiVersion: 'v1', kind: 'Pod', metadata } as KubernetesObject
  try {
    await api.apply(builtinTypes.Pod, object, { signal })
  } catch (error) {
    if (signal.aborted || hasCode(error, 'OPERATOR_FENCED')) throw error
    const isGone = hasCode(error, 'OPERATOR_API_CONFLICT', 'OPERATOR_API_INVALID')
    log[isGone ? 'debug' : 'warn']({ err: error, pod: name }, 'owner of a pod not written')
    return hasCode(error, 'OPERATOR_API_FORBIDDEN') ? error : null
  }
  log.info({ pod: name, isOwned: ownerReferences.length > 0 }, 'owner of a pod written')
  return null
}
