/**
 * The Views of a Host over HTTP, on its API port: everybody may read, and who has `HOST_ADMIN_TOKEN` may change
 * which there are.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { ServiceError } from '../../errors.ts'
import { paths } from '../../service/contract.ts'
import { errorBody } from '../../service/health/http-server.ts'
import { requireToken } from '../../service/token-auth.ts'
import { maxViewBody, readViewRequest } from './view-request.ts'
import type { HostViews } from './views.ts'

interface ViewRoutesOptions {
  readonly views: HostViews
  /** Null where nobody may change anything. */
  readonly adminToken: string | null
}

type OfView = { Params: { id: string } }

/** Declares the routes. */
export function viewRoutes(
  server: FastifyInstance,
  { views, adminToken }: ViewRoutesOptions,
): void {
  const keys = adminToken === null ? [] : [adminToken]
  const onRequest = requireToken({ mode: 'token', keys: () => keys })
  const one = `${paths.views}/:id` as const
  server.get(paths.views, (_request, reply) => open(reply).send({ views: views.list() }))
  server.get<OfView>(one, ({ params }, reply) => {
    const found = views.find(params.id)
    return found === undefined ? notFound(reply, params.id) : open(reply).send(found)
  })
  server.post(paths.views, { onRequest, bodyLimit: maxViewBody }, ({ body }, reply) =>
    register(views, body, reply),
  )
  server.delete<OfView>(one, { onRequest }, async ({ params }, reply) => {
    const isRemoved = await views.remove(params.id)
    return isRemoved ? reply.code(204).send() : notFound(reply, params.id)
  })
  server.post<OfView>(`${one}/retry`, { onRequest }, ({ params }, reply) =>
    views.retry(params.id) ? reply.code(204).send() : notFound(reply, params.id),
  )
}

async function register(
  views: HostViews,
  body: unknown,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    const { report, isNew } = await views.register(readViewRequest(body))
    if (isNew) return reply.code(201).header('location', `${paths.views}/${report.id}`).send(report)
    return reply.send({ message: 'collection already exists', ...report })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message, remedy } = error
    const status = code === 'HOST_VIEWS_FULL' ? 409 : 400
    return reply.code(status).send({ ...errorBody(status, message), code, remedy })
  }
}

function notFound(reply: FastifyReply, id: string): FastifyReply {
  return reply.code(404).send(errorBody(404, `there is no View ${id.slice(0, 80)}`))
}

/** Pages of any origin may read. */
function open(reply: FastifyReply): FastifyReply {
  return reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache' })
}
