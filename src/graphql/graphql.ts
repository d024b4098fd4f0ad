/**
 * The GraphQL engine: a schema for those who look around, and an executor that reads the store
 * directly. Each request sees the store at one moment.
 */
import { GraphQLError, type GraphQLSchema } from 'graphql'
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
import { createMemory, type Hold, type Memory } from './memory.ts'
import { readableMistake } from './mistake.ts'
import { createOpenedViews } from './opened-views.ts'
import type { QueryPlan } from './plan.ts'
import { createPlanCache } from './plan-cache.ts'
import {
  chooseOperation,
  isMistakes,
  type Mistakes,
  type PlanParts,
  planFor,
  type QueryDocument,
  readDocument,
  readVariables,
  type Variables,
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
  /** What all requests hold together. */
  readonly memory: Memory
  /** The queue of requests that wait for the thread. */
  readonly turns: Turns
  /**
   * Runs a query over everything stored. Never rejects: what goes wrong is in `errors`. The answer
   * stays held in the caller's `hold`; without one it no longer counts once it is returned.
   */
  execute(request: GraphqlRequest, signal?: AbortSignal, hold?: Hold): Promise<GraphqlResult>
  /**
   * Runs a query or a subscription over the heights `from` to `to` alone: the rows that an event of
   * those heights has.
   */
  executeAt(
    request: GraphqlRequest,
    heights: { readonly from: number; readonly to: number },
    signal?: AbortSignal,
    hold?: Hold,
  ): Promise<GraphqlResult>
  /** The kind of the operation a request asks for; null where the request is not valid. */
  operationKind(request: GraphqlRequest): 'query' | 'subscription' | null
  /** Tells the listeners that a block has become visible. */
  notify(height: number): void
  /** Listens to `notify`; returns the function that stops it. */
  onHeight(listener: (height: number) => void): () => void
  /** Counts a client that was cut off because it read too slowly. */
  noteSlowReader(): void
}

/** Opens the engine. It holds nothing that must be closed; the reader belongs to the caller. */
export function openGraphql(options: GraphqlOptions, parts: GraphqlParts): Graphql {
  const catalog = createCatalog(options.network, options.collections)
  const schema = createSchema(catalog)
  const plans = createPlanCache()
  const metrics = createGraphqlMetrics(parts.registry, {
    heldBytes: () => memory.heldBytes(),
    planBytes: plans.bytes,
  })
  const memory = createMemory(options.limits.maxHeldBytes, metrics.busy)
  const engine: Engine = {
    network: options.network,
    limits: options.limits,
    schema,
    catalog,
    entities: entitiesByName(catalog),
    plans,
    memory,
    metrics,
    turns: createTurns(),
    cids: createCidCache(),
    standardAnswer: null,
    ...parts,
  }
  const listeners = new Set<(height: number) => void>()
  return {
    schema,
    memory,
    turns: engine.turns,
    execute: (request, signal, hold) =>
      answer(engine, request, { kinds: ['query'], window: everything, signal, hold }),
    executeAt: (request, { from, to }, signal, hold) => {
      const kinds = ['query', 'subscription'] as const
      return answer(engine, request, { kinds, window: [[from, to]], signal, hold })
    },
    operationKind: (request) => kindOf(engine, request),
    notify(height) {
      for (const listener of listeners) listener(height)
    },
    onHeight(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    noteSlowReader: engine.metrics.cutOff,
  }
}

interface Engine extends PlanParts, GraphqlParts {
  readonly memory: Memory
  readonly metrics: ReturnType<typeof createGraphqlMetrics>
  readonly turns: Turns
  readonly cids: ReturnType<typeof createCidCache>
  /** The answer to the standard introspection query; null before the first. */
  standardAnswer: readonly string[] | null
}

interface Demand {
  readonly kinds: readonly ('query' | 'subscription')[]
  readonly window: Intervals
  readonly signal: AbortSignal | undefined
  readonly hold: Hold | undefined
}

async function answer(
  engine: Engine,
  request: GraphqlRequest,
  demand: Demand,
): Promise<GraphqlResult> {
  const { turns, metrics, log } = engine
  const hold = demand.hold ?? engine.memory.open()
  const work = createWork(engine.limits, { turns, hold, signal: demand.signal })
  const finish = (outcome: Outcome, result: GraphqlResult): GraphqlResult => {
    const usage = work.usage()
    metrics.finish(outcome, usage)
    log.debug({ outcome, ...usage }, 'query answered')
    work.end(result.data !== null)
    if (demand.hold === undefined) hold.close()
    return result
  }
  try {
    if (turns.isBusy()) await work.turn()
    const found = await run(engine, request, demand, work)
    return isMistakes(found) ? finish('refused', failed(found)) : finish('ok', { data: found.data })
  } catch (error) {
    return error instanceof GraphQLError
      ? finish('refused', failed([error]))
      : finish('failed', failed([presentFailure(engine, error)]))
  }
}

const failed = (mistakes: Mistakes): GraphqlResult => ({
  data: null,
  errors: mistakes.map(readableMistake),
})

/** The data of an answer, or what is wrong with the request. */
type Found = { readonly data: readonly string[] } | Mistakes

async function run(
  engine: Engine,
  request: GraphqlRequest,
  demand: Demand,
  work: Work,
): Promise<Found> {
  const query = findDocument(engine, request.query)
  if (isMistakes(query)) return query
  work.keeping().add(query.bytes)
  await work.pause()
  const operation = chooseOperation(query, request.operationName)
  if (!demand.kinds.includes(operation.kind)) throw notStreamed()
  const variables = readVariables(engine, operation, request.variables ?? {})
  if (isMistakes(variables)) return variables
  await work.pause()
  const plan = planFor(engine, operation, variables)
  await work.pause()
  if (!query.isStandardIntrospection) {
    return { data: await execute(engine, plan, variables, demand, work) }
  }
  const known = engine.standardAnswer
  for (const { length } of known ?? []) work.addBytes(length)
  engine.standardAnswer = known ?? (await execute(engine, plan, variables, demand, work))
  return { data: engine.standardAnswer }
}

async function execute(
  { network, catalog, schema, cids, reader }: Engine,
  plan: QueryPlan,
  variables: Variables,
  { window }: Demand,
  work: Work,
): Promise<readonly string[]> {
  const snapshot = reader.snapshot()
  try {
    const session = { network, snapshot, work, cids, opened: createOpenedViews(work) }
    return await executePlan({ session, catalog, variables, window, known: [] }, plan, schema)
  } finally {
    snapshot.release()
  }
}

function findDocument(engine: Engine, text: string): QueryDocument | Mistakes {
  const known = engine.plans.findDocument(text)
  engine.metrics.planned(known === undefined ? 'text' : 'cache')
  if (known !== undefined) return known
  const query = readDocument(engine, text)
  if (!isMistakes(query)) engine.plans.keepDocument(text, query)
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
