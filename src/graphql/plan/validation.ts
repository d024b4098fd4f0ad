/**
 * The validation rules of GraphQL, with two differences: unused variables are allowed, and a variable
 * may stand where its value has only one meaning although the type's name differs.
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
import { refusal } from '../budget/limits.ts'
import { isOperatorBlock } from '../schema/schema-operators.ts'
import { withSuggestion } from './suggestions.ts'

/** More than these are not worth reading. */
const maxErrors = 20

const rules: readonly ValidationRule[] = [
  ...specifiedRules.filter(
    (rule) => rule !== NoUnusedVariablesRule && rule !== VariablesInAllowedPositionRule,
  ),
  variablePositions,
]

/** Validates a rewritten document. Returns the errors, each with its location; none when it is valid. */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
): readonly GraphQLError[] {
  const errors = validate(schema, document, rules, { maxErrors, hideSuggestions: true })
  return withSuggestion(schema, errors).map(explained)
}

/** Limits of graphql-js itself are reported like ours: with the limit and what to do. */
function explained(error: GraphQLError): GraphQLError {
  const explain = ownLimits[error.message]
  return explain === undefined ? error : explain(error.nodes)
}

const ownLimits: Readonly<Record<string, (nodes: GraphQLError['nodes']) => GraphQLError>> = {
  'Validation aborted.': () =>
    refusal(
      'GRAPHQL_SYNTAX_LIMIT',
      'Going from each operation of the query through its fragments and their variables takes more than 50000 steps.',
      'Send fewer operations in one query, or write some fragments out.',
    ),
  'Maximum introspection depth exceeded': (nodes) =>
    refusal(
      'GRAPHQL_DEPTH_LIMIT',
      'Introspection lists fields, interfaces, possible types or input fields in more than 2 levels.',
      'Ask for the types by their names instead, as in { __type(name: "Query") { fields { name } } }.',
      nodes,
    ),
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
