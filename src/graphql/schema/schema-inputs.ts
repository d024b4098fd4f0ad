/**
 * The input types of one entity: its filter, its order, its fields for grouping, and the selectors
 * of aggregates. The names are part of what users write in variable definitions.
 */
import {
  GraphQLEnumType,
  type GraphQLEnumValueConfigMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql'
import { type Attribute, type Entity, isNumeric } from '../catalog/entity.ts'
import { foldSpellings, folds, otherSpelling } from '../catalog/spelling.ts'
import { blockFor, elementFilterFor } from './schema-operators.ts'
import { intScalar, jsonScalar, orderingEnum } from './schema-scalars.ts'

/** The input types of one entity. */
export interface EntityInputs {
  readonly filter: GraphQLInputObjectType
  readonly order: GraphQLInputObjectType
  readonly field: GraphQLEnumType
  readonly numericField: GraphQLEnumType
  readonly countSelector: GraphQLInputObjectType
  readonly numericSelector: GraphQLInputObjectType
  /** Selectors of inline lists, by attribute. */
  readonly listSelectors: ReadonlyMap<string, GraphQLInputObjectType>
}

/** Finds another entity's inputs once all are made; relations refer to each other. */
export type InputsOf = (name: string) => EntityInputs

/** Makes the input types of one entity. */
export function createInputs(entity: Entity, inputsOf: InputsOf): EntityInputs {
  const filter = filterArg(entity, inputsOf)
  const order = orderArg(entity, inputsOf)
  const numericField = numericFields(entity)
  return {
    filter,
    order,
    numericField,
    field: fieldEnum(entity),
    countSelector: countSelector(entity.typeName, filter),
    numericSelector: numericSelector(entity, filter, order, numericField),
    listSelectors: listSelectors(entity),
  }
}

type Fields = GraphQLInputFieldConfigMap

/** An attribute under its name and its other spelling. */
function spelled(fields: Fields, attribute: Attribute, type: Fields[string]['type']): void {
  const { name, alias, description } = attribute
  fields[name] = { type, description }
  if (alias !== undefined) fields[alias] = { type, deprecationReason: otherSpelling(name) }
}

function filterArg(entity: Entity, inputsOf: InputsOf): GraphQLInputObjectType {
  const filter: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${entity.typeName}FilterArg`,
    description: 'Conditions; all of them must hold.',
    fields: () => {
      const all = new GraphQLList(new GraphQLNonNull(filter))
      const fields: Fields = {
        _and: { type: all, description: 'All of these hold.' },
        _or: { type: all, description: 'At least one of these holds.' },
        _not: { type: filter, description: 'This does not hold.' },
        _alias: {
          type: jsonScalar,
          description: 'Conditions by the alias that the selection gives a field or aggregate.',
        },
      }
      for (const attribute of entity.attributes.values()) {
        spelled(fields, attribute, blockFor(attribute.kind, attribute.list))
      }
      for (const link of entity.links.values()) {
        const description = link.many ? 'At least one matches.' : 'It matches.'
        fields[link.field] = { type: inputsOf(link.target).filter, description }
      }
      return fields
    },
  })
  return filter
}

function orderArg(entity: Entity, inputsOf: InputsOf): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${entity.typeName}OrderArg`,
    description: 'One field and its direction; a list of these orders by several.',
    fields: () => {
      const fields: Fields = {
        _alias: {
          type: jsonScalar,
          description: 'By the alias that the selection gives a field or aggregate.',
        },
      }
      for (const attribute of entity.attributes.values()) {
        if (isOrdered(attribute)) spelled(fields, attribute, orderingEnum)
      }
      for (const link of entity.links.values()) {
        if (!link.many) fields[link.field] = { type: inputsOf(link.target).order }
      }
      return fields
    },
  })
}

/** What JSON says has no order. */
const isOrdered = ({ kind, list }: Attribute): boolean => !list && kind !== 'json'

function fieldEnum(entity: Entity): GraphQLEnumType {
  const values: GraphQLEnumValueConfigMap = {}
  for (const { name, alias } of entity.attributes.values()) {
    values[name] = {}
    if (alias !== undefined) values[alias] = { deprecationReason: otherSpelling(name) }
  }
  for (const link of entity.links.values()) values[link.field] = {}
  return new GraphQLEnumType({ name: fieldEnumName(entity), values })
}

/** Views may well have names that end with Field, so that the enum of one has a name that none of them can have. */
function fieldEnumName({ typeName, view, votesOn }: Entity): string {
  const isOfView = view !== undefined || votesOn !== undefined
  return isOfView ? `${typeName}__Field` : `${typeName}Field`
}

function numericFields(entity: Entity): GraphQLEnumType {
  const values: GraphQLEnumValueConfigMap = {}
  for (const { name, kind, list } of entity.attributes.values()) {
    if (isNumeric(kind) && !list) values[name] = {}
  }
  for (const fold of folds) {
    values[fold] = { description: 'The aggregate of that name in the inner selection.' }
    values[foldSpellings[fold]] = { deprecationReason: otherSpelling(fold) }
  }
  return new GraphQLEnumType({ name: `${entity.typeName}NumericFieldsArg`, values })
}

function countSelector(name: string, filter: GraphQLInputObjectType): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${name}__CountSelector`,
    fields: { filter: { type: filter }, limit: { type: intScalar }, offset: { type: intScalar } },
  })
}

function numericSelector(
  entity: Entity,
  filter: GraphQLInputObjectType,
  order: GraphQLInputObjectType,
  numericField: GraphQLEnumType,
): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${entity.typeName}__NumericSelector`,
    fields: {
      field: { type: new GraphQLNonNull(numericField) },
      filter: { type: filter },
      limit: { type: intScalar },
      offset: { type: intScalar },
      order: { type: new GraphQLList(order) },
    },
  })
}

function listSelectors(entity: Entity): ReadonlyMap<string, GraphQLInputObjectType> {
  const lists = [...entity.attributes.values()].filter((attribute) => attribute.list)
  return new Map(
    lists.map(({ name, kind }) => [
      name,
      countSelector(`${entity.typeName}__${name}`, elementFilterFor(kind)),
    ]),
  )
}
