/**
 * What a misspelt name most likely means. graphql-js compares each one with every name of the schema, letter by letter: names
 * that strangers gave their Views make minutes of that.
 */
import {
  GraphQLError,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { nearestName } from '../../did-you-mean.ts'

/** Letters up to which a name is compared, and names that it is compared with. */
const maxLetters = 32
const maxNames = 500

/** What graphql-js says of a name, and where names are that may be meant. */
const unknownNames: readonly RegExp[] = [
  /^Cannot query field "(?<name>\w+)" on type "(?<type>\w+)"\.$/,
  /^Field "(?<name>\w+)" is not defined by type "(?<type>\w+)"\.$/,
  /^Value "(?<name>\w+)" does not exist in "(?<type>\w+)" enum\.$/,
  /^Unknown argument "(?<name>\w+)" on field "(?<type>\w+)\.(?<field>\w+)"\.$/,
]

/** The first of the errors that has a suggestion gets it: finding one takes up to some milliseconds. */
export function withSuggestion(
  schema: GraphQLSchema,
  errors: readonly GraphQLError[],
): readonly GraphQLError[] {
  const [first, ...others] = errors
  if (first === undefined) return errors
  const nearest = suggestionFor(schema, first.message)
  if (nearest === null) return errors
  const { nodes = null, extensions } = first
  const message = `${first.message} Did you mean "${nearest}"?`
  return [new GraphQLError(message, { nodes, extensions }), ...others]
}

function suggestionFor(schema: GraphQLSchema, message: string): string | null {
  for (const pattern of unknownNames) {
    const { name, type, field } = pattern.exec(message)?.groups ?? {}
    if (name === undefined || type === undefined) continue
    if (name.length > maxLetters) return null
    const known = namesOf(schema, type, field).filter(({ length }) => length <= maxLetters)
    return nearestName(name, known.slice(0, maxNames))
  }
  return null
}

function namesOf(schema: GraphQLSchema, typeName: string, field: string | undefined): string[] {
  const type = schema.getType(typeName)
  if (isEnumType(type)) return type.getValues().map(({ name }) => name)
  if (isInputObjectType(type)) return Object.keys(type.getFields())
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  const fields = type.getFields()
  if (field === undefined) return Object.keys(fields)
  return (fields[field]?.args ?? []).map(({ name }) => name)
}
