/**
 * A query text made ready: parsed, rewritten, validated, and compiled for the shapes it is asked in.
 * Kept by text, so that the same query with other variables costs none of that again.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getVariableValues,
  isInputType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql'
import { sizeOf } from './argument-size.ts'
import type { Compilation } from './compilation.ts'
import { compilePlan } from './compile.ts'
import { isStandardIntrospection } from './introspection.ts'
import { maxNesting, maxValues, refusal } from './limits.ts'
import type { QueryPlan } from './plan.ts'
import type { PlanCache } from './plan-cache.ts'
import { expandValue, mayHoldShorthand, rewriteDocument } from './rewrite.ts'
import { shapeVariables } from './shape-variables.ts'
import { parseQuery } from './syntax.ts'
import { validateDocument } from './validation.ts'
import { tooManyConditions, tooManyValues } from './work.ts'

/** What documents are made ready against. */
export type PlanParts = Pick<Compilation, 'schema' | 'catalog' | 'entities' | 'limits'> & {
  readonly network: string
  readonly plans: PlanCache
}

/** A valid document. */
export interface QueryDocument {
  /** Memory that it takes, roughly. */
  readonly bytes: number
  /** True for the query by which tools learn the schema. */
  readonly isStandardIntrospection: boolean
  /** By name; the only one also without. */
  readonly operations: ReadonlyMap<string, QueryOperation>
}

/** One of its operations. */
export interface QueryOperation {
  readonly node: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly kind: 'query' | 'subscription'
  /** Variables in whose values a bare value may stand for an operator block. */
  readonly expandable: ReadonlyMap<string, GraphQLInputType>
  /** Variables that decide about the shape of the answer. */
  readonly shapeNames: ReadonlySet<string>
  /** Memory that a plan of it takes, roughly. */
  readonly planBytes: number
}

/** What is wrong with a document or its variables, all of it at once. */
export type Mistakes = readonly GraphQLError[]

/** Makes a query text ready. Answers the mistakes where it is not valid. Throws GraphQLError beyond syntax limits. */
export function readDocument(parts: PlanParts, text: string): QueryDocument | Mistakes {
  const { document: parsed, bytes } = parseQuery(text)
  refuseMutations(parsed)
  const document = rewriteDocument(parsed, parts.schema, parts.network)
  const mistakes = validateDocument(parts.schema, document)
  if (mistakes.length > 0) return mistakes
  const shared = {
    fragments: fragmentsOf(document),
    shapeNames: shapeVariables(document),
    planBytes: bytes / 2,
  }
  const operations = new Map<string, QueryOperation>()
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue
    operations.set(node.name?.value ?? '', { ...toOperation(parts.schema, node), ...shared })
  }
  return { bytes, operations, isStandardIntrospection: isStandardIntrospection(text) }
}

function fragmentsOf(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node)
  }
  return fragments
}

/** True for the mistakes that `readDocument` and `readVariables` answer. */
export function isMistakes(result: object): result is Mistakes {
  return Array.isArray(result)
}

function refuseMutations(document: DocumentNode): void {
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue
    if (node.operation !== OperationTypeNode.MUTATION) continue
    throw refusal(
      'GRAPHQL_READ_ONLY',
      'Mutations are refused: documents only come from sealed blocks.',
      'Send a query or a subscription.',
      node,
    )
  }
}

function toOperation(
  schema: GraphQLSchema,
  node: OperationDefinitionNode,
): Pick<QueryOperation, 'node' | 'kind' | 'expandable'> {
  const types = (node.variableDefinitions ?? []).flatMap((definition) => {
    const type = typeFromAST(schema, definition.type)
    const name = definition.variable.name.value
    return isInputType(type) && mayHoldShorthand(type) ? [[name, type] as const] : []
  })
  return {
    node,
    kind: node.operation === OperationTypeNode.SUBSCRIPTION ? 'subscription' : 'query',
    expandable: new Map(types),
  }
}

