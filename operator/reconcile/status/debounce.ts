/**
 * Debounces the warnings about what replicas report. Most of them pass within seconds, while pods start or
 * nodes are restarted: an Event is recorded once the warning has lasted.
 */
import type { Occurrence } from '../../runtime/event-recorder.ts'
import type { WantedCondition } from '../../runtime/status-writer.ts'
import type { PendingWarnings } from '../apply/resource-memory.ts'
import { eventOf } from '../statements/conditions.ts'
import { observedTypes } from './resource-status.ts'

/** How long a warning has to last. */
export const debounceMs = 60_000

interface DebouncedEvents {
  readonly now: readonly Occurrence[]
  /** Until the next warning is due, if it lasts; null where none is. */
  readonly nextMs: number | null
}

/** Which of these changes, and of the pending warnings, are Events now. Keeps `pendingWarnings` up to date. */
export function debounceWarnings(
  pendingWarnings: PendingWarnings,
  changes: readonly Occurrence[],
  conditions: readonly WantedCondition[],
  nowMs: number,
): DebouncedEvents {
  const isLate = ({ type, action }: Occurrence): boolean =>
    type === 'Warning' && observedTypes.some((observed) => observed === action)
  for (const { action } of changes.filter(isLate))
    if (!pendingWarnings.has(action)) pendingWarnings.set(action, nowMs)
  const lasted = conditions.flatMap(({ type, status, reason, message }): Occurrence[] => {
    const sinceMs = pendingWarnings.get(type) ?? nowMs
    const isDue = nowMs - sinceMs >= debounceMs
    if (isDue || status !== 'False') pendingWarnings.delete(type)
    return isDue && status === 'False' && eventOf(type, reason) === 'Warning'
      ? [{ type: 'Warning', reason, action: type, note: message }]
      : []
  })
  const waits = [...pendingWarnings.values()].map((sinceMs) => sinceMs + debounceMs - nowMs)
  return {
    now: [...changes.filter((change) => !isLate(change)), ...lasted],
    nextMs: waits.length === 0 ? null : Math.min(...waits),
  }
}
