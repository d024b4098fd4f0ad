/**
 * GraphQL over HTTP: queries by POST and GET, subscriptions as Server-Sent Events on the same URL.
 * Errors of a query are reported in a GraphQL answer with status 200, because applications take any
 * other status for an outage; a request without a query is a 400.
 */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GraphQLError } from 'graphql'
import { getGraphQLParameters, shouldRenderGraphiQL } from 'graphql-helix'
import type { MemoryAccount } from '../budget/memory-pool.ts'
import type { Graphql, GraphqlRequest, GraphqlResult } from '../graphql.ts'
import { type EventStream, openEventStream } from './event-stream.ts'
import { parseJson, receiveBody } from './request-body.ts'
import { createRequestLives, type RequestLives } from './request-life.ts'
import { resultPieces } from './result-text.ts'
import { createSlowReaders, type SlowReaders } from './slow-readers.ts'
import type { Subscriptions } from './subscriptions.ts'

/** What the routes need besides the engine. */
export interface GraphqlRouteOptions {
  /** Shared by all servers of a program. */
  readonly subscriptions: Subscriptions
  /** Largest request body. Default 2 MiB: some 25,000 hashes. */
  readonly maxBodyBytes?: number
  /**
   * How long a client may take less than 32 KiB a second of what waits for it before it is cut off.
   * Default 30,000.
   */
  readonly maxStallMs?: number
  /** Where a browser that opens the URL without a query is redirected. Default: a 400 that says what to send. */
  readonly playgroundPath?: string
}

/** The URL of all GraphQL requests. */
export const graphqlPath = '/api/v0/graphql'
/** Returns the JSON text `"Healthy"` while the server listens. */
const healthCheckPath = '/health-check'

/** Largest body, and how long a client may stall, by default. */
export const defaultMaxBodyBytes: number = 2 * 1024 * 1024
export const defaultMaxStallMs = 30_000
/** Answers shorter than this are sent in one piece with their length. */
const wholeLength = 512 * 1024
const jsonType = 'application/json; charset=utf-8'
const allowedMethods = 'GET, HEAD, POST, OPTIONS'

/** What the handlers of one server share. */
interface Endpoint extends GraphqlRouteOptions {
  readonly graphql: Graphql
  readonly lives: RequestLives
  readonly slowReaders: SlowReaders
  readonly maxBytes: number
}

/** Declares the routes on a server of its own or one with other routes. */
export async function graphqlRoutes(
  server: FastifyInstance,
  graphql: Graphql,
  options: GraphqlRouteOptions,
): Promise<void> {
  const endpoint: Endpoint = {
    ...options,
    graphql,
    lives: createRequestLives(graphql.memory),
    slowReaders: createSlowReaders(options.maxStallMs ?? defaultMaxStallMs, graphql.noteSlowReader),
    maxBytes: options.maxBodyBytes ?? defaultMaxBodyBytes,
  }
  await server.register((scope, _options, done) => {
    acceptAnyBody(scope, endpoint)
    explainErrors(scope, endpoint)
    scope.addHook('onRequest', (request, reply, done) => {
      reply.header('access-control-allow-origin', '*')
      endpoint.lives.begin(request.raw, reply.raw)
      done()
    })
    scope.addHook('onClose', async () => endpoint.slowReaders.close())
    const handler = (request: FastifyRequest, reply: FastifyReply) =>
      handle(endpoint, request, reply)
    scope.get(graphqlPath, handler)
    scope.post(graphqlPath, handler)
    scope.options(graphqlPath, preflight)
    scope.route({ method: ['PUT', 'PATCH', 'DELETE'], url: graphqlPath, handler: refuseMethod })
    scope.get(healthCheckPath, (_request, reply) => reply.type(jsonType).send('"Healthy"'))
    done()
  })
}

// --- Requests -------------------------------------------------------------------------------

/** Clients differ in the content type they send, and some send none. */
function acceptAnyBody(scope: FastifyInstance, { lives, maxBytes }: Endpoint): void {
  scope.removeAllContentTypeParsers()
  const receive = (request: FastifyRequest, payload: IncomingMessage): Promise<Buffer> =>
    receiveBody(payload, { maxBytes, account: lives.of(request.raw).account })
  scope.addContentTypeParser('*', receive)
}

