/**
 * The Views of a Host over HTTP, on its API port: everybody may read, and who has `HOST_ADMIN_TOKEN` may change
 * which there are.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { ServiceError } from '../../errors.ts'
import { paths } from '../../service/contract.ts'
import { errorBody } from '../../service/health/http-server.ts'
import { requireToken } from '../../service/token-auth.ts'
import { parseViewID } from '../../views/view-id.ts'
import { maxViewBody, readViewRequest } from './view-request.ts'
import type { HostViews } from './views.ts'

/** Where Views come from beside requests. */
interface Source {
  readonly others: readonly { readonly id: string | null; readonly address: string | null }[]
}

interface ViewRoutesOptions {
  readonly views: HostViews
  /** The folder of Views with its files that are not served; null without one. */
  readonly folder: () => Source | null
  /** The registry chain with its Views that are not served; null without one. */
  readonly registry: () => Source | null
  /** Null where nobody may change anything. */
  readonly adminToken: string | null
}

/** Those that are not 400. */
const statuses: Readonly<Record<string, number>> = {
  HOST_VIEWS_FULL: 409,
  HOST_VIEW_CHECK_TIMEOUT: 503,
  HOST_VIEW_FIELDS_FULL: 409,
  HOST_VIEW_IN_FOLDER: 409,
  HOST_VIEW_REGISTERED: 409,
}

const tokenRemedies = {
  401: 'Send the admin token of this Host as Authorization: Bearer or X-Api-Key: it is what HOST_ADMIN_TOKEN or the file of HOST_ADMIN_TOKEN_FILE holds where the Host runs.',
  403: 'Send the token that HOST_ADMIN_TOKEN or the file of HOST_ADMIN_TOKEN_FILE holds where the Host runs; a changed one holds from the next start of the Host.',
  503: 'Set HOST_ADMIN_TOKEN or HOST_ADMIN_TOKEN_FILE of this Host and start it again: without a token nobody may change its Views.',
}

type OfView = { Params: { id: string } }

/** Declares the routes. */
export function viewRoutes(
  server: FastifyInstance,
  { views, folder, registry, adminToken }: ViewRoutesOptions,
): void {
  const keys = adminToken === null ? [] : [adminToken]
  const onRequest = requireToken({ mode: 'token', keys: () => keys, remedies: tokenRemedies })
  const one = `${paths.views}/:id` as const
  server.get(paths.views, (_request, reply) =>
    open(reply).send({ views: views.list(), folder: folder(), registry: registry() }),
  )
  server.get<OfView>(one, ({ params }, reply) => {
    const found = views.find(params.id) ?? otherView([folder(), registry()], params.id)
    return found === undefined ? notFound(reply, params.id) : open(reply).send(found)
  })
  server.post(paths.views, { onRequest, bodyLimit: maxViewBody }, ({ body }, reply) =>
    register(views, body, reply),
  )
  server.delete<OfView>(one, { onRequest }, ({ params }, reply) => remove(views, params.id, reply))
  server.post<OfView>(`${one}/retry`, { onRequest }, ({ params }, reply) =>
    views.retry(params.id) ? reply.code(204).send() : notFound(reply, params.id),
  )
}

/** A View that is not served says why. */
function otherView(
  sources: readonly (Source | null)[],
  text: string,
): Source['others'][number] | undefined {
  const parsed = parseViewID(text)
  const wanted = parsed?.id ?? parsed?.address
  if (wanted === undefined) return undefined
  return sources
    .flatMap((source) => source?.others ?? [])
    .find(({ id, address }) => id === wanted || address === wanted)
}

async function register(
  views: HostViews,
  body: unknown,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    const { report, isNew } = await views.register(readViewRequest(body), 'posted')
    if (isNew) return reply.code(201).header('location', `${paths.views}/${report.id}`).send(report)
    return reply.send({ message: 'collection already exists', ...report })
  } catch (error) {
    return refuse(reply, error)
  }
}

async function remove(views: HostViews, id: string, reply: FastifyReply): Promise<FastifyReply> {
  try {
    return (await views.remove(id)) ? reply.code(204).send() : notFound(reply, id)
  } catch (error) {
    return refuse(reply, error)
  }
}

/** What cannot be done as things stand, or what was asked for in no accepted way. */
function refuse(reply: FastifyReply, error: unknown): FastifyReply {
  if (!(error instanceof ServiceError)) throw error
  const { code, message, remedy } = error
  const status = statuses[code] ?? 400
  return reply.code(status).send({ ...errorBody(status, message, remedy), code })
}

function notFound(reply: FastifyReply, id: string): FastifyReply {
  const remedy = `Name it by its ID or its address, as GET ${paths.views} has them.`
  return reply.code(404).send(errorBody(404, `there is no View ${id.slice(0, 80)}`, remedy))
}

/** Pages of any origin may read. */
function open(reply: FastifyReply): FastifyReply {
  return reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache' })
}
