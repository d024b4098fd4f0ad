/** The schema endpoint: the SDL of this Generator's collections, for Hosts and toolkits. */
import type { FastifyInstance } from 'fastify'
import { type CollectionName, collections } from '../../primitives/collections.ts'
import { typeName } from '../../primitives/names.ts'
import { collectionSdl, schemaSdl } from '../../primitives/sdl.ts'
import { paths } from '../../service/contract.ts'
import { errorBody } from '../../service/health/http-server.ts'
import { requireToken, type TokenAuthOptions } from '../../service/token-auth.ts'

interface SchemaRoutesOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly auth: TokenAuthOptions
}

/** Declares the three routes, all behind the same check. */
export function schemaRoutes(server: FastifyInstance, options: SchemaRoutesOptions): void {
  const { network } = options
  const onRequest = requireToken(options.auth)
  server.get(paths.schema, { onRequest }, () => ({ network, schema: schemaSdl(network) }))
  server.get(`${paths.schema}/collections`, { onRequest }, () => ({
    network,
    collections: Object.values(collections).map(({ name, path }) => ({
      name: path,
      type_name: typeName(network, name),
    })),
  }))
  server.get<{ Params: { collection: string } }>(
    `${paths.schema}/:collection`,
    { onRequest },
    ({ params }, reply) => {
      const name = collectionOf(params.collection)
      if (name === null)
        return reply.code(404).send(errorBody(404, `collection '${params.collection}' not found`))
      return { network, schema: collectionSdl(network, name) }
    },
  )
}

function collectionOf(path: string): CollectionName | null {
  return Object.values(collections).find((collection) => collection.path === path)?.name ?? null
}