/** A request that was read, or what is wrong with it. */
type Reading = { readonly request: GraphqlRequest } | { readonly problem: string }

/** A query in the URL takes precedence over the body, also in a POST. Throws GraphQLError for a body that holds too much. */
function readRequest({ method, headers, query, body }: FastifyRequest): Reading {
  const inUrl = query as Readonly<Record<string, unknown>>
  const isInUrl = method !== 'POST' || (typeof inUrl['query'] === 'string' && inUrl['query'] !== '')
  const parsed = isInUrl ? { body: undefined } : parseBody(body, headers['content-type'])
  if ('problem' in parsed) return parsed
  const parameters = getGraphQLParameters({
    body: parsed.body,
    headers,
    method: isInUrl ? 'GET' : 'POST',
    query: inUrl,
  })
  return toRequest(parameters)
}

type ParsedBody = { readonly body: unknown } | { readonly problem: string }

const expected =
  'Send JSON (application/json) like {"query": "{ Block(limit: 1) { number } }", "variables": {}}.'

function parseBody(received: unknown, type: string | undefined): ParsedBody {
  const text = Buffer.isBuffer(received) ? received.toString() : ''
  if (text === '') return { problem: `The body is empty. ${expected}` }
  if (type !== undefined && graphqlText.test(type)) return { body: { query: text } }
  const body = parseJson(text)
  if (body === undefined) return { problem: notJson(type) }
  if (Array.isArray(body))
    return { problem: `Send each query in a request of its own. ${expected}` }
  if (typeof body !== 'object' || body === null) return { problem: `No query. ${expected}` }
  return { body }
}

function notJson(type: string | undefined): string {
  const found = type?.split(';')[0]?.trim()
  if (found === undefined || found === 'application/json')
    return `The body is not JSON. ${expected}`
  return `The body is not JSON, and its content type is ${found}. ${expected} A query by itself is sent as application/graphql.`
}

/** The media type of a body that is the query itself. */
const graphqlText = /^application\/graphql\s*(?:;|$)/i

interface Parameters {
  readonly query?: unknown
  readonly variables?: unknown
  readonly operationName?: unknown
}

/** Variables may come as JSON text, as they must in a URL. */
function toRequest({ query, variables, operationName }: Parameters): Reading {
  if (typeof query !== 'string' || query.trim() === '') return { problem: `No query. ${expected}` }
  if (!isOptional(operationName, 'string')) return { problem: 'operationName must be text.' }
  const given =
    typeof variables === 'string' && variables !== '' ? parseJson(variables) : variables || null
  if (!isVariables(given)) return { problem: 'variables must be a JSON object.' }
  return { request: { query, variables: given, operationName: operationName ?? null } }
}

const isVariables = (value: unknown): value is Record<string, unknown> | null =>
  typeof value === 'object' && !Array.isArray(value)

const isOptional = (value: unknown, type: 'string'): value is string | null | undefined =>
  value === undefined || value === null || typeof value === type

// --- Answers --------------------------------------------------------------------------------

async function handle(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { graphql, playgroundPath } = endpoint
  const { account, signal } = endpoint.lives.of(request.raw)
  account.reserve(requestBytes)
  if (graphql.scheduler.isBusy() || isLarge(request.body)) await graphql.scheduler.nextTurn()
  if (signal.aborted) return reply.hijack()
  const reading = readRequest(request)
  if ('problem' in reading) {
    if (playgroundPath !== undefined && shouldRenderGraphiQL(request)) {
      return reply.redirect(playgroundPath, 303)
    }
    return reply.code(400).send({ error: reading.problem })
  }
  if (isStreamed(graphql, request, reading.request)) {
    return await stream(endpoint, reading.request, reply, account)
  }
  return send(endpoint, reply, await graphql.execute(reading.request, signal, account), account)
}

/** Memory of a request with a small body, roughly. */
const requestBytes = 32 * 1024
/** Larger bodies are parsed when the scheduler resumes them, as that takes some milliseconds. */
const largeBody = 64 * 1024

