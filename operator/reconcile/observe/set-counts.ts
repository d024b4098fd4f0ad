/**
 * The counts of a StatefulSet, as far as a reconcile goes by them.
 */
import type { V1StatefulSet } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { updatePartition, wantedReplicas } from '../../resources/names/names.ts'

/** What is kept of a StatefulSet's own counts. */
export interface SetCounts {
  readonly generation: number
  readonly observedGeneration: number
  /** What its own spec says, which is another number than the resource's while changes wait. */
  readonly wantedReplicas: number
  readonly replicas: number
  readonly readyReplicas: number
  readonly updatedReplicas: number
  readonly isRolling: boolean
}

export function countsOf({ metadata, spec, status }: V1StatefulSet): SetCounts {
  return {
    generation: metadata?.generation ?? 0,
    observedGeneration: status?.observedGeneration ?? 0,
    wantedReplicas: spec?.replicas ?? 1,
    replicas: status?.replicas ?? 0,
    readyReplicas: status?.readyReplicas ?? 0,
    updatedReplicas: status?.updatedReplicas ?? 0,
    isRolling: status?.updateRevision !== status?.currentRevision,
  }
}

/** Whether its controller has seen what was last written. */
export function isObserved({ observedGeneration, generation }: SetCounts): boolean {
  return observedGeneration >= generation
}

/** Whether pods are being replaced by ones with a new template. */
export function isRollingOut(resource: Workload, set: SetCounts): boolean {
  return (
    outdatedReplicas(resource, set) > Math.min(updatePartition(resource), wantedReplicas(resource))
  )
}

/**
 * How many pods have another template than the newest. A StatefulSet that was recreated reports that it is not
 * rolling out, whatever the pods have that it finds; one that is may have pods still to make.
 */
export function outdatedReplicas(
  resource: Workload,
  { isRolling, replicas, updatedReplicas }: SetCounts,
): number {
  const wanted = wantedReplicas(resource)
  return (isRolling ? wanted : Math.min(replicas, wanted)) - updatedReplicas
}
