/** JSON that others wrote: its fields, of which nothing is trusted to be there or to have its shape. */

/** The fields of a JSON object; none where the text is anything else. */
export function parseFields(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** One field of an object or one item of a list by its place; undefined where it is not there. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([found]) => found === name)?.[1]
}

/** Whether a value is an object with fields, and no list. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of an object; none where the value is anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' ? { ...value } : {}
}

/** A copy of what was read of a text: a part of it, however short, keeps the whole text in memory. */
export function apartFromText<T>(read: T): T {
  return JSON.parse(JSON.stringify(read)) as T
}
