/**
 * Which Events are told of conditions about what replicas see. Most of their troubles pass within seconds, while
 * pods start or nodes are restarted: a warning is told once it has lasted.
 */
import type { Occurrence } from '../runtime/event-recorder.ts'
import type { WantedCondition } from '../runtime/status-writer.ts'
import { observedTypes } from './resource-status.ts'

/** How long a trouble has to last. */
export const lastingMs = 60_000

/** When conditions began to be in trouble that nobody was told of, by their types. */
export type Troubles = Map<string, number>

export interface Telling {
  readonly now: readonly Occurrence[]
  /** Until the next warning is due, if its trouble lasts; null where none is. */
  readonly nextMs: number | null
}

/** Of these changes, and of what was not told before, what is to be told now. Keeps `troubles` up to date. */
export function tellLasting(
  troubles: Troubles,
  changes: readonly Occurrence[],
  conditions: readonly WantedCondition[],
  nowMs: number,
): Telling {
  const isLate = ({ type, action }: Occurrence): boolean =>
    type === 'Warning' && observedTypes.some((observed) => observed === action)
  for (const change of changes) {
    if (!isLate(change)) troubles.delete(change.action)
    else if (!troubles.has(change.action)) troubles.set(change.action, nowMs)
  }
  const lasted = conditions.flatMap(({ type, status, reason, message }): Occurrence[] => {
    const sinceMs = troubles.get(type) ?? nowMs
    const isDue = nowMs - sinceMs >= lastingMs
    if (isDue || status !== 'False') troubles.delete(type)
    return isDue && status === 'False'
      ? [{ type: 'Warning', reason, action: type, note: message }]
      : []
  })
  const waits = [...troubles.values()].map((sinceMs) => sinceMs + lastingMs - nowMs)
  return {
    now: [...changes.filter((change) => !isLate(change)), ...lasted],
    nextMs: waits.length === 0 ? null : Math.min(...waits),
  }
}
