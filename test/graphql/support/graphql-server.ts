/** A GraphQL API and a playground on loopback, over a real store with made-up blocks. */
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { QueryLimits } from '../../../src/graphql/budget/limits.ts'
import { hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import { type Graphql, openGraphql } from '../../../src/graphql/graphql.ts'
import { playgroundRoutes } from '../../../src/graphql/http/playground.ts'
import {
  type GraphqlRouteOptions,
  graphqlPath,
  graphqlRoutes,
} from '../../../src/graphql/http/route.ts'
import {
  defaultSubscriptionLimits,
  openSubscriptions,
  type SubscriptionLimits,
  type Subscriptions,
} from '../../../src/graphql/http/subscriptions.ts'
import { openHttpServer } from '../../../src/service/health/http-server.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import type { ChainBlock } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'
import { operatorLimits } from './graphql-room.ts'

export interface TestApi {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly origin: string
  /** The GraphQL endpoint. */
  readonly url: string
  readonly graphql: Graphql
  readonly store: StoreWriter
  readonly registry: Registry
  readonly subscriptions: Subscriptions
  /** Stores a block, sealed by each of these Generators, and notifies the engine. */
  add(block: ChainBlock, signers?: readonly string[]): Promise<void>
  /** Sends a query as an application does and returns the status and the whole body. */
  ask(query: string, variables?: object): Promise<{ status: number; body: unknown }>
}

export interface TestApiSetup {
  readonly blocks?: readonly ChainBlock[]
  readonly limits?: Partial<QueryLimits>
  readonly subscriptionLimits?: Partial<SubscriptionLimits>
  readonly routes?: Omit<GraphqlRouteOptions, 'subscriptions'>
  /** Serve the playground's port instead of the plain API. Default false. */
  readonly playground?: boolean
  /** Stands between the routes and the engine. */
  readonly wrap?: (graphql: Graphql) => Graphql
}

/** Opens everything; the test need not close it. */
export async function openTestApi(t: TestContext, setup: TestApiSetup = {}): Promise<TestApi> {
  const log = pino({ enabled: false })
  const registry = new Registry()
  const store = await openTestStore(t, null)
  for (const block of setup.blocks ?? []) await store.putSealedBlock(storableBlock(block))
  const engine = openGraphql(
    {
      network: testNetwork,
      limits: { ...operatorLimits, ...setup.limits },
      collections: hostCollections,
    },
    { reader: store.reader, registry, log },
  )
  const graphql = setup.wrap?.(engine) ?? engine
  const subscriptions = openSubscriptions(
    { ...defaultSubscriptionLimits, ...setup.subscriptionLimits },
    { graphql, registry, log },
  )
  const options = { subscriptions, ...setup.routes }
  const declare = setup.playground === true ? playgroundRoutes : graphqlRoutes
  const server = await openHttpServer(
    { address: { host: '127.0.0.1', port: 0 }, setting: 'DB_API_ADDR' },
    { log, routes: (fastify) => declare(fastify, graphql, options) },
  )
  t.after(async () => {
    subscriptions.close()
    await server.close()
  })
  const origin = `http://127.0.0.1:${server.port}`
  const url = origin + graphqlPath
  return {
    origin,
    url,
    graphql,
    store,
    registry,
    subscriptions,
    async add(block, signers = ['generator']) {
      const [first, ...others] = signers.map((signer) => storableBlock(block, signer))
      if (first === undefined) throw new Error('a block has a signer')
      const seals = [...first.seals, ...others.flatMap((one) => one.seals)]
      await store.putSealedBlock({ ...first, seals })
      graphql.notify(block.number)
    },
    async ask(query, variables) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
      return { status: response.status, body: await response.json() }
    },
  }
}
