/**
 * Events (events.k8s.io/v1) about objects. One that happens again within ten minutes is the same Event
 * with a higher count, written once a minute at most.
 */
import type { KubernetesObject } from './kubernetes-object.ts'
import type { ResourceType } from './resource-type.ts'

/** Something worth telling about an object. */
export interface Occurrence {
  readonly type: 'Normal' | 'Warning'
  /** One word in upper camel case, the same as the reason of a condition. */
  readonly reason: string
  /** What was done or tried: `Apply`, `Reconcile`. */
  readonly action: string
  /** A sentence for people, cut at 1,024 characters. Never a secret. */
  readonly note: string
}

export interface EventRecorder {
  /** Returns at once; an Event that cannot be written is logged and let go. */
  record(type: ResourceType, object: KubernetesObject, occurrence: Occurrence): void
  /** Writes the counts that are still due. */
  close(): Promise<void>
}
