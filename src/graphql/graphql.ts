/**
 * The GraphQL engine: a schema for introspection, and an executor that reads the store directly. Each
 * request reads one snapshot of the store.
 */
import { GraphQLError, type GraphQLSchema } from 'graphql'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { ServiceError } from '../errors.ts'
import { allHeights, type HeightRanges } from '../primitives/height-ranges.ts'
import type { StoreReader } from '../store/store.ts'
import type { QueryLimits } from './budget/limits.ts'
import { createMemoryPool, type MemoryAccount, type MemoryPool } from './budget/memory-pool.ts'
import { createGraphqlMetrics, type RequestOutcome } from './budget/metrics.ts'
import {
  createQueryBudget,
  createQueryScheduler,
  type QueryBudget,
  type QueryScheduler,
} from './budget/query-budget.ts'
import type { EntityName } from './catalog/entity.ts'
import type { ServedView } from './catalog/view-entity.ts'
import { executePlan } from './execute/execute-plan.ts'
import type { QueryPlan } from './plan/plan.ts'
import { createPlanCache, type PlanParts, planFor } from './plan/plan-cache.ts'
import {
  chooseOperation,
  firstField,
  type QueryDocument,
  type QueryOperation,
  readDocument,
  readVariables,
  type Variables,
} from './plan/query-document.ts'
import { isRequestErrors, type RequestErrors, readableError } from './plan/request-errors.ts'
import { createAttestedBlocks } from './rows/attested-blocks.ts'
import { createCidCache } from './rows/block-cids.ts'
import {
  createMissingRows,
  hostGaps,
  type IncompleteView,
  type ViewGaps,
} from './rows/missing-rows.ts'
import { createOpenedViews } from './rows/opened-views.ts'
import { createSchemaKeeper, type SchemaKeeper, type ServedSchema } from './served-schema.ts'

/** What to serve, and how much of it at once. */
interface GraphqlOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly limits: QueryLimits
  /** The collections; Hosts add AttestationRecord. */
  readonly collections: readonly EntityName[]
  /** What Views lack. Default: as at a Host. */
  readonly viewGaps?: ViewGaps
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
  /**
   * Rows of Views of blocks for which fewer Generators vouch are not there; all are by default. The program asks for
   * it, not the client.
   */
  readonly minimumAttestations?: number
}

/** An answer; `data` is null whenever there are errors. */
export interface GraphqlResult {
  /** JSON text in pieces; joined, they are the object. */
  readonly data: readonly string[] | null
  /** Where the data lacks rows of Views; not of `executeAt`. */
  readonly extensions?: { readonly views: readonly IncompleteView[] }
  readonly errors?: readonly GraphQLError[]
}

/** The engine. */
export interface Graphql {
  /** As it is now. */
  readonly schema: GraphQLSchema
  /**
   * Serves these Views as collections beside the others, and no other Views. Within half a second; what runs goes
   * on with those that it began with.
   */
  setViews(views: readonly ServedView[]): void
  /** The Views that are served now, with the fields of their own. */
  views(): readonly { readonly name: string; readonly fields: readonly string[] }[]
  /** The memory that all requests hold together. */
  readonly memory: MemoryPool
  /** The queue of requests that wait for the thread. */
  readonly scheduler: QueryScheduler
  /**
   * Runs a query over everything stored. Never rejects: failures are in `errors`. The answer stays
   * reserved in the caller's `account`; without one it no longer counts once it is returned.
   */
  execute(
    request: GraphqlRequest,
    signal?: AbortSignal,
    account?: MemoryAccount,
  ): Promise<GraphqlResult>
  /**
   * Runs a query or a subscription over the heights `from` to `to` alone: the rows that an event of
   * those heights has.
   */
  executeAt(
    request: GraphqlRequest,
    heights: { readonly from: number; readonly to: number },
    signal?: AbortSignal,
    account?: MemoryAccount,
  ): Promise<GraphqlResult>
  /** The kind of the operation a request asks for; null where the request is not valid. */
  operationKind(request: GraphqlRequest): 'query' | 'subscription' | null
  /** The name of the View that a valid subscription is about; null where it is about another collection. */
  subscribedView(request: GraphqlRequest): string | null
  /** Notifies the listeners that a block has become visible. */
  notify(height: number): void
  /** Notifies them that the rows of a View at a height have become visible. */
  notifyRows(view: string, height: number): void
  /** Listens to both; `view` is null for a block. Returns the function that stops it. */
  onHeight(listener: (height: number, view: string | null) => void): () => void
  /** Listens to changes of what is served; returns the function that stops it. */
  onViews(listener: () => void): () => void
  /** Counts a client that was disconnected because it read too slowly. */
  noteSlowReader(): void
}

