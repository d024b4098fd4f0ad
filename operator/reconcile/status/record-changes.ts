/** Records in Events how conditions changed. */
import type { Resource } from '../../api.ts'
import type { WantedCondition } from '../../runtime/status-writer.ts'
import type { ReconcileParts } from '../apply/reconcile-parts.ts'
import type { PendingWarnings } from '../apply/resource-memory.ts'
import { occurrencesOf } from '../statements/conditions.ts'
import { debounceWarnings } from './debounce.ts'

/**
 * Records what changed, where it was written, and which of the `pendingWarnings`, which are kept up to date, have
 * lasted; returns in how many milliseconds the next of them may be due, null for none.
 */
export function recordChanges<R extends Resource>(
  { type, events, nowMs }: Pick<ReconcileParts<R>, 'type' | 'events' | 'nowMs'>,
  resource: R,
  { conditions, isWritten }: ReportedConditions,
  pendingWarnings: PendingWarnings,
): number | null {
  const before = resource.status?.conditions ?? []
  const changes = isWritten ? occurrencesOf(before, conditions) : []
  const { now, nextMs } = debounceWarnings(pendingWarnings, changes, conditions, nowMs())
  for (const occurrence of now) events.record(type, resource, occurrence)
  return nextMs
}

interface ReportedConditions {
  readonly conditions: readonly WantedCondition[]
  readonly isWritten: boolean
}
