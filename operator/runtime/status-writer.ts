/**
 * Writes the status of resources: by server-side apply, only where it differs from what is there, and
 * figures that move all the time once a minute at most.
 */
import type { KubernetesObject } from './kubernetes-object.ts'
import type { ResourceType } from './resource-type.ts'

/** A condition as it is wanted, without the times that this file keeps. */
export interface WantedCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export interface WantedStatus {
  /** Written as soon as they differ; those that are not named are taken away. */
  readonly conditions: readonly WantedCondition[]
  /** Further fields that are written as soon as they differ. */
  readonly facts: Readonly<Record<string, unknown>>
  /** Fields that move with every block: written with anything else, else once a minute at most. */
  readonly figures: Readonly<Record<string, unknown>>
}

export interface StatusOutcome {
  readonly written: boolean
  /** When figures that were held back are due. */
  readonly requeueAfterMs?: number
}

export interface StatusWriter {
  /** `live` is the resource as it is known, with its status. */
  write(
    type: ResourceType,
    live: KubernetesObject,
    wanted: WantedStatus,
    signal?: AbortSignal,
  ): Promise<StatusOutcome>
}