/** Opens the engine. It holds nothing that must be closed; the reader belongs to the caller. */
export function openGraphql(options: GraphqlOptions, parts: GraphqlParts): Graphql {
  const plans = createPlanCache()
  const { network, collections, viewGaps = hostGaps } = options
  const viewListeners = new Set<() => void>()
  const served = createSchemaKeeper({
    network,
    collections,
    onChange: (names) => {
      plans.dropViews(names)
      for (const listener of viewListeners) listener()
    },
    onLeftOut: ({ id, address, name }, err) =>
      parts.log.error(
        { err, view: id, address, name },
        'a View cannot be served beside the others',
      ),
  })
  const metrics = createGraphqlMetrics(parts.registry, {
    heldBytes: () => memory.heldBytes(),
    planBytes: plans.bytes,
  })
  const memory = createMemoryPool(options.limits, metrics.busy)
  const engine: Engine = {
    network,
    viewGaps,
    limits: options.limits,
    served,
    plans,
    memory,
    metrics,
    scheduler: createQueryScheduler(),
    cids: createCidCache(),
    standardAnswers: new WeakMap(),
    ...parts,
  }
  const listeners = new Set<(height: number, view: string | null) => void>()
  return {
    get schema() {
      return served.now().schema
    },
    setViews: served.setViews,
    views: served.views,
    memory,
    scheduler: engine.scheduler,
    execute: (request, signal, account) =>
      answer(engine, request, { kinds: ['query'], window: allHeights, signal, account }),
    executeAt: (request, { from, to }, signal, account) => {
      const kinds = ['query', 'subscription'] as const
      return answer(engine, request, { kinds, window: [[from, to]], signal, account })
    },
    operationKind: (request) => operationOf(engine, request)?.kind ?? null,
    subscribedView: (request) => viewOf(engine, request),
    notify(height) {
      for (const listener of listeners) listener(height, null)
    },
    notifyRows(view, height) {
      for (const listener of listeners) listener(height, view)
    },
    onHeight(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onViews(listener) {
      viewListeners.add(listener)
      return () => void viewListeners.delete(listener)
    },
    noteSlowReader: engine.metrics.cutOff,
  }
}

interface Engine extends GraphqlParts {
  readonly network: string
  readonly viewGaps: ViewGaps
  readonly limits: QueryLimits
  readonly served: SchemaKeeper
  readonly plans: PlanParts['plans']
  readonly memory: MemoryPool
  readonly metrics: ReturnType<typeof createGraphqlMetrics>
  readonly scheduler: QueryScheduler
  readonly cids: ReturnType<typeof createCidCache>
  /** The answer to the standard introspection query, once it was asked for. */
  readonly standardAnswers: WeakMap<GraphQLSchema, readonly string[]>
}

/** The engine with what is served while a request runs. */
type ServingEngine = Engine & ServedSchema

const serving = (engine: Engine): ServingEngine => ({ ...engine, ...engine.served.now() })

interface Demand {
  readonly kinds: readonly ('query' | 'subscription')[]
  readonly window: HeightRanges
  readonly signal: AbortSignal | undefined
  readonly account: MemoryAccount | undefined
}

async function answer(
  engine: Engine,
  request: GraphqlRequest,
  demand: Demand,
): Promise<GraphqlResult> {
  const { scheduler, metrics, log } = engine
  const account = demand.account ?? engine.memory.openAccount()
  const budget = createQueryBudget(engine.limits, { scheduler, account, signal: demand.signal })
  const finish = (outcome: RequestOutcome, result: GraphqlResult): GraphqlResult => {
    const usage = budget.usage()
    metrics.finish(outcome, usage)
    log.debug({ outcome, ...usage }, 'query answered')
    budget.end(result.data !== null)
    if (demand.account === undefined) account.close()
    return result
  }
  try {
    if (scheduler.isBusy()) await budget.yieldThread()
    const found = await run(serving(engine), request, demand, budget)
    return isRequestErrors(found) ? finish('refused', failed(found)) : finish('ok', found)
  } catch (error) {
    return error instanceof GraphQLError
      ? finish('refused', failed([error]))
      : finish('failed', failed([presentFailure(engine, error)]))
  }
}

const failed = (errors: RequestErrors): GraphqlResult => ({
  data: null,
  errors: errors.map(readableError),
})

/** An answer, or the errors of the request. */
type Found = Answer | RequestErrors

type Answer = GraphqlResult & { readonly data: readonly string[] }

async function run(
  engine: ServingEngine,
  request: GraphqlRequest,
  demand: Demand,
  budget: QueryBudget,
): Promise<Found> {
  const query = findDocument(engine, request.query)
  if (isRequestErrors(query)) return query
  budget.openReservation().add(query.bytes)
  await budget.yieldIfDue()
  const operation = chooseOperation(query, request.operationName)
  if (!demand.kinds.includes(operation.kind)) throw notStreamed()
  const variables = readVariables(engine, operation, request.variables ?? {})
  if (isRequestErrors(variables)) return variables
  await budget.yieldIfDue()
  const plan = planFor(engine, operation, variables)
  await budget.yieldIfDue()
  const { minimumAttestations = 0 } = request
  const asked = { ...demand, minimumAttestations }
  if (!query.isStandardIntrospection) {
    return await execute(engine, plan, variables, asked, budget)
  }
  const known = engine.standardAnswers.get(engine.schema)
  for (const { length } of known ?? []) budget.addBytes(length)
  const data = known ?? (await execute(engine, plan, variables, asked, budget)).data
  engine.standardAnswers.set(engine.schema, data)
  return { data }
}

async function execute(
  { network, viewGaps, catalog, schema, cids, reader }: ServingEngine,
  plan: QueryPlan,
  variables: Variables,
  { window, minimumAttestations }: Demand & { readonly minimumAttestations: number },
  budget: QueryBudget,
): Promise<Answer> {
  const snapshot = reader.snapshot()
  try {
    const session = {
      network,
      snapshot,
      budget,
      cids,
      opened: createOpenedViews(budget),
      missing: window === allHeights ? createMissingRows(snapshot, viewGaps) : null,
      attested: minimumAttestations > 0 ? createAttestedBlocks(minimumAttestations, budget) : null,
    }
    const run = { session, catalog, variables, window, known: [] }
    const data = await executePlan(run, plan, schema)
    const views = session.missing?.incomplete() ?? []
    if (views.length === 0) return { data }
    budget.addBytes(JSON.stringify(views).length)
    return { data, extensions: { views } }
  } finally {
    snapshot.release()
  }
}

function findDocument(engine: ServingEngine, text: string): QueryDocument | RequestErrors {
  const known = engine.plans.findDocument(text)
  engine.metrics.planned(known === undefined ? 'text' : 'cache')
  if (known !== undefined) return known
  const query = readDocument(engine, text)
  if (!isRequestErrors(query)) engine.plans.keepDocument(text, query)
  return query
}

/** The operation of a request; null where it is not valid. */
function operationOf(engine: Engine, request: GraphqlRequest): QueryOperation | null {
  try {
    const query = findDocument(serving(engine), request.query)
    return isRequestErrors(query) ? null : chooseOperation(query, request.operationName)
  } catch (error) {
    if (error instanceof GraphQLError) return null
    throw error
  }
}

function viewOf(engine: Engine, request: GraphqlRequest): string | null {
  const operation = operationOf(engine, request)
  if (operation === null) return null
  return engine.served.now().entities.get(firstField(operation) ?? '')?.view?.name ?? null
}

function notStreamed(): GraphQLError {
  return new GraphQLError(
    'This is a subscription: ask for it with the header "Accept: text/event-stream".',
  )
}

/** Internal errors: those with a code say what happened, others only that the query failed. */
function presentFailure({ log }: Engine, error: unknown): GraphQLError {
  log.error({ err: error }, 'query failed')
  if (!(error instanceof ServiceError)) {
    return new GraphQLError('The query failed inside the service; its log says why.')
  }
  const text = error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`
  return new GraphQLError(text, { extensions: { code: error.code } })
}
