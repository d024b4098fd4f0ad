/**
 * Makes the dialect's shortcuts plain GraphQL before validation: short type names get the network's
 * prefix, and a bare value where an operator block belongs becomes `{_eq: value}`.
 */
import {
  type DocumentNode,
  type GraphQLSchema,
  isInputObjectType,
  isLeafType,
  Kind,
  type NamedTypeNode,
  type ObjectFieldNode,
  TypeInfo,
  type TypeNode,
  type ValueNode,
  type VariableDefinitionNode,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { typeName } from '../../primitives/names.ts'
import { isOperatorBlock } from '../schema/schema-operators.ts'

/** The same document in plain GraphQL; places in the text stay as they were. */
export function rewriteDocument(
  document: DocumentNode,
  schema: GraphQLSchema,
  network: string,
): DocumentNode {
  return expandShorthand(expandNames(document, schema, network), schema)
}

/**
 * `BlockFilterArg` and `on Block` mean the types with the network's prefix; `TransferField`, of a View `Transfer`, means
 * `Transfer__Field`.
 */
function expandNames(document: DocumentNode, schema: GraphQLSchema, network: string): DocumentNode {
  return visit(document, {
    [Kind.NAMED_TYPE](node: NamedTypeNode) {
      const { value } = node.name
      if (schema.getType(value) !== undefined) return undefined
      const fulls = [typeName(network, value), value.replace(/Field$/, '__Field')]
      const full = fulls.find((name) => schema.getType(name) !== undefined)
      return full === undefined ? undefined : { ...node, name: { ...node.name, value: full } }
    },
    [Kind.ARGUMENT]: () => false,
  })
}

function expandShorthand(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const scalarVariables = leafVariables(document, schema)
  const typeInfo = new TypeInfo(schema)
  const wrap = (value: ValueNode): ValueNode | undefined => {
    const type = typeInfo.getInputType()
    if (!isInputObjectType(type) || !isOperatorBlock(type)) return undefined
    if (!isBare(value, scalarVariables)) return undefined
    const name = { kind: Kind.NAME, value: '_eq' } as const
    const field: ObjectFieldNode = { kind: Kind.OBJECT_FIELD, name, value }
    return { kind: Kind.OBJECT, fields: [field] }
  }
  return visit(
    document,
    visitWithTypeInfo(typeInfo, {
      [Kind.OBJECT_FIELD](node: ObjectFieldNode) {
        const value = wrap(node.value)
        return value === undefined ? undefined : { ...node, value }
      },
    }),
  )
}

/** Null is left alone: it already means `_eq: null`. */
function isBare(value: ValueNode, scalarVariables: ReadonlySet<string>): boolean {
  if (value.kind === Kind.VARIABLE) return scalarVariables.has(value.name.value)
  return value.kind !== Kind.OBJECT && value.kind !== Kind.NULL
}

/** Variables that hold one value or a list of values, in any operation of the document. */
function leafVariables(document: DocumentNode, schema: GraphQLSchema): ReadonlySet<string> {
  const names = new Set<string>()
  visit(document, {
    [Kind.VARIABLE_DEFINITION](node: VariableDefinitionNode) {
      if (isLeafType(schema.getType(namedType(node.type)))) names.add(node.variable.name.value)
    },
    [Kind.SELECTION_SET]: () => false,
  })
  return names
}

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type)
}
