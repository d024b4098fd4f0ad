/** A document in an answer. */

/** Its fields by the names of the collection, beside whatever else was selected. */
export type AnsweredDocument = Readonly<Record<string, unknown>>

/** Whether a part of an answer is an object with fields: a document, a proof or a part of one. */
export function isObject(value: unknown): value is AnsweredDocument {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
