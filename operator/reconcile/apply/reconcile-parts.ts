/** What a reconcile works with. */
import type { Resource } from '../../api.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import type { ResourceType } from '../../runtime/client/resource-type.ts'
import type { EventRecorder } from '../../runtime/event-recorder.ts'
import type { StatusWriter } from '../../runtime/status-writer.ts'
import type { ReconcileOptions } from '../fetch/kind-logic.ts'
import type { ResyncInterval } from '../fetch/resync-interval.ts'
import type { ClusterView } from '../observe/cluster-view.ts'
import type { HealthObserver } from '../observe/health-observer.ts'
import type { Informer } from '../observe/informer.ts'

export interface ReconcileParts<R extends Resource> {
  readonly options: ReconcileOptions
  /** Name of this operator in `status.managedBy`. */
  readonly self: string
  readonly api: KubernetesApi
  readonly view: ClusterView
  /** The resources of this kind. */
  readonly informer: Informer<R>
  readonly type: ResourceType
  readonly observer: HealthObserver
  readonly status: StatusWriter
  readonly events: EventRecorder
  /** The time of day. */
  readonly now: () => Date
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number
  /** How often a resource is reconciled, and its Secrets are read, though nothing changed. */
  readonly resync: ResyncInterval
}
