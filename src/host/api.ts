/** The Host's API port, with GraphQL over everything it has stored and its Views, and the playground one port above. */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { hostCollections } from '../graphql/catalog/catalog.ts'
import { type Graphql, openGraphql } from '../graphql/graphql.ts'
import { playgroundRoutes } from '../graphql/http/playground.ts'
import { graphqlRoutes } from '../graphql/http/route.ts'
import { defaultSubscriptionLimits, openSubscriptions } from '../graphql/http/subscriptions.ts'
import { hostGaps } from '../graphql/rows/missing-rows.ts'
import { openHttpServer } from '../service/health/http-server.ts'
import { graphqlLimits } from '../service/settings/graphql-limits.ts'
import type { StoreReader } from '../store/store.ts'
import { type HostSettings, playgroundListen } from './config.ts'
import type { ViewsFolder } from './folder/views-folder.ts'
import type { HostRegistry } from './registry/host-registry.ts'
import { readQuarantine } from './views/engine/view-record.ts'
import { viewRoutes } from './views/view-routes.ts'
import type { HostViews } from './views/views.ts'

interface Api {
  readonly port: number
  readonly playgroundPort: number
  close(): Promise<void>
}

interface GraphqlParts {
  readonly log: Logger
  readonly registry: Registry
  readonly reader: StoreReader
}

interface HostApiParts extends Omit<GraphqlParts, 'reader'> {
  readonly graphql: Graphql
  readonly views: HostViews
  readonly folder: Pick<ViewsFolder, 'report'>
  readonly hostRegistry: Pick<HostRegistry, 'report'>
}

/** The engine over what the Host stores; `network` is as in `Ethereum__Mainnet`. */
export function openHostGraphql(
  { settings, network }: { readonly settings: HostSettings; readonly network: string },
  parts: GraphqlParts,
): Graphql {
  return openGraphql(
    {
      ...{ network, limits: graphqlLimits(settings), collections: hostCollections },
      viewGaps: { ...hostGaps, quarantineOf: readQuarantine },
    },
    parts,
  )
}

/**
 * Listens on the API port and on the playground's, one above, which is there before the API answers.
 * @throws ServiceError `SERVICE_PORT_UNAVAILABLE`
 */
export async function openHostApi(
  { apiAddress, adminToken }: HostSettings,
  { log, registry, graphql, views, folder, hostRegistry }: HostApiParts,
): Promise<Api> {
  const subscriptions = openSubscriptions(defaultSubscriptionLimits, { log, registry, graphql })
  const playground = await openHttpServer(playgroundListen(apiAddress), {
    log,
    routes: (server) => playgroundRoutes(server, graphql, { subscriptions }),
  })
  const api = await openHttpServer(
    { address: apiAddress, setting: 'DB_API_ADDR' },
    {
      log,
      routes: async (server) => {
        await graphqlRoutes(server, graphql, { subscriptions })
        viewRoutes(server, {
          views,
          adminToken,
          folder: folder.report,
          registry: hostRegistry.report,
        })
      },
    },
  ).catch(async (error: unknown) => {
    await playground.close()
    throw error
  })
  return {
    port: api.port,
    playgroundPort: playground.port,
    close: async () => {
      subscriptions.close()
      await Promise.all([api.close(), playground.close()])
    },
  }
}
