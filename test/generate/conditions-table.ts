/** The tables of conditions and Events, from the declarations that the operator reports by. */
import { type ConditionDefinition, conditions } from '../../operator/api/conditions.ts'
import { type EventReason, eventReasons } from '../../operator/api/event-reasons.ts'
import { table } from './table.ts'

/** A chapter for every condition: what True means, and its reasons. */
export function conditionChapters(): string {
  return Object.entries<ConditionDefinition>(conditions)
    .map(([type, definition]) => chapter(type, definition))
    .join('\n\n')
}

function chapter(type: string, { meaning, kinds, reasons }: ConditionDefinition): string {
  const only = kinds.length === 1 ? ` Of a ${kinds[0]} only.` : ''
  const rows = Object.entries(reasons).map(([reason, one]) => [
    `\`${reason}\``,
    one.status,
    one.meaning,
  ])
  return `### ${type}\n\n${meaning}${only}\n\n${table(['Reason', 'Status', 'Meaning'], rows)}`
}

/** The reasons that only Events have. */
export function eventsTable(): string {
  const rows = Object.entries<EventReason>(eventReasons).map(([reason, { type, meaning }]) => [
    `\`${reason}\``,
    type,
    meaning,
  ])
  return table(['Reason', 'Type', 'Meaning'], rows)
}