const isLarge = (body: unknown): boolean => Buffer.isBuffer(body) && body.length > largeBody

/** A large answer is turned into text while the client reads it; what was read is released. */
function send(
  { slowReaders }: Endpoint,
  reply: FastifyReply,
  result: GraphqlResult,
  account: MemoryAccount,
): FastifyReply {
  slowReaders.watch(reply.raw)
  reply.type(jsonType).code(isBusy(result) ? 503 : 200)
  if (isBusy(result)) reply.header('retry-after', retryAfter)
  let isBeingRead = false
  const pieces = resultPieces(result, (length) => {
    if (isBeingRead) account.release(length)
  })
  let text = ''
  while (text.length < wholeLength) {
    const { value, done } = pieces.next()
    if (done === true) return reply.send(text)
    text += value
  }
  isBeingRead = true
  return reply.send(Readable.from(allPieces(text, pieces)))
}

/** Seconds after which a client may retry that was refused because the service was busy. */
export const retryAfter = '10'

const isBusy = ({ errors }: GraphqlResult): boolean =>
  errors?.[0]?.extensions['code'] === 'GRAPHQL_BUSY'

function* allPieces(first: string, rest: Iterable<string>): Generator<string> {
  yield first
  yield* rest
}

// --- Streams --------------------------------------------------------------------------------

/** Subscriptions always are; queries only for a client that accepts nothing but events. */
function isStreamed(
  graphql: Graphql,
  { method, headers }: FastifyRequest,
  request: GraphqlRequest,
): boolean {
  if (method === 'HEAD') return false
  if (headers.accept === 'text/event-stream') return true
  return request.query.includes('subscription') && graphql.operationKind(request) === 'subscription'
}

async function stream(
  { graphql, subscriptions, slowReaders }: Endpoint,
  request: GraphqlRequest,
  reply: FastifyReply,
  account: MemoryAccount,
): Promise<FastifyReply> {
  const isSubscription = graphql.operationKind(request) === 'subscription'
  if (isSubscription && subscriptions.isFull()) {
    const error = 'There are as many subscribers as this service takes. Try again later.'
    return reply.code(503).header('retry-after', retryAfter).send({ error })
  }
  reply.hijack()
  slowReaders.watch(reply.raw)
  const events = openEventStream(reply.raw, reply.getHeaders())
  if (isSubscription) await subscriptions.subscribe(request, events)
  else await sendOnce(graphql, request, events, account)
  return reply
}

async function sendOnce(
  graphql: Graphql,
  request: GraphqlRequest,
  events: EventStream,
  account: MemoryAccount,
): Promise<void> {
  const result = await graphql.execute(request, events.signal, account)
  if (!events.signal.aborted)
    events.endWith(resultPieces(result, (length) => account.release(length)))
}

// --- Other methods and failures -------------------------------------------------------------

/** CORS preflight (Fetch 4.8): every page may read, none sends credentials. */
function preflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const wanted = request.headers['access-control-request-headers']
  return reply
    .code(204)
    .headers({
      allow: allowedMethods,
      'access-control-allow-methods': allowedMethods,
      'access-control-allow-headers': wanted ?? 'content-type',
      'access-control-max-age': '7200',
      vary: 'access-control-request-headers',
    })
    .send()
}

function refuseMethod({ method }: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .code(405)
    .header('allow', allowedMethods)
    .send({ error: `${method} is not accepted here; send queries by POST or GET.` })
}

/** Errors of the service itself are left to the server's handler, which logs them. */
function explainErrors(scope: FastifyInstance, endpoint: Endpoint): void {
  const tooLarge = `The body is larger than ${endpoint.maxBytes} bytes. Ask for fewer values in one request, for example in parts of a long _in list.`
  scope.setErrorHandler((error: Error & { code?: string; statusCode?: number }, request, reply) => {
    if (error instanceof GraphQLError) {
      const { account } = endpoint.lives.of(request.raw)
      return send(endpoint, reply, { data: null, errors: [error] }, account)
    }
    const status = error.statusCode ?? 500
    if (status >= 500) throw error
    const text = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? tooLarge : error.message
    return reply.code(status).send({ error: text })
  })
}
