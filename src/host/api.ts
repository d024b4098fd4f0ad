/** The Host's GraphQL endpoint over everything it has stored, and the playground one port above it. */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { type Graphql, openGraphql } from '../graphql/graphql.ts'
import { playgroundRoutes } from '../graphql/http/playground.ts'
import { graphqlRoutes } from '../graphql/http/route.ts'
import { defaultSubscriptionLimits, openSubscriptions } from '../graphql/http/subscriptions.ts'
import { collections } from '../primitives/collections.ts'
import { openHttpServer } from '../service/health/http-server.ts'
import { graphqlLimits } from '../service/settings/graphql-limits.ts'
import type { StoreReader } from '../store/store.ts'
import { type HostSettings, playgroundListen } from './config.ts'

interface Api {
  readonly port: number
  readonly playgroundPort: number
  /** Notifies subscribers of a new block. */
  notify(height: number): void
  /** Serves these Views beside the collections, and no others, within half a second. */
  setViews: Graphql['setViews']
  /** Notifies subscribers of new rows of a View. */
  notifyRows: Graphql['notifyRows']
  close(): Promise<void>
}

interface HostApiOptions {
  readonly settings: HostSettings
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
}

interface HostApiParts {
  readonly log: Logger
  readonly registry: Registry
  readonly reader: StoreReader
}

/** Listens on the API port and on the playground's, one above. Throws SERVICE_PORT_UNAVAILABLE. */
export async function openHostApi(
  { settings, network }: HostApiOptions,
  parts: HostApiParts,
): Promise<Api> {
  const { log, registry } = parts
  const names = Object.values(collections).map(({ name }) => name)
  const graphql: Graphql = openGraphql(
    { network, limits: graphqlLimits(settings), collections: [...names, 'AttestationRecord'] },
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
    setViews: graphql.setViews,
    notifyRows: graphql.notifyRows,
    close: async () => {
      subscriptions.close()
      await Promise.all([api.close(), playground.close()])
    },
  }
}
