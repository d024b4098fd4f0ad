/**
 * The six collections as one table. SDL, GraphQL types, indexes, documents, canonical bytes and the
 * schema endpoint's answers are all derived from it; nothing else lists a field.
 */

/**
 * What a field holds. `hash`, `address` and `data` are 0x-prefixed lower-case hex of fixed or free
 * length; `quantity` is minimal 0x hex of a number; `int` and `boolean` are GraphQL's; `text` is
 * free text (seals only).
 */
export type FieldKind = 'hash' | 'address' | 'data' | 'quantity' | 'int' | 'boolean' | 'text'

export interface Field {
  readonly name: string
  readonly kind: FieldKind
  /** A list of `kind` instead of one. */
  readonly list?: true
  /** Marked `@index` in the SDL. */
  readonly index?: true
  /** Stored and answered, but not part of the canonical bytes (design: `totalDifficulty`). */
  readonly unsigned?: true
}

export interface Relation {
  /** The name both sides of the relation declare. */
  readonly name: string
  readonly field: string
  readonly target: CollectionName
  /** True on the side that holds a list. */
  readonly many: boolean
}

export interface Collection {
  readonly name: CollectionName
  /** The path parameter of the schema endpoint. */
  readonly path: string
  /** First part of this collection's docIDs, as in `tx-0x...`. */
  readonly idPrefix: string
  readonly description: string
  /** Scalar fields in table order: the order of values in canonical bytes. */
  readonly fields: readonly Field[]
  readonly relations: readonly Relation[]
}

export type CollectionName =
  | 'Block'
  | 'Transaction'
  | 'Log'
  | 'AccessListEntry'
  | 'BlockSignature'
  | 'SnapshotSignature'

/** A field's value as JSON-RPC and GraphQL show it: hex in 0x form, Int as number. */
export type Value = string | number | boolean | null | readonly string[]
