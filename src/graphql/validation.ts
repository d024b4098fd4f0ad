/**
 * Which of GraphQL's rules a query must keep. Two differ: variables nobody uses are tolerated, and a
 * variable may stand where its value can mean one thing only although the type's name differs.
 */
import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isTypeSubTypeOf,
  Kind,
  NoUnusedVariablesRule,
  specifiedRules,
  typeFromAST,
  type ValidationContext,
  type ValidationRule,
  type VariableDefinitionNode,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql'
import { isOperatorBlock } from './schema-operators.ts'

/** More than these are not worth reading. */
const maxErrors = 20

const rules: readonly ValidationRule[] = [
  ...specifiedRules.filter(
    (rule) => rule !== NoUnusedVariablesRule && rule !== VariablesInAllowedPositionRule,
  ),
  variablePositions,
]

/** Checks a rewritten document. Answers the mistakes, each with its place; none when it is valid. */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
): readonly GraphQLError[] {
  return validate(schema, document, rules, { maxErrors })
}

/** GraphQL's rule on variable positions, with the looser idea of what fits. */
function variablePositions(context: ValidationContext): ASTVisitor {
  const definitions = new Map<string, VariableDefinitionNode>()
  return {
    [Kind.VARIABLE_DEFINITION](node: VariableDefinitionNode) {
      definitions.set(node.variable.name.value, node)
    },
    [Kind.OPERATION_DEFINITION]: {
      enter: () => definitions.clear(),
      leave(operation) {
        for (const usage of context.getRecursiveVariableUsages(operation)) {
          const name = usage.node.name.value
          const definition = definitions.get(name)
          if (definition === undefined || !usage.type) continue
          const type = typeFromAST(context.getSchema(), definition.type)
          const hasDefault =
            definition.defaultValue !== undefined && definition.defaultValue.kind !== Kind.NULL
          if (!isInputType(type) || fits(context.getSchema(), type, usage.type, hasDefault))
            continue
          context.reportError(
            new GraphQLError(
              `Variable "$${name}" of type "${type.toString()}" used in position expecting type "${usage.type.toString()}".`,
              { nodes: [definition, usage.node] },
            ),
          )
        }
      },
    },
  }
}

function fits(
  schema: GraphQLSchema,
  type: GraphQLInputType,
  position: GraphQLInputType,
  hasDefault: boolean,
): boolean {
  if (isNonNullType(position)) {
    if (!isNonNullType(type) && !hasDefault) return false
    return fits(schema, bare(type), position.ofType, hasDefault)
  }
  const given = bare(type)
  if (isTypeSubTypeOf(schema, given, position)) return true
  if (isListType(position)) {
    return isListType(given)
      ? fits(schema, given.ofType, position.ofType, false)
      : fits(schema, type, position.ofType, hasDefault)
  }
  return !isListType(given) && isInterchangeable(getNamedType(given), getNamedType(position))
}

const bare = (type: GraphQLInputType): GraphQLInputType =>
  isNonNullType(type) ? type.ofType : type

/** What else a position takes, by name: ids are text, and quantities are written as text or numbers. */
const accepted: Readonly<Record<string, readonly string[]>> = {
  ID: ['String'],
  String: ['ID'],
  Quantity: ['String', 'Int', 'ID'],
}

/** A block of one kind fits where another's is expected: its operators are checked when they are used. */
function isInterchangeable(given: GraphQLInputType, position: GraphQLInputType): boolean {
  if (isInputObjectType(given) && isInputObjectType(position)) {
    return (
      isOperatorBlock(given) && isOperatorBlock(position) && isTextual(given.name, position.name)
    )
  }
  return accepted[position.toString()]?.includes(given.toString()) ?? false
}

const suffix = 'OperatorBlock'

function isTextual(given: string, position: string): boolean {
  const short = (name: string) => name.slice(0, -suffix.length)
  return accepted[short(position)]?.includes(short(given)) ?? false
}
