/** Objects of a fixed type, such as a version or a proof, cut down to what is selected of them. */
import type { Value } from '../../primitives/collections.ts'
import type { NamedField } from '../plan/plan.ts'

/** Part of an answer. */
export type Json = Value | readonly Json[] | { readonly [key: string]: Json }

/** Values by field name; a function is called only where its field is selected. */
export type FixedObject = Readonly<Record<string, Json | (() => Json)>>

/** The selected fields under their response keys, in the order of the query. */
export function pickFields(fields: readonly NamedField[], object: FixedObject): Json {
  return Object.fromEntries(
    fields.map(({ key, name, fields: below }) => {
      const value = object[name] ?? null
      return [key, pickBelow(below, typeof value === 'function' ? value() : value)]
    }),
  )
}

function pickBelow(fields: readonly NamedField[], value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (isList(value)) return value.map((item) => pickBelow(fields, item))
  return pickFields(fields, value)
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
