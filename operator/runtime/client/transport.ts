/**
 * HTTP to the API server: exchanges with a deadline and a bound on the answer, and streams that count as
 * dead when nothing comes for a while. What is to hold when a request is sent is checked at the moment its
 * bytes go out, not when it begins to wait for a connection.
 */
import { Agent, type Dispatcher } from 'undici'
import { messageWithCode, ServiceError } from '../../../src/errors.ts'
import { type Call, describeCall, factsOf } from './api-error.ts'
import type { Connection } from './connection.ts'

export interface HttpRequest {
  readonly call: Call
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal | undefined
  /** Longest answer that is read; a stream has no end. */
  readonly maxBytes: number
  /** Called right before the bytes go out; what it throws is thrown, and nothing is sent. */
  readonly beforeSend?: () => void
}

interface HttpAnswer {
  readonly status: number
  /** Content of the Retry-After header. */
  readonly retryAfter: string | undefined
  readonly text: string
}

export interface HttpStream {
  readonly status: number
  readonly retryAfter: string | undefined
  /** Throws OPERATOR_API_UNREACHABLE when the connection breaks, OPERATOR_API_TIMEOUT when it is silent. */
  readonly chunks: AsyncIterable<Uint8Array>
}

interface TransportOptions {
  /** From a request to the last byte of its answer. */
  readonly timeoutMs: number
}

interface Transport {
  exchange(request: HttpRequest): Promise<HttpAnswer>
  /** `silenceMs`: longest time between two pieces of the answer. */
  stream(request: HttpRequest, silenceMs: number): Promise<HttpStream>
  close(): Promise<void>
}

const connectTimeoutMs = 10_000
const keepAliveMs = 60_000

/** Opens no connection before the first request. */
export function openTransport(options: TransportOptions, parts: Connection): Transport {
  const { origin, pathname } = new URL(parts.server)
  const prefix = pathname.replace(/\/$/, '')
  const agent = new Agent({
    connections: null,
    keepAliveTimeout: keepAliveMs,
    connect: { ...parts.tls, timeout: connectTimeoutMs },
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
  })
  const dispatched = ({ method, path, headers, body }: HttpRequest) => ({
    origin,
    path: `${prefix}${path}`,
    method,
    headers: { ...headers },
    body: body ?? null,
  })
  return {
    exchange: (request) => exchange(agent, dispatched(request), request, options),
    stream: (request, silenceMs) => stream(agent, dispatched(request), request, silenceMs),
    close: () => agent.destroy(),
  }
}

function exchange(
  agent: Agent,
  dispatched: Dispatcher.DispatchOptions,
  { call, signal, maxBytes, beforeSend }: HttpRequest,
  options: TransportOptions,
): Promise<HttpAnswer> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  const pieces: Buffer[] = []
  let bytes = 0
  let status = 0
  let retryAfter: string | undefined
  let controller: Dispatcher.DispatchController | null = null
  let ended = false

  const end = (): boolean => {
    if (ended) return false
    ended = true
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    return true
  }
  const fail = (error: unknown): void => {
    if (!end()) return
    reject(error)
    controller?.abort(new Error('aborted'))
  }
  const onAbort = (): void => fail(signal?.reason)
  const timer = setTimeout(() => fail(timedOut(call, options.timeoutMs)), options.timeoutMs)
  signal?.addEventListener('abort', onAbort)

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started
      if (ended) return started.abort(new Error('aborted'))
      try {
        beforeSend?.()
      } catch (error) {
        fail(error)
      }
    },
    onResponseStart(_, statusCode, headers) {
      status = statusCode
      retryAfter = headerText(headers['retry-after'])
      if (Number(headers['content-length']) > maxBytes) fail(tooLarge(call, maxBytes))
    },
    onResponseData(_, piece) {
      bytes += piece.length
      if (bytes > maxBytes) fail(tooLarge(call, maxBytes))
      else pieces.push(piece)
    },
    onResponseEnd() {
      if (end()) resolve({ status, retryAfter, text: Buffer.concat(pieces, bytes).toString() })
    },
    onResponseError(_, error) {
      fail(unreachable(call, error))
    },
  }
  agent.dispatch(dispatched, handler)
  return promise
}

async function stream(
  agent: Agent,
  dispatched: Dispatcher.DispatchOptions,
  { call, signal }: HttpRequest,
  silenceMs: number,
): Promise<HttpStream> {
  try {
    const { statusCode, headers, body } = await agent.request({
      ...dispatched,
      origin: dispatched.origin ?? '',
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      signal: signal ?? null,
    })
    return {
      status: statusCode,
      retryAfter: headerText(headers['retry-after']),
      chunks: chunksOf(body, call, signal, silenceMs),
    }
  } catch (error) {
    throw streamError(error, call, signal, silenceMs)
  }
}

async function* chunksOf(
  body: AsyncIterable<Uint8Array>,
  call: Call,
  signal: AbortSignal | undefined,
  silenceMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body
  } catch (error) {
    throw streamError(error, call, signal, silenceMs)
  }
}

const timeoutCodes = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']

function streamError(
  error: unknown,
  call: Call,
  signal: AbortSignal | undefined,
  silenceMs: number,
): unknown {
  if (signal?.aborted) return signal.reason
  const cause = error instanceof Error ? error : new Error(String(error))
  const isSilent = 'code' in cause && timeoutCodes.includes(String(cause.code))
  return isSilent ? timedOut(call, silenceMs) : unreachable(call, cause)
}

function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

const remedy = 'Check that the API server runs and can be reached; it is tried again.'

function timedOut(call: Call, timeoutMs: number): ServiceError {
  return new ServiceError(
    'OPERATOR_API_TIMEOUT',
    `${describeCall(call)}: nothing came within ${timeoutMs} ms`,
    { facts: { ...factsOf(call), timeoutMs }, remedy },
  )
}

function tooLarge(call: Call, maxBytes: number): ServiceError {
  return new ServiceError(
    'OPERATOR_API_ANSWER_TOO_LARGE',
    `${describeCall(call)}: the answer has more than ${maxBytes} bytes`,
    { facts: { ...factsOf(call), maxBytes }, remedy: 'Look for objects of an unusual size.' },
  )
}

function unreachable(call: Call, cause: Error): ServiceError {
  const message = `${describeCall(call)}: ${messageWithCode(cause)}`
  return new ServiceError('OPERATOR_API_UNREACHABLE', message, {
    facts: factsOf(call),
    remedy,
    cause,
  })
}