/** The operation a request names. Throws GraphQLError when it names none or the wrong one. */
export function chooseOperation(
  { operations }: QueryDocument,
  name: string | null | undefined,
): QueryOperation {
  if (name !== undefined && name !== null && name !== '') {
    const named = operations.get(name)
    if (named !== undefined) return named
    throw new GraphQLError(
      `Unknown operation named "${name}". ${operationHint([...operations.keys()])}`,
    )
  }
  const [only] = operations.values()
  if (only !== undefined && operations.size === 1) return only
  throw new GraphQLError(
    operations.size === 0
      ? 'Must provide an operation.'
      : `Must provide operation name if query contains multiple operations. ${operationHint([...operations.keys()])}`,
  )
}

function operationHint(names: readonly string[]): string {
  const named = names.filter((name) => name !== '')
  if (named.length === 0) return 'The query has one without a name: leave operationName out.'
  return `Set operationName to one of ${named.join(', ')}.`
}

/** A request's variables, coerced. */
export type Variables = Readonly<Record<string, unknown>>

/**
 * Coerces a request's variables. Answers the mistakes where they do not fit. Throws GraphQLError
 * where they nest too deep or hold too much to be coerced.
 */
export function readVariables(
  { schema, limits }: Pick<PlanParts, 'schema' | 'limits'>,
  operation: QueryOperation,
  given: Variables,
): Variables | Mistakes {
  const definitions = operation.node.variableDefinitions ?? []
  if (definitions.length === 0) return {}
  const named = pick(
    given,
    definitions.map(({ variable }) => variable.name.value),
  )
  checkNesting(named)
  const { conditions, values } = sizeOf(Object.values(named))
  if (conditions > limits.maxConditions) throw tooManyConditions(limits)
  if (values > maxValues) throw tooManyValues()
  const inputs = operation.expandable.size === 0 ? named : expand(operation, named)
  const { coerced, errors } = getVariableValues(schema, definitions, inputs, { maxErrors: 10 })
  return errors ?? coerced
}

/** Those of some names that have a value. */
function pick(given: Variables, names: Iterable<string>): Record<string, unknown> {
  return Object.fromEntries(
    [...names].flatMap((name) => (Object.hasOwn(given, name) ? [[name, given[name]]] : [])),
  )
}

function expand({ expandable }: QueryOperation, given: Variables): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const type = expandable.get(name)
      return [name, type === undefined ? value : expandValue(value, type)]
    }),
  )
}

/** Counting and coercion recurse, so the depth of what they are given is bounded first. */
function checkNesting(given: Variables): void {
  let level: unknown[] = Object.values(given)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxNesting) {
      throw refusal(
        'GRAPHQL_SYNTAX_LIMIT',
        `The variables nest deeper than ${maxNesting} levels.`,
        'Flatten them: `_in` stands for many `_or`.',
      )
    }
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    )
  }
}

/** The plan of an operation for the variables of a request. Throws GraphQLError as `compilePlan` does. */
export function planFor(
  parts: PlanParts,
  operation: QueryOperation,
  variables: Variables,
): QueryPlan {
  const omitted = omittedVariables(operation.node.variableDefinitions ?? [], variables)
  const shape = pick(variables, operation.shapeNames)
  for (const [name, value] of Object.entries(shape)) {
    if (Array.isArray(value)) shape[name] = [...new Set<unknown>(value)]
  }
  const key = JSON.stringify([omitted, shape])
  const known = parts.plans.find(operation, key)
  if (known !== undefined) return known
  const { node, fragments } = operation
  const plan = compilePlan(parts, {
    operation: node,
    fragments,
    shape,
    omitted: new Set(omitted),
  })
  parts.plans.keep(operation, key, plan)
  return plan
}

function omittedVariables(
  definitions: readonly VariableDefinitionNode[],
  variables: Variables,
): readonly string[] {
  const names = definitions.map((definition) => definition.variable.name.value)
  return names.filter((name) => !(name in variables))
}
