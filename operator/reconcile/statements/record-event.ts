/** Records in an Event what was done about a resource. */
import { eventReasons } from '../../api/event-reasons.ts'
import type { Resource } from '../../api.ts'
import type { ResourceType } from '../../runtime/client/resource-type.ts'
import type { EventRecorder } from '../../runtime/event-recorder.ts'

/** What an Event is recorded with. */
export interface EventParts {
  readonly events: EventRecorder
  readonly type: ResourceType
}

/** The table says of which type an Event is. */
export function recordEvent(
  { events, type }: EventParts,
  resource: Resource,
  { reason, action, note }: EventText,
): void {
  events.record(type, resource, { type: eventReasons[reason].type, reason, action, note })
}

/** What an Event says; its type follows from the reason. */
export interface EventText {
  readonly reason: keyof typeof eventReasons
  /** What was done: `Apply`, `Delete`. */
  readonly action: string
  /** A sentence; never a value of a Secret. */
  readonly note: string
}
