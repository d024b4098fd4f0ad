/** JSON that others wrote: its fields, of which nothing is trusted to be there or to have its shape. */

/** The fields of a JSON object; none where the text is anything else. */
export function parseFields(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The fields of an object; none where the value is anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
