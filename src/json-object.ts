/** Objects in JSON that somebody else wrote: nothing is known of their members. */

export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is an object with members: no list, and not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object; none of anything else. */
export function membersOf(value: unknown): JsonObject {
  return isObject(value) ? { ...value } : {}
}
