/**
 * The GraphQL engine: a schema for those who look around, and an executor that reads the store
 * directly. Each request sees the store at one moment.
 */
import { GraphQLError, type GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { ServiceError } from '../errors.ts'
import type { StoreReader } from '../store/store.ts'
import { createCidCache } from './block-cids.ts'
import { createCatalog } from './catalog.ts'
import type { EntityName } from './entity.ts'
import { executePlan } from './execute-plan.ts'
import { createGraphqlMetrics, type Outcome } from './graphql-metrics.ts'
import { everything, type Intervals } from './intervals.ts'
import type { Limits } from './limits.ts'
import {
  chooseOperation,
  isMistakes,
  type Mistakes,
  type PlanParts,
  planFor,
  type QueryDocument,
  readDocument,
  readVariables,
} from './query-document.ts'
import { createSchema, entitiesByName } from './schema.ts'
import { createTurns, type Turns } from './turns.ts'
import { createWork, type Work } from './work.ts'

/** What to serve, and how much of it at once. */
export interface GraphqlOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly limits: Limits
  /** The collections; Hosts add AttestationRecord. */
  readonly collections: readonly EntityName[]
}

/** What the engine works with. */
export interface GraphqlParts {
  readonly reader: Pick<StoreReader, 'snapshot'>
  readonly registry: Registry
  readonly log: Logger
}

/** A request as it comes in. */
export interface GraphqlRequest {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | null
  readonly operationName?: string | null
}

/** An answer; `data` is null whenever there are errors. */
export interface GraphqlResult {
  /** JSON text in pieces; joined, they are the object. */
  readonly data: readonly string[] | null
  readonly errors?: readonly GraphQLError[]
}

/** The engine. */
export interface Graphql {
  readonly schema: GraphQLSchema
  /** Runs a query over everything stored. Never rejects: what goes wrong is in `errors`. */
  execute(request: GraphqlRequest, signal?: AbortSignal): Promise<GraphqlResult>
  /**
   * Runs a query or a subscription over the heights `from` to `to` alone: the rows that an event of
   * those heights has.
   */
  executeAt(
    request: GraphqlRequest,
    heights: { readonly from: number; readonly to: number },
    signal?: AbortSignal,
  ): Promise<GraphqlResult>
  /** The kind of the operation a request asks for; null where the request is not valid. */
  operationKind(request: GraphqlRequest): 'query' | 'subscription' | null
  /** Tells the listeners that a block has become visible. */
  notify(height: number): void
  /** Listens to `notify`; returns the function that stops it. */
  onHeight(listener: (height: number) => void): () => void
}

/** Characters of all query texts whose plans are kept, and of one of them; a plan takes some 50 times its text. */
const cachedText = 512 * 1024
const maxCachedText = 64 * 1024

/** Opens the engine. It holds nothing that must be closed; the reader belongs to the caller. */
export function openGraphql(options: GraphqlOptions, parts: GraphqlParts): Graphql {
  const catalog = createCatalog(options.network, options.collections)
  const schema = createSchema(catalog)
  const engine: Engine = {
    network: options.network,
    limits: options.limits,
    schema,
    catalog,
    entities: entitiesByName(catalog),
    documents: new LRUCache({
      maxSize: cachedText,
      maxEntrySize: maxCachedText,
      sizeCalculation: (_, text) => text.length + 1,
    }),
    metrics: createGraphqlMetrics(parts.registry),
    turns: createTurns(),
    cids: createCidCache(),
    ...parts,
  }
  const listeners = new Set<(height: number) => void>()
  return {
    schema,
    execute: (request, signal) =>
      answer(engine, request, { kinds: ['query'], window: everything, signal }),
    executeAt: (request, { from, to }, signal) =>
      answer(engine, request, { kinds: ['query', 'subscription'], window: [[from, to]], signal }),
    operationKind: (request) => kindOf(engine, request),
    notify(height) {
      for (const listener of listeners) listener(height)
    },
    onHeight(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

interface Engine extends PlanParts, GraphqlParts {
  readonly documents: LRUCache<string, QueryDocument>
  readonly metrics: ReturnType<typeof createGraphqlMetrics>
  readonly turns: Turns
  readonly cids: ReturnType<typeof createCidCache>
}

interface Demand {
  readonly kinds: readonly ('query' | 'subscription')[]
  readonly window: Intervals
  readonly signal: AbortSignal | undefined
}

async function answer(
  engine: Engine,
  request: GraphqlRequest,
  demand: Demand,
): Promise<GraphqlResult> {
  const work = createWork(engine.limits, engine.turns, demand.signal)
  const finish = (outcome: Outcome): void => {
    const usage = work.usage()
    engine.metrics.finish(outcome, usage)
    engine.log.debug({ outcome, ...usage }, 'query answered')
  }
  try {
    if (engine.turns.isBusy()) await work.turn()
    const result = await run(engine, request, demand, work)
    finish(result.errors === undefined ? 'ok' : 'refused')
    return result
  } catch (error) {
    const isRefusal = error instanceof GraphQLError
    finish(isRefusal ? 'refused' : 'failed')
    return { data: null, errors: [isRefusal ? error : presentFailure(engine, error)] }
  }
}

async function run(
  engine: Engine,
  request: GraphqlRequest,
  demand: Demand,
  work: Work,
): Promise<GraphqlResult> {
  const query = findDocument(engine, request.query)
  if (isMistakes(query)) return { data: null, errors: query }
  await work.pause()
  const operation = chooseOperation(query, request.operationName)
  if (!demand.kinds.includes(operation.kind)) throw notStreamed()
  const variables = readVariables(engine.schema, operation, request.variables ?? {})
  if (isMistakes(variables)) return { data: null, errors: variables }
  const plan = planFor(engine, query, operation, variables)
  await work.pause()
  const { network, catalog, schema, cids } = engine
  const snapshot = engine.reader.snapshot()
  try {
    const session = { network, snapshot, work, cids }
    const aggregates = new Map()
    const one = { session, catalog, variables, window: demand.window, aggregates }
    const introspection = { schema, document: query.document, operation: operation.node }
    return { data: await executePlan(one, plan, introspection) }
  } finally {
    snapshot.release()
  }
}

function findDocument(engine: Engine, text: string): QueryDocument | Mistakes {
  const known = engine.documents.get(text)
  engine.metrics.planned(known === undefined ? 'text' : 'cache')
  if (known !== undefined) return known
  const query = readDocument(engine, text)
  if (!isMistakes(query)) engine.documents.set(text, query)
  return query
}

function kindOf(engine: Engine, request: GraphqlRequest): 'query' | 'subscription' | null {
  try {
    const query = findDocument(engine, request.query)
    return isMistakes(query) ? null : chooseOperation(query, request.operationName).kind
  } catch (error) {
    if (error instanceof GraphQLError) return null
    throw error
  }
}

function notStreamed(): GraphQLError {
  return new GraphQLError(
    'This is a subscription: ask for it with the header "Accept: text/event-stream".',
  )
}

/** Failures of ours: those with a code say what happened, others only that they did. */
function presentFailure({ log }: Engine, error: unknown): GraphQLError {
  log.error({ err: error }, 'query failed')
  if (!(error instanceof ServiceError)) {
    return new GraphQLError('The query failed inside the service; its log says why.')
  }
  const text = error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`
  return new GraphQLError(text, { extensions: { code: error.code } })
}
