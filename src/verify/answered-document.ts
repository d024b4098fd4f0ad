/** A document in an answer. */
import type { JsonObject } from '../json-object.ts'

/** Its fields by the names of the collection, beside whatever else was selected. */
export type AnsweredDocument = JsonObject
