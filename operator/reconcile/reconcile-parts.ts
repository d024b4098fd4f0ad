/** What a reconcile works with. */
import type { Resource } from '../api.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import type { EventRecorder } from '../runtime/event-recorder.ts'
import type { ResourceType } from '../runtime/resource-type.ts'
import type { StatusWriter } from '../runtime/status-writer.ts'
import type { ClusterView } from './cluster-view.ts'
import type { HealthObserver } from './health/health-observer.ts'
import type { ReconcileOptions } from './kind-logic.ts'
import type { LookPace } from './look-pace.ts'
import type { Mirror } from './mirror.ts'

export interface ReconcileParts<R extends Resource> {
  readonly options: ReconcileOptions
  readonly api: KubernetesApi
  readonly view: ClusterView
  /** The resources of this kind. */
  readonly mirror: Mirror<R>
  readonly type: ResourceType
  readonly observer: HealthObserver
  readonly status: StatusWriter
  readonly events: EventRecorder
  /** The time of day. */
  readonly now: () => Date
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number
  /** How often Secrets of a resource are looked at, since nothing tells of their changes. */
  readonly pace: LookPace
}
