/** Statements as conditions, and changes of them as Events. */
import {
  type ConditionDefinition,
  type ConditionType,
  conditions,
  type ReasonOf,
} from '../../api/conditions.ts'
import type { Condition } from '../../api/status.ts'
import type { Resource } from '../../api.ts'
import type { Occurrence } from '../../runtime/event-recorder.ts'
import type { WantedCondition } from '../../runtime/status-writer.ts'
import type { Problem, Statements } from './problem.ts'

const definitions: Readonly<Record<string, ConditionDefinition>> = conditions
const order = Object.keys(conditions) as ConditionType[]

/** The conditions in the order of the table; the table says which status a reason has. */
export function conditionsOf(statements: Statements): WantedCondition[] {
  return order.flatMap((type): WantedCondition[] => {
    const statement = statements[type]
    if (statement === undefined) return []
    const { reason, message } = statement
    const status = definitions[type]?.reasons[reason]?.status ?? 'Unknown'
    return [{ type, status, reason, message }]
  })
}

/** The message that a status has of this condition, where it has this reason; null otherwise. */
export function previousMessage<T extends ConditionType>(
  { status }: Resource,
  type: T,
  reason: ReasonOf<T>,
): string | null {
  const reported = status?.conditions?.find((condition) => condition.type === type)
  return reported?.reason === reason ? reported.message : null
}

/** Whether a status has this problem already, in these words. */
export function isReported(resource: Resource, { reason, message }: Problem): boolean {
  return previousMessage(resource, 'Stalled', reason) === message
}

/** What is worth an Event: conditions that have another reason than before, and one that `Stalled` does not have as well. */
export function occurrencesOf(
  before: readonly Condition[],
  after: readonly WantedCondition[],
): Occurrence[] {
  const stalled = after.find(({ type }) => type === 'Stalled')?.reason
  return after.flatMap(({ type, reason, message }): Occurrence[] => {
    const old = before.find((condition) => condition.type === type)
    const event = eventOf(type, reason)
    const isReportedByStalled = type !== 'Stalled' && reason === stalled
    if (old?.reason === reason || event === 'none' || isReportedByStalled) return []
    return [{ type: event, reason, action: type, note: message }]
  })
}

/** What kind of Event says that a condition has this reason now. */
export function eventOf(type: string, reason: string): 'none' | Occurrence['type'] {
  const { polarity, reasons } = definitions[type] ?? {}
  const { status, event } = reasons?.[reason] ?? {}
  if (event !== undefined) return event
  const isBad = polarity === 'normal-true' ? status !== 'True' : type === 'Stalled'
  return isBad ? 'Warning' : 'Normal'
}
