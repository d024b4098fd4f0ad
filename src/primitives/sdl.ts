/**
 * The schema text of the collections, as the schema endpoint returns it and a Host embeds it.
 */
import {
  type Collection,
  type CollectionName,
  collections,
  type Field,
  type FieldKind,
} from './collections.ts'
import { typeName } from './names.ts'

const scalarTypes: Readonly<Record<FieldKind, string>> = {
  hash: 'String',
  address: 'String',
  data: 'String',
  quantity: 'String',
  text: 'String',
  int: 'Int',
  boolean: 'Boolean',
}

/** The GraphQL type of a field, as in `String` or `[String]`. */
export function fieldType(field: Field): string {
  const scalar = scalarTypes[field.kind]
  return field.list === true ? `[${scalar}]` : scalar
}

/**
 * One collection's type definition. `extraIndexes` adds the unique indexes on block hash and
 * transaction hash that a Host's copy of the schema has.
 */
export function collectionSdl(
  network: string,
  name: CollectionName,
  extraIndexes: boolean = false,
): string {
  const collection = collections[name]
  const lines = [
    ...collection.fields.map((field) => fieldLine(field, extraIndexes)),
    ...relationLines(network, collection),
  ]
  return `type ${typeName(network, name)} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`
}

/** The type definitions of all six collections, in the order of the table. */
export function schemaSdl(network: string, extraIndexes: boolean = false): string {
  const names = Object.keys(collections) as CollectionName[]
  return names.map((name) => collectionSdl(network, name, extraIndexes)).join('\n')
}

function fieldLine(field: Field, extraIndexes: boolean): string {
  const line = `${field.name}: ${fieldType(field)}`
  if (field.index === true) return `${line} @index`
  if (extraIndexes && field.uniqueAtHost === true) return `${line} @index(unique: true)`
  return line
}

function relationLines(network: string, collection: Collection): string[] {
  return collection.relations.map(({ name, field, target, many }) => {
    const type = typeName(network, target)
    return `${field}: ${many ? `[${type}]` : type} @relation(name: "${name}")`
  })
}
