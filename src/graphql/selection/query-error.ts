/** What is wrong with the query of a View against the schema: the place, and what is accepted there. */
import {
  type ASTNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { ServiceError } from '../../errors.ts'
import { wrongNode } from '../../views/source-text.ts'
import { acceptedNames } from '../../views/view-query.ts'
import { foldOf, isGroupField } from '../catalog/spelling.ts'

/** The refusal of a View's query, from what validation or compilation found first. */
export function queryError(
  schema: GraphQLSchema,
  document: DocumentNode,
  error: GraphQLError,
): ServiceError {
  const [node = document] = error.nodes ?? []
  const accepted = acceptedAt(schema, document, node)
  return wrongNode('query', node, error.message, accepted ?? 'Compare it with docs/graphql.md.')
}

/** Like `queryError` for what is thrown while a query is read; anything but a GraphQLError stays as it is. */
export function asQueryError(
  schema: GraphQLSchema,
  document: DocumentNode,
  error: unknown,
): unknown {
  return error instanceof GraphQLError ? queryError(schema, document, error) : error
}

/** What may stand at a node instead; undefined where no type says so. */
function acceptedAt(
  schema: GraphQLSchema,
  document: DocumentNode,
  wrong: ASTNode,
): string | undefined {
  const info = new TypeInfo(schema)
  let accepted: string | undefined
  visit(
    document,
    visitWithTypeInfo(info, {
      enter(node) {
        if (node === wrong) accepted = acceptedHere(info, node)
      },
    }),
  )
  return accepted
}

function acceptedHere(info: TypeInfo, node: ASTNode): string | undefined {
  switch (node.kind) {
    case Kind.FIELD: {
      const type = getNamedType(info.getType())
      if (isObjectType(type) && node.selectionSet === undefined)
        return `Select fields of it: ${acceptedNames(fieldNames(type))}.`
      return listed(fieldNames(info.getParentType()))
    }
    case Kind.SELECTION_SET:
      return 'It is a value: leave the braces out.'
    case Kind.ARGUMENT:
      return listed((info.getFieldDef()?.args ?? []).map(({ name }) => name))
    case Kind.OBJECT_FIELD:
      return listed(fieldNames(getNamedType(info.getParentInputType())))
    default:
      return valueAccepted(info)
  }
}

function valueAccepted(info: TypeInfo): string | undefined {
  const type = info.getInputType()
  const named = getNamedType(type)
  if (isEnumType(named)) {
    const values = named.getValues().filter(({ deprecationReason }) => !deprecationReason)
    // Of a group, whose View has computed rows, or a direction.
    return `Accepted are ${values.map(({ name }) => name).join(', ')}.`
  }
  if (isInputObjectType(named)) return listed(fieldNames(named))
  return type === undefined || type === null ? undefined : `Accepted is ${type.toString()}.`
}

/** The names of a type's fields, without other spellings and without those that fold lists. */
function fieldNames(type: GraphQLNamedType | null | undefined): readonly string[] {
  if (!isObjectType(type) && !isInputObjectType(type)) return []
  return Object.values(type.getFields())
    .filter(({ name, deprecationReason }) => {
      const isFold = foldOf(name) !== undefined || isGroupField(name)
      return !deprecationReason && !isFold && name !== '_deleted'
    })
    .map(({ name }) => name)
}

const listed = (names: readonly string[]): string | undefined =>
  names.length === 0 ? undefined : `Accepted are ${acceptedNames(names)}.`
