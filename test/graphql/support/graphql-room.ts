/** The query engine over a real store with generated blocks. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { defaultQueryLimits, type QueryLimits } from '../../../src/graphql/budget/limits.ts'
import { createMemoryPool } from '../../../src/graphql/budget/memory-pool.ts'
import {
  createQueryBudget,
  createQueryScheduler,
  type QueryBudget,
} from '../../../src/graphql/budget/query-budget.ts'
import { hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import type { EntityName } from '../../../src/graphql/catalog/entity.ts'
import { type Graphql, type GraphqlResult, openGraphql } from '../../../src/graphql/graphql.ts'
import type { SealedBlockToStore, StoreReader, StoreWriter } from '../../../src/store/store.ts'
import { type ChainBlock, createChain } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

/** Limits as those of a program whose operator may set others. */
export const operatorLimits: QueryLimits = {
  ...defaultQueryLimits,
  settings: {
    maxConditions: 'GRAPHQL_MAX_CONDITIONS',
    maxRows: 'GRAPHQL_MAX_ROWS',
    maxHeldBytes: 'GRAPHQL_MAX_HELD_BYTES',
  },
}

export interface GraphqlRoom {
  readonly graphql: Graphql
  readonly store: StoreWriter
  readonly chain: readonly ChainBlock[]
  readonly registry: Registry
  /** Runs a query that must succeed. */
  query(text: string, variables?: Readonly<Record<string, unknown>>): Promise<Rows>
  /** The messages of a query that must fail. */
  errors(text: string, variables?: Readonly<Record<string, unknown>>): Promise<string[]>
}

/** The data of an answer; tests know what they asked for. */
// biome-ignore lint/suspicious/noExplicitAny: the shape follows from the query text
export type Rows = any

interface GraphqlRoomOptions {
  readonly chain?: readonly ChainBlock[]
  readonly limits?: Partial<QueryLimits>
  readonly collections?: readonly EntityName[]
  /** Signers of each block; default one Generator. */
  readonly signers?: (block: ChainBlock) => readonly string[]
  readonly retainBlocks?: number | null
  readonly retainRows?: number
  readonly maxViewBytes?: number
}

/** Opens the engine over a chain, by default of six small blocks. */
export async function openGraphqlRoom(
  t: TestContext,
  options: GraphqlRoomOptions = {},
): Promise<GraphqlRoom> {
  const { chain = createChain({ count: 6 }), signers = () => ['generator'] } = options
  const { retainBlocks = null, retainRows = null, maxViewBytes = Infinity } = options
  const store = await openTestStore(t, retainBlocks, { retainRows, maxViewBytes })
  for (const block of chain) void store.putSealedBlock(signedBlock(block, signers(block)))
  await store.flushed()
  const registry = new Registry()
  const graphql = openTestGraphql(store.reader, { ...options, registry })
  const run = (query: string, variables: Readonly<Record<string, unknown>> = {}) =>
    graphql.execute({ query, variables })
  return {
    graphql,
    store,
    chain,
    registry,
    query: async (text, variables) => dataOf(await run(text, variables)),
    errors: async (text, variables) => errorsOf(await run(text, variables)),
  }
}

/** The engine over a reader. */
export function openTestGraphql(
  reader: StoreReader,
  options: {
    readonly limits?: Partial<QueryLimits>
    readonly collections?: readonly EntityName[]
    readonly registry?: Registry
  } = {},
): Graphql {
  const { limits, collections = hostCollections, registry = new Registry() } = options
  return openGraphql(
    { network: testNetwork, limits: { ...operatorLimits, ...limits }, collections },
    { reader, registry, log: pino({ enabled: false }) },
  )
}

/** The budget of a request that runs alone. */
export function createTestBudget(limits: Partial<QueryLimits> = {}): QueryBudget {
  const all = { ...operatorLimits, ...limits }
  const account = createMemoryPool(all).openAccount()
  return createQueryBudget(all, { scheduler: createQueryScheduler(), account, signal: undefined })
}

/** A block with the seals of several Generators. */
export function signedBlock(block: ChainBlock, signers: readonly string[]): SealedBlockToStore {
  const stored = signers.map((signer) => storableBlock(block, signer))
  const [first = storableBlock(block)] = stored
  return { ...first, seals: stored.flatMap(({ seals }) => seals) }
}

/** The data of an answer, read as a client reads it; null where it has none. */
export function readData({ data }: Pick<GraphqlResult, 'data'>): Rows {
  return data === null ? null : JSON.parse(data.join(''))
}

function dataOf(result: GraphqlResult): Rows {
  assert.deepEqual(
    result.errors?.map(({ message }) => message),
    undefined,
  )
  return readData(result)
}

function errorsOf(result: GraphqlResult): string[] {
  assert.equal(result.data, null)
  return (result.errors ?? []).map(({ message }) => message)
}

/** How many documents the engine has read so far. */
export async function documentsRead(registry: Registry): Promise<number> {
  const metric = registry.getSingleMetric('viewmesh_graphql_documents_total')
  return (await metric?.get())?.values[0]?.value ?? 0
}

/** How many documents a query reads that must succeed. */
export async function costOf(
  { query, registry }: Pick<GraphqlRoom, 'query' | 'registry'>,
  text: string,
): Promise<number> {
  const before = await documentsRead(registry)
  await query(text)
  return (await documentsRead(registry)) - before
}
