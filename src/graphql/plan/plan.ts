/**
 * A compiled query: what to do, with everything decided that does not depend on variables. Kept by
 * query text and run with other variables each time.
 */
import type { FieldNode, GraphQLField } from 'graphql'
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { Attribute, Entity, RowLink, ViewSource } from '../catalog/entity.ts'
import type { Fold } from '../catalog/spelling.ts'

/** Arguments to be coerced with the variables of a request. */
export interface ArgumentSource {
  readonly field: GraphQLField<unknown, unknown>
  /** Without the arguments that depend on omitted variables. */
  readonly node: FieldNode
  readonly isConstant: boolean
}

/** A value as the answer shows it. */
export type Render = (value: JsonValue) => JsonValue

/** A field whose value is known before anything is read. */
export interface ConstantField {
  readonly type: 'constant'
  readonly key: string
  readonly value: JsonValue
}

/** One field of a row's answer. */
export type RowField =
  | ConstantField
  | {
      readonly type: 'value'
      readonly key: string
      readonly attribute: Attribute
      readonly render: Render | null
    }
  | {
      readonly type: 'one'
      readonly key: string
      readonly link: RowLink
      readonly target: Entity
      readonly source: ArgumentSource
      readonly selection: RowSelection
    }
  | {
      readonly type: 'many'
      readonly key: string
      readonly link: RowLink
      readonly list: ListPlan
    }
  | AggregateField
  /** A document that a View's row was made of; it is in the same block. */
  | {
      readonly type: 'source'
      readonly key: string
      readonly view: ViewSource
      readonly list: ListPlan
    }
  | { readonly type: 'version'; readonly key: string; readonly fields: readonly NamedField[] }
  | { readonly type: 'proof'; readonly key: string; readonly fields: readonly NamedField[] }

/** The fields of a row's answer, in the order of the query. */
export interface RowSelection {
  readonly entity: Entity
  readonly fields: readonly RowField[]
}

/** A field of a fixed type, under its response key. */
export interface NamedField {
  readonly key: string
  readonly name: string
  /** What is selected of it; empty for a scalar. */
  readonly fields: readonly NamedField[]
}

/** A list of rows, or of groups of rows. */
export type ListPlan = RowListPlan | GroupListPlan

interface ListSource {
  readonly entity: Entity
  readonly source: ArgumentSource
}

/** A list of rows. */
export interface RowListPlan extends ListSource {
  readonly type: 'rows'
  readonly selection: RowSelection
}

/** A list of groups of rows. */
export interface GroupListPlan extends ListSource {
  readonly type: 'groups'
  readonly selection: GroupSelection
}

/** The fields of a group's answer. */
export interface GroupSelection {
  readonly entity: Entity
  readonly keys: readonly Attribute[]
  readonly fields: readonly GroupField[]
}

/** One field of a group's answer. */
export type GroupField =
  | ConstantField
  | {
      readonly type: 'key'
      readonly key: string
      /** Place among the group's keys. */
      readonly index: number
      readonly render: Render | null
    }
  | { readonly type: 'members'; readonly key: string; readonly list: ListPlan }
  | AggregateField

/** An aggregate, of one or several targets taken together. */
export interface AggregateField {
  readonly type: 'aggregate'
  readonly key: string
  readonly fold: Fold
  readonly source: ArgumentSource
  readonly targets: readonly AggregateTarget[]
}

/** What an aggregate is taken over, by the name of its argument. */
export type AggregateTarget =
  | {
      readonly type: 'link'
      readonly argument: string
      readonly link: RowLink
      readonly target: Entity
      /** The aggregates of the same link's selection, for aggregates over aggregates. */
      readonly inner: readonly AggregateField[]
    }
  | {
      readonly type: 'group'
      readonly argument: string
      /** The member list of the same group, for aggregates over its aggregates. */
      readonly members: ListPlan | null
    }
  | { readonly type: 'list'; readonly argument: string; readonly attribute: Attribute }
  | { readonly type: 'version'; readonly argument: string }
  | { readonly type: 'collection'; readonly argument: string; readonly entity: Entity }

/** A field of introspection, and those selected of the objects it has. */
export interface IntrospectionField {
  readonly type: 'field'
  readonly key: string
  readonly source: ArgumentSource
  readonly below: readonly (ConstantField | IntrospectionField)[]
}

/** One field of the operation. */
export type RootField =
  | ConstantField
  | {
      readonly type: 'list'
      readonly key: string
      readonly node: FieldNode
      readonly list: ListPlan
    }
  | { readonly type: 'aggregate'; readonly key: string; readonly aggregate: AggregateField }
  | {
      readonly type: 'commits'
      readonly key: string
      readonly source: ArgumentSource
      readonly fields: readonly NamedField[]
    }
  | { readonly type: 'introspection'; readonly key: string; readonly field: IntrospectionField }

/** A compiled operation. */
export interface QueryPlan {
  readonly fields: readonly RootField[]
}
