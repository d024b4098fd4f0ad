/**
 * The read-only GraphQL over the Generator's own store. The port is taken before anything is written,
 * and refuses queries until the store is open.
 */
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { invariant } from '../errors.ts'
import { type GraphqlParts, openGraphql } from '../graphql/graphql.ts'
import { graphqlRoutes } from '../graphql/route.ts'
import { defaultSubscriptionLimits, openSubscriptions } from '../graphql/subscriptions.ts'
import { collections } from '../primitives/collections.ts'
import { errorBody, openHttpServer } from '../service/http-server.ts'
import type { StoreReader } from '../store/store.ts'
import type { GeneratorSettings } from './config.ts'

export interface Api {
  readonly port: number
  /** Answers queries from this reader from now on. */
  serve(reader: StoreReader): void
  /** Tells subscribers of a new block. */
  notify(height: number): void
  close(): Promise<void>
}

const collectionNames = Object.values(collections).map(({ name }) => name)

/** Listens. Throws SERVICE_PORT_UNAVAILABLE. */
export async function openApi(
  options: { readonly settings: GeneratorSettings; readonly network: string },
  parts: { readonly log: Logger; readonly registry: Registry },
): Promise<Api> {
  const { settings, network } = options
  let reader: StoreReader | null = null
  let closed: Promise<void> | null = null
  const current: GraphqlParts['reader'] = {
    snapshot() {
      invariant(reader !== null, 'queries are refused until the store is open')
      return reader.snapshot()
    },
  }
  const graphql = openGraphql(
    { network, limits: limitsOf(settings), collections: collectionNames },
    { ...parts, reader: current },
  )
  const subscriptions = openSubscriptions(defaultSubscriptionLimits, { ...parts, graphql })
  const routes = async (server: FastifyInstance): Promise<void> => {
    server.addHook('onRequest', async (_request, reply) => {
      if (reader === null) await reply.code(503).send(errorBody(503, 'the store is being opened'))
    })
    await graphqlRoutes(server, graphql, { subscriptions })
  }
  const server = await openHttpServer(
    { address: settings.apiAddress, setting: 'DB_API_ADDR' },
    { log: parts.log, routes },
  )
  return {
    port: server.port,
    serve(opened) {
      reader = opened
    },
    notify: (height) => graphql.notify(height),
    close() {
      subscriptions.close()
      closed ??= server.close()
      return closed
    },
  }
}

function limitsOf(settings: GeneratorSettings): Parameters<typeof openGraphql>[0]['limits'] {
  return {
    maxDepth: settings.graphqlMaxDepth,
    maxConditions: settings.graphqlMaxConditions,
    maxCost: settings.graphqlMaxCost,
    maxRows: settings.graphqlMaxRows,
    maxResultBytes: settings.graphqlMaxResultBytes,
    maxMs: settings.graphqlMaxMs,
    maxHeldBytes: settings.graphqlMaxHeldBytes,
  }
}
