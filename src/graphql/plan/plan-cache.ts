/**
 * The caches of queries: documents by their text, and plans of their operations by the shape of the
 * answer. Both are bounded in bytes.
 */
import type { VariableDefinitionNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Compilation } from './compilation.ts'
import { compilePlan } from './compile.ts'
import type { QueryPlan } from './plan.ts'
import {
  pickVariables,
  type QueryDocument,
  type QueryOperation,
  type Variables,
} from './query-document.ts'

/** Memory of all documents and of all plans, and of the largest entry that is cached. */
const maxDocumentBytes = 16 * 1024 * 1024
const maxPlanBytes = 8 * 1024 * 1024
/** Memory of everything that is cached. */
export const maxKeptBytes: number = maxDocumentBytes + maxPlanBytes
const maxEntryBytes = 1024 * 1024
/** Memory of an entry beside what it holds. */
const overheadBytes = 512

/** Documents and plans of an engine. */
interface PlanCache {
  findDocument(text: string): QueryDocument | undefined
  keepDocument(text: string, document: QueryDocument): void
  /** Forgets the documents that depend on these Views, and those about the schema. */
  dropViews(names: ReadonlySet<string>): void
  /** A plan of an operation; `shape` is what it depends on, as text. */
  findPlan(operation: QueryOperation, shape: string): QueryPlan | undefined
  keepPlan(operation: QueryOperation, shape: string, plan: QueryPlan): void
  /** Memory that the entries take, roughly. */
  bytes(): number
}

/** An empty cache. */
export function createPlanCache(): PlanCache {
  const documents = new LRUCache<string, QueryDocument>({
    maxSize: maxDocumentBytes,
    maxEntrySize: maxEntryBytes,
    sizeCalculation: ({ bytes }) => overheadBytes + Math.ceil(bytes),
  })
  const plans = new LRUCache<string, QueryPlan>({
    maxSize: maxPlanBytes,
    maxEntrySize: maxEntryBytes,
  })
  const numbers = new WeakMap<QueryOperation, number>()
  let last = 0
  const keyOf = (operation: QueryOperation, shape: string): string => {
    const number = numbers.get(operation) ?? ++last
    numbers.set(operation, number)
    return `${number} ${shape}`
  }
  return {
    findDocument: (text) => documents.get(text),
    keepDocument: (text, document) => void documents.set(text, document),
    dropViews(names) {
      for (const [text, { views, isIntrospective }] of documents.entries()) {
        if (isIntrospective || [...views].some((name) => names.has(name))) documents.delete(text)
      }
    },
    findPlan: (operation, shape) => plans.get(keyOf(operation, shape)),
    keepPlan(operation, shape, plan) {
      const key = keyOf(operation, shape)
      const size = overheadBytes + Math.ceil(operation.planBytes) + 2 * key.length
      plans.set(key, plan, { size })
    },
    bytes: () => documents.calculatedSize + plans.calculatedSize,
  }
}

/** What operations are compiled with, and where their plans are cached. */
export type PlanParts = Pick<Compilation, 'schema' | 'catalog' | 'entities' | 'limits'> & {
  readonly plans: PlanCache
}

/** The plan of an operation for the variables of a request. Throws GraphQLError as `compilePlan` does. */
export function planFor(
  parts: PlanParts,
  operation: QueryOperation,
  variables: Variables,
): QueryPlan {
  const omitted = omittedVariables(operation.node.variableDefinitions ?? [], variables)
  const shape = pickVariables(variables, operation.shapeNames)
  for (const [name, value] of Object.entries(shape)) {
    if (Array.isArray(value)) shape[name] = [...new Set<unknown>(value)]
  }
  const key = JSON.stringify([omitted, shape])
  const known = parts.plans.findPlan(operation, key)
  if (known !== undefined) return known
  const { node, fragments } = operation
  const plan = compilePlan(parts, {
    operation: node,
    fragments,
    shape,
    omitted: new Set(omitted),
  })
  parts.plans.keepPlan(operation, key, plan)
  return plan
}

function omittedVariables(
  definitions: readonly VariableDefinitionNode[],
  variables: Variables,
): readonly string[] {
  const names = definitions.map((definition) => definition.variable.name.value)
  return names.filter((name) => !(name in variables))
}
