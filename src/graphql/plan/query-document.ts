/**
 * A query text that was parsed, rewritten and validated. It is cached by its text, so that the same
 * query with other variables costs none of that again.
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
  visit,
} from 'graphql'
import { maxNesting, maxValues, type QueryLimits, refusal } from '../budget/limits.ts'
import { tooManyConditions, tooManyValues } from '../budget/query-budget.ts'
import { type Catalog, followsView } from '../catalog/entity.ts'
import { expandValue, mayHoldShorthand } from '../schema/shorthand.ts'
import { argumentSizeOf } from './argument-size.ts'
import { isStandardIntrospection } from './compile-introspection.ts'
import type { RequestErrors } from './request-errors.ts'
import { rewriteDocument } from './rewrite.ts'
import { parseQuery } from './syntax.ts'
import { validateDocument } from './validation.ts'
import { shapeVariables } from './variables.ts'

/** What documents are parsed and validated against. */
interface DocumentParts {
  readonly schema: GraphQLSchema
  readonly catalog: Catalog
  readonly network: string
  readonly limits: Pick<QueryLimits, 'maxConditions' | 'settings'>
}

/** A valid document. */
export interface QueryDocument {
  /** Memory that it takes, roughly. */
  readonly bytes: number
  /** True for the query by which tools read the schema. */
  readonly isStandardIntrospection: boolean
  /** Whether it asks for the schema itself. */
  readonly isIntrospective: boolean
  /** Names of Views in it. */
  readonly views: ReadonlySet<string>
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
  /** Variables that decide the shape of the answer. */
  readonly shapeNames: ReadonlySet<string>
  /** Memory that a plan of it takes, roughly. */
  readonly planBytes: number
}

/** Parses and validates a query text. Returns the request errors where it is not valid. Throws GraphQLError beyond syntax limits. */
export function readDocument(
  parts: Pick<DocumentParts, 'schema' | 'catalog' | 'network'>,
  text: string,
): QueryDocument | RequestErrors {
  const { document: parsed, bytes } = parseQuery(text)
  refuseMutations(parsed)
  const document = rewriteDocument(parsed, parts.schema, parts.network)
  const errors = validateDocument(parts.schema, document)
  if (errors.length > 0) return errors
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
  return {
    bytes,
    operations,
    isStandardIntrospection: isStandardIntrospection(text),
    isIntrospective: introspection.test(text),
    views: viewsIn(document, parts.catalog),
  }
}

const introspection = /__(?:schema|type)\b/

/** The Views that a document names, wherever that is. */
function viewsIn(document: DocumentNode, catalog: Catalog): ReadonlySet<string> {
  const views = new Set<string>()
  visit(document, {
    [Kind.NAME]({ value }) {
      const entity = catalog.get(value)
      if (entity !== undefined && followsView(entity)) views.add(value)
    },
  })
  return views
}

function fragmentsOf(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node)
  }
  return fragments
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

/** The first field of an operation; the only one of a subscription, which may stand in a fragment. */
export function firstField({ node, fragments }: QueryOperation): string | undefined {
  let [first] = node.selectionSet.selections
  while (first !== undefined && first.kind !== Kind.FIELD) {
    const fragment = first.kind === Kind.INLINE_FRAGMENT ? first : fragments.get(first.name.value)
    first = fragment?.selectionSet.selections[0]
  }
  return first?.name.value
}

function operationHint(names: readonly string[]): string {
  const named = names.filter((name) => name !== '')
  if (named.length === 0) return 'The query has one without a name: leave operationName out.'
  return `Set operationName to one of ${named.join(', ')}.`
}

/** A request's variables, coerced. */
export type Variables = Readonly<Record<string, unknown>>

/**
 * Coerces a request's variables. Returns the request errors where they do not fit. Throws GraphQLError
 * where they nest too deep or hold too much to be coerced.
 */
export function readVariables(
  { schema, limits }: Pick<DocumentParts, 'schema' | 'limits'>,
  operation: QueryOperation,
  given: Variables,
): Variables | RequestErrors {
  const definitions = operation.node.variableDefinitions ?? []
  if (definitions.length === 0) return {}
  const named = pickVariables(
    given,
    definitions.map(({ variable }) => variable.name.value),
  )
  checkNesting(named)
  const { conditions, values } = argumentSizeOf(Object.values(named))
  if (conditions > limits.maxConditions) throw tooManyConditions(limits)
  if (values > maxValues) throw tooManyValues()
  const inputs = expand(operation, named)
  // graphql-js compares what is misspelt with all names of the schema: see `suggestions.ts`.
  const options = { maxErrors: 10, hideSuggestions: true }
  const { coerced, errors } = getVariableValues(schema, definitions, inputs, options)
  return errors ?? coerced
}

/** Those of some names that have a value. */
export function pickVariables(given: Variables, names: Iterable<string>): Record<string, unknown> {
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
