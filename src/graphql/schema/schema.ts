/**
 * The GraphQL schema of a catalog, for validation, coercion and introspection. It has no resolvers:
 * the executor of this room runs the queries.
 */
import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
} from 'graphql'
import { invariant } from '../../errors.ts'
import type { Catalog, Entity, EntityName } from '../catalog/entity.ts'
import { createInputs, type EntityInputs } from './schema-inputs.ts'
import {
  collectionArguments,
  commitsArguments,
  commitType,
  createObject,
  foldFields,
} from './schema-objects.ts'

type Fields = GraphQLFieldConfigMap<unknown, unknown>

/** Builds the schema; every collection is a field under its full and its short name. */
export function createSchema(catalog: Catalog): GraphQLSchema {
  const inputs = new Map<EntityName, EntityInputs>()
  const objects = new Map<EntityName, GraphQLObjectType>()
  const inputsOf = (name: EntityName) => found(inputs, name)
  const objectOf = (name: EntityName) => found(objects, name)
  for (const entity of catalog.values()) {
    inputs.set(entity.name, createInputs(entity, inputsOf))
    objects.set(entity.name, createObject(entity, inputsOf, objectOf))
  }
  const collections = collectionFields(catalog, inputsOf, objectOf)
  const commits: Fields = {
    _commits: {
      type: new GraphQLList(commitType),
      args: commitsArguments,
      description: 'The versions of documents, by CID or by docID.',
    },
  }
  const aggregates = foldFields((fold) => targets(catalog, inputsOf, fold === 'COUNT'))
  return new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: { ...collections, ...aggregates, ...commits },
    }),
    subscription: new GraphQLObjectType({ name: 'Subscription', fields: collections }),
  })
}

function found<T>(map: ReadonlyMap<EntityName, T>, name: EntityName): T {
  const value = map.get(name)
  invariant(value !== undefined, `the catalog has ${name}`)
  return value
}

function collectionFields(
  catalog: Catalog,
  inputsOf: (name: EntityName) => EntityInputs,
  objectOf: (name: EntityName) => GraphQLObjectType,
): Fields {
  const fields: Fields = {}
  for (const entity of catalog.values()) {
    const type = new GraphQLList(objectOf(entity.name))
    const args = collectionArguments(inputsOf(entity.name))
    const { description } = entity
    fields[entity.typeName] = { type, args, description }
    fields[entity.name] = {
      type,
      args,
      description: `${description} Short for ${entity.typeName}.`,
    }
  }
  return fields
}

function targets(
  catalog: Catalog,
  inputsOf: (name: EntityName) => EntityInputs,
  isCount: boolean,
): GraphQLFieldConfigArgumentMap {
  const args: GraphQLFieldConfigArgumentMap = {}
  for (const entity of catalog.values()) {
    const { countSelector, numericSelector } = inputsOf(entity.name)
    const type = isCount ? countSelector : numericSelector
    args[entity.typeName] = { type }
    args[entity.name] = { type }
  }
  return args
}

/** Entities by both names that a root field may have. */
export function entitiesByName(catalog: Catalog): ReadonlyMap<string, Entity> {
  const entities = [...catalog.values()]
  return new Map(
    entities.flatMap((entity) => [
      [entity.typeName, entity],
      [entity.name, entity],
    ]),
  )
}
