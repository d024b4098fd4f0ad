/** The Host's GraphQL endpoint over everything it has stored, and the playground one port above it. */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { type Graphql, openGraphql } from '../graphql/graphql.ts'
import type { Limits } from '../graphql/limits.ts'
import { playgroundRoutes } from '../graphql/playground.ts'
import { graphqlRoutes } from '../graphql/route.ts'
import { defaultSubscriptionLimits, openSubscriptions } from '../graphql/subscriptions.ts'
import { collections } from '../primitives/collections.ts'
import { openHttpServer } from '../service/http-server.ts'
import type { StoreReader } from '../store/store.ts'
import { type HostSettings, playgroundListen } from './config.ts'

export interface Api {
  readonly port: number
  readonly playgroundPort: number
  /** Tells subscribers of a new block. */
  notify(height: number): void
  close(): Promise<void>
}

export interface ApiOptions {
  readonly settings: HostSettings
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
}

export interface ApiParts {
  readonly log: Logger
  readonly registry: Registry
  readonly reader: StoreReader
}

/** Listens on the API port and on the playground's, one above. Throws SERVICE_PORT_UNAVAILABLE. */
export async function openApi({ settings, network }: ApiOptions, parts: ApiParts): Promise<Api> {
  const { log, registry } = parts
  const names = Object.values(collections).map(({ name }) => name)
  const graphql: Graphql = openGraphql(
    { network, limits: limitsOf(settings), collections: [...names, 'AttestationRecord'] },
    parts,
  )
  const subscriptions = openSubscriptions(defaultSubscriptionLimits, { log, registry, graphql })
  const api = await openHttpServer(
    { address: settings.apiAddress, setting: 'DB_API_ADDR' },
    { log, routes: (server) => graphqlRoutes(server, graphql, { subscriptions }) },
  )
  const playground = await openHttpServer(playgroundListen(settings.apiAddress), {
    log,
    routes: (server) => playgroundRoutes(server, graphql, { subscriptions }),
  }).catch(async (error: unknown) => {
    await api.close()
    throw error
  })
  return {
    port: api.port,
    playgroundPort: playground.port,
    notify: (height) => graphql.notify(height),
    close: async () => {
      subscriptions.close()
      await Promise.all([api.close(), playground.close()])
    },
  }
}

function limitsOf(settings: HostSettings): Limits {
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
