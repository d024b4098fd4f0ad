/**
 * What is kept of queries from one request to the next: documents by their text, and plans of their
 * operations by the shape of the answer. Both are bounded in bytes.
 */
import { LRUCache } from 'lru-cache'
import type { QueryPlan } from './plan.ts'
import type { QueryDocument, QueryOperation } from './query-document.ts'

/** Memory of all documents and of all plans, and of one of each that is worth keeping. */
const maxDocumentBytes = 16 * 1024 * 1024
const maxPlanBytes = 8 * 1024 * 1024
/** Memory of everything that is kept. */
export const maxKeptBytes: number = maxDocumentBytes + maxPlanBytes
const maxEntryBytes = 1024 * 1024
/** Memory of an entry beside what it holds. */
const overheadBytes = 512

/** Documents and plans of an engine. */
export interface PlanCache {
  findDocument(text: string): QueryDocument | undefined
  keepDocument(text: string, document: QueryDocument): void
  /** A plan of an operation; `shape` is what it depends on, as text. */
  find(operation: QueryOperation, shape: string): QueryPlan | undefined
  keep(operation: QueryOperation, shape: string, plan: QueryPlan): void
  /** Memory that everything kept takes, roughly. */
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
    find: (operation, shape) => plans.get(keyOf(operation, shape)),
    keep(operation, shape, plan) {
      const key = keyOf(operation, shape)
      const size = overheadBytes + Math.ceil(operation.planBytes) + 2 * key.length
      plans.set(key, plan, { size })
    },
    bytes: () => documents.calculatedSize + plans.calculatedSize,
  }
}
