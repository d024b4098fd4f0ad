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
import type { Catalog, Entity } from '../catalog/entity.ts'
import { createInputs, type EntityInputs, type InputsOf } from './schema-inputs.ts'
import {
  collectionArguments,
  commitsArguments,
  commitType,
  createObject,
  foldFields,
  type ObjectOf,
} from './schema-objects.ts'

type Fields = GraphQLFieldConfigMap<unknown, unknown>

/** The types of one entity. */
interface EntityTypes {
  readonly inputs: EntityInputs
  readonly object: GraphQLObjectType
}

/** Builds the schema; every collection is a field under its full and its short name. */
export function createSchema(catalog: Catalog): GraphQLSchema {
  return createSchemaBuilder()(catalog)
}

/**
 * Builds schemas of catalogs that have entities in common: the types of an entity stay the same objects, so
 * that plans that know them stay usable.
 */
export function createSchemaBuilder(): (catalog: Catalog) => GraphQLSchema {
  const known = new WeakMap<Entity, EntityTypes>()
  return (catalog) => {
    const typesOf = (name: string): EntityTypes => {
      const entity = catalog.get(name)
      const types = entity && known.get(entity)
      invariant(types !== undefined, `the catalog has ${name}`)
      return types
    }
    const inputsOf = (name: string) => typesOf(name).inputs
    const objectOf = (name: string) => typesOf(name).object
    for (const entity of catalog.values()) {
      if (known.has(entity)) continue
      const inputs = createInputs(entity, inputsOf)
      known.set(entity, { inputs, object: createObject(entity, inputsOf, objectOf) })
    }
    return toSchema(catalog, inputsOf, objectOf)
  }
}

function toSchema(catalog: Catalog, inputsOf: InputsOf, objectOf: ObjectOf): GraphQLSchema {
  const collections = collectionFields(catalog.values(), inputsOf, objectOf)
  // Votes on rows come later than the block, when nobody is notified.
  const streamed = [...catalog.values()].filter(({ votesOn }) => votesOn === undefined)
  const commits: Fields = {
    _commits: {
      type: new GraphQLList(commitType),
      args: commitsArguments,
      description: 'The versions of documents, by CID or by docID.',
    },
  }
  const aggregates = foldFields((fold) => targets(catalog, inputsOf, fold === 'COUNT'))
  return new GraphQLSchema({
    // Checking all types of many Views takes long, and what could be wrong with them is checked in their SDL.
    assumeValid: [...catalog.values()].some(({ view }) => view !== undefined),
    query: new GraphQLObjectType({
      name: 'Query',
      fields: { ...collections, ...aggregates, ...commits },
    }),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: collectionFields(streamed, inputsOf, objectOf),
    }),
  })
}

function collectionFields(
  entities: Iterable<Entity>,
  inputsOf: InputsOf,
  objectOf: ObjectOf,
): Fields {
  const fields: Fields = {}
  for (const entity of entities) {
    const type = new GraphQLList(objectOf(entity.name))
    const args = collectionArguments(entity, inputsOf(entity.name))
    const { description } = entity
    fields[entity.typeName] = { type, args, description }
    if (entity.name === entity.typeName) continue
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
  inputsOf: InputsOf,
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
