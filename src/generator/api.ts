/**
 * The read-only GraphQL API over the Generator's own store. It listens before anything is written, and
 * refuses queries until the store is open.
 */
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { invariant } from '../errors.ts'
import { type GraphqlParts, openGraphql } from '../graphql/graphql.ts'
import { graphqlRoutes } from '../graphql/http/route.ts'
import { defaultSubscriptionLimits, openSubscriptions } from '../graphql/http/subscriptions.ts'
import { collections } from '../primitives/collections.ts'
import { paths } from '../service/contract.ts'
import { errorBody, openHttpServer } from '../service/health/http-server.ts'
import { graphqlLimits } from '../service/settings/graphql-limits.ts'
import type { StoreReader } from '../store/store.ts'
import type { GeneratorSettings } from './config.ts'

export interface GeneratorApi {
  readonly port: number
  /** Serves queries from this reader from now on. */
  serve(reader: StoreReader): void
  /** Notifies subscribers of a new block. */
  notify(height: number): void
  close(): Promise<void>
}

const opening = errorBody(
  503,
  'the store is being opened',
  `Ask again when ${paths.health} of this Generator says healthy.`,
)
const collectionNames = Object.values(collections).map(({ name }) => name)

/** Listens. Throws SERVICE_PORT_UNAVAILABLE. */
export async function openGeneratorApi(
  options: { readonly settings: GeneratorSettings; readonly network: string },
  parts: { readonly log: Logger; readonly registry: Registry },
): Promise<GeneratorApi> {
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
    { network, limits: graphqlLimits(settings), collections: collectionNames },
    { ...parts, reader: current },
  )
  const subscriptions = openSubscriptions(defaultSubscriptionLimits, { ...parts, graphql })
  const routes = async (server: FastifyInstance): Promise<void> => {
    server.addHook('onRequest', async (_request, reply) => {
      if (reader === null) await reply.code(503).send(opening)
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
