/** Statements as conditions, and changes of them as Events. */
import { type ConditionDefinition, type ConditionType, conditions } from '../api/conditions.ts'
import type { Condition } from '../api/status.ts'
import type { Occurrence } from '../runtime/event-recorder.ts'
import type { WantedCondition } from '../runtime/status-writer.ts'
import type { Statements } from './kind-logic.ts'

const definitions: Readonly<Record<string, ConditionDefinition>> = conditions
const order = Object.keys(conditions) as ConditionType[]
const maxMessage = 1_024

/** The conditions in the order of the table; the table says which status a reason has. */
export function conditionsOf(statements: Statements): WantedCondition[] {
  return order.flatMap((type): WantedCondition[] => {
    const statement = statements[type]
    if (statement === undefined) return []
    const { reason, message } = statement
    const status = definitions[type]?.reasons[reason]?.status ?? 'Unknown'
    return [{ type, status, reason, message: message.slice(0, maxMessage) }]
  })
}

/** Steps on the way, which nobody has to be told of. */
const quiet: readonly string[] = [
  'Embedded',
  'IdentityNotReady',
  'InCluster',
  'Initializing',
  'NotNeeded',
  'NothingWaiting',
  'Pending',
  'Progressing',
  'Stalled',
  'Unobserved',
  'UpToDate',
  'WaitingForStorage',
]

/** What is worth an Event: conditions that have another reason than before. */
export function occurrencesOf(
  before: readonly Condition[],
  after: readonly WantedCondition[],
): Occurrence[] {
  return after
    .filter(({ type, reason }) => {
      const old = before.find((condition) => condition.type === type)
      return old?.reason !== reason && !quiet.includes(reason)
    })
    .map(({ type, status, reason, message }) => ({
      type: isBad(type, status) ? 'Warning' : 'Normal',
      reason,
      action: type,
      note: message,
    }))
}

function isBad(type: string, status: string): boolean {
  const polarity = definitions[type]?.polarity
  if (polarity === 'normal-true') return status !== 'True'
  return type === 'Stalled'
}
