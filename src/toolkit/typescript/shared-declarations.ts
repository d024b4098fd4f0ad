/**
 * What the module of types has before the Views. No name here ends as those of a View do, so that a View may have any
 * name.
 */

/** The first line: who wrote the file, and by which the next run knows that it may write it again. */
export const moduleHeader = '// Written by viewmesh types, which writes it again: do not edit it.'

/** Declarations that all Views share. */
export const sharedDeclarations = `/** Anything that JSON can say. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

/** A whole number of any size as decimal text, which \`BigInt\` takes. */
export type WholeNumber = \`\${bigint}\`

/**
 * A query as text, with the types of its answer and of its variables. The property is never there; clients of GraphQL
 * that know \`DocumentTypeDecoration\` read the types from it.
 */
export type TypedDocument<Data, Variables> = string & {
  readonly __apiType?: (variables: Variables) => Data
}

/** Smallest or largest first; null is smaller than everything. */
export type Ordering = 'ASC' | 'DESC'

/** Equal, not equal, one of these, none of these; null means that there is no value. */
export type EqualityConditions<Operand> = {
  readonly _eq?: Operand | null | undefined
  readonly _neq?: Operand | null | undefined
  readonly _in?: readonly (Operand | null)[] | undefined
  readonly _nin?: readonly (Operand | null)[] | undefined
}

/** Greater, greater or equal, less, less or equal. */
export type RangeConditions<Operand> = EqualityConditions<Operand> & {
  readonly _gt?: Operand | undefined
  readonly _geq?: Operand | undefined
  readonly _lt?: Operand | undefined
  readonly _leq?: Operand | undefined
}

/** Text with % at its start, its end, or once in its middle; \`i\` in any case, \`n\` not. */
export type TextConditions = EqualityConditions<string> & {
  readonly _like?: string | undefined
  readonly _nlike?: string | undefined
  readonly _ilike?: string | undefined
  readonly _nilike?: string | undefined
}

/** Whether there is a value. */
export type JsonConditions = {
  readonly _eq?: null | undefined
  readonly _neq?: null | undefined
}

/** At least one element, every element, no element; or the whole list. */
export type ListConditions<Conditions, Operand> = {
  readonly _any?: Conditions | undefined
  readonly _all?: Conditions | undefined
  readonly _none?: Conditions | undefined
  readonly _eq?: readonly (Operand | null)[] | null | undefined
  readonly _neq?: readonly (Operand | null)[] | null | undefined
}
`
