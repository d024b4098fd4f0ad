/**
 * A fastify server with the limits of all our HTTP endpoints: body size, header and request time, JSON
 * errors, HEAD wherever GET is, and an error for a port in use that names its setting.
 */
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { codeOf } from '../../errors.ts'
import { type ListenAddress, portUnavailable } from './port-unavailable.ts'

interface HttpServerOptions extends ListenAddress {
  /** Largest request body. Default 64 KiB. */
  readonly maxBodyBytes?: number
  /** Time for a request's headers and body to arrive. Default 10,000. */
  readonly requestTimeoutMs?: number
}

interface HttpServerParts {
  readonly log: Logger
  /** Declares the routes. */
  readonly routes: (server: FastifyInstance) => void | Promise<void>
}

export interface HttpServer {
  /** The bound port, also when 0 was requested. */
  readonly port: number
  /** Stops accepting and waits two seconds for running requests before it aborts them. */
  close(): Promise<void>
}

/** Listens. Throws SERVICE_PORT_UNAVAILABLE naming setting and address. */
export async function openHttpServer(
  options: HttpServerOptions,
  parts: HttpServerParts,
): Promise<HttpServer> {
  const requestTimeout = options.requestTimeoutMs ?? 10_000
  const server = Fastify({
    bodyLimit: options.maxBodyBytes ?? 65_536,
    requestTimeout,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 256 },
    http: {
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(requestTimeout, checkIntervalMs),
    },
  })
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.replace(/\?.*/s, '')
    const isKnown = server.hasRoute({ method: 'GET', url: path })
    if (!isKnown)
      return reply.code(404).send(errorBody(404, `there is nothing at ${path}`, remedies.absent))
    const accepted = methods.filter((method) => server.hasRoute({ method, url: path })).join(', ')
    return reply
      .code(405)
      .header('allow', accepted)
      .send(errorBody(405, `${request.method} is not accepted here`, `Send ${accepted}.`))
  })
  server.setErrorHandler((error: unknown, request, reply) => {
    const status = statusOf(error)
    if (status >= 500) parts.log.error({ err: error, path: request.url }, 'request failed')
    const message = status >= 500 || !(error instanceof Error) ? 'internal error' : error.message
    return reply.code(status).send(errorBody(status, message, remedyOf(status, error, request)))
  })
  await parts.routes(server)
  await listen(server, options)
  const bound = server.server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : options.address.port
  return { port, close: () => closeServer(server) }
}

const checkIntervalMs = 5_000
const closeGraceMs = 2_000
const closeCheckMs = 50

/** A connection that becomes idle during the close would otherwise keep the server open. */
async function closeServer(server: FastifyInstance): Promise<void> {
  const idle = setInterval(() => server.server.closeIdleConnections(), closeCheckMs)
  const cut = setTimeout(() => server.server.closeAllConnections(), closeGraceMs)
  await server.close()
  clearInterval(idle)
  clearTimeout(cut)
}

const errorCodes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'too_large',
  415: 'unsupported_media_type',
  500: 'internal_error',
  503: 'service_unavailable',
}

interface ErrorBody {
  /** For programs. */
  readonly error: string
  readonly message: string
  /** What to do, in one sentence; left out where the message says it. */
  readonly remedy?: string
}

/** The JSON body of every error on our ports. */
export function errorBody(status: number, message: string, remedy?: string): ErrorBody {
  const error = errorCodes[status] ?? (status < 500 ? 'bad_request' : 'internal_error')
  return { error, message, ...(remedy !== undefined && { remedy }) }
}

const methods = ['GET', 'HEAD', 'POST', 'DELETE'] as const

const remedies = {
  absent: 'Look for the path, and for the port that serves it, on the page on endpoints.',
  body: 'Send JSON as the body, or leave the content type out where a route takes no body.',
  mediaType: 'Send the body as JSON, with content-type: application/json.',
  internal: 'Look for "request failed" in the log of this program.',
}

/** Those of bodies that no route has read. */
function remedyOf(status: number, error: unknown, request: FastifyRequest): string | undefined {
  if (status >= 500) return remedies.internal
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return remedies.body
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return remedies.mediaType
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return `Send a body of at most ${request.routeOptions.bodyLimit} bytes.`
    default:
      return undefined
  }
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : 500
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500
}

async function listen(server: FastifyInstance, options: HttpServerOptions): Promise<void> {
  const { host, port } = options.address
  try {
    await server.listen({ host, port })
  } catch (error) {
    await server.close()
    throw portUnavailable(options, error)
  }
}
