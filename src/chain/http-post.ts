/**
 * POSTs JSON over connections that stay open, with a deadline for the whole exchange and a bound on
 * the response. viem's HTTP client is not used here: measured on full blocks (200 receipts, 808 kB of
 * JSON) it costs a quarter to a half more than plain `fetch` and `JSON.parse` of the same bytes,
 * and its deadline ends with the headers; undici's dispatcher costs a quarter less than `fetch`.
 */
import { Agent, type Dispatcher } from 'undici'
import { basicAuthorization } from '../basic-authorization.ts'
import { messageWithCode, ServiceError } from '../errors.ts'
import { createResponseBuffers, type ResponseBuffers } from './response-buffers.ts'

interface HttpPostOptions {
  /** May hold user:password, sent as basic authorization; never logged. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** From sending a request to the last byte of its response. */
  readonly timeoutMs: number
  /** Largest response body that is read. */
  readonly maxBytes: number
}

export interface HttpPostResponse {
  readonly status: number
  readonly text: string
  readonly bytes: number
}

export interface HttpPost {
  /**
   * Sends `body`. Throws CHAIN_UNREACHABLE, CHAIN_TIMEOUT or CHAIN_ANSWER_TOO_LARGE, and the
   * signal's reason when it is aborted.
   */
  send(body: string, signal: AbortSignal): Promise<HttpPostResponse>
  close(): Promise<void>
}

/** Enough for three blocks at once with four batches each. */
const connections = 12
const keepAliveMs = 30_000

/** Opens no connection before the first request. */
export function openHttpPost(options: HttpPostOptions): HttpPost {
  const { origin, path, headers, host } = parseTarget(options)
  const { timeoutMs, maxBytes } = options
  const buffers = createResponseBuffers(connections)
  const agent = new Agent({
    connections,
    keepAliveTimeout: keepAliveMs,
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
  return {
    send: (body, signal) =>
      exchange(agent, { origin, path, method: 'POST', headers, body }, signal, {
        timeoutMs,
        maxBytes,
        host,
        buffers,
      }),
    close: () => agent.destroy(),
  }
}

interface Target {
  readonly origin: string
  readonly path: string
  readonly host: string
  readonly headers: Readonly<Record<string, string>>
}

function parseTarget(options: HttpPostOptions): Target {
  const url = new URL(options.url)
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    host: url.host,
    headers: { 'content-type': 'application/json', ...basicAuthorization(url), ...options.headers },
  }
}

interface Bounds {
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly host: string
  readonly buffers: ResponseBuffers
}

function exchange(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  bounds: Bounds,
): Promise<HttpPostResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpPostResponse>()
  const { buffers } = bounds
  let response: Buffer | null = null
  let status = 0
  let bytes = 0
  let controller: Dispatcher.DispatchController | null = null
  let ended = false

  const end = (): boolean => {
    if (ended) return false
    ended = true
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    return true
  }
  const text = (): string => {
    const found = response?.toString('utf8', 0, bytes) ?? ''
    if (response !== null) buffers.release(response)
    return found
  }
  const fail = (error: unknown): void => {
    if (!end()) return
    reject(error)
    controller?.abort(error instanceof Error ? error : new Error('aborted'))
  }
  const onAbort = (): void => fail(signal.reason)
  const timer = setTimeout(() => fail(timedOut(bounds.host, bounds.timeoutMs)), bounds.timeoutMs)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort)

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started
      if (ended) started.abort(new Error('aborted'))
    },
    onResponseStart(_, statusCode, headers) {
      status = statusCode
      const length = Number(headers['content-length']) || 0
      if (length > bounds.maxBytes) fail(tooLarge(bounds))
      else response = buffers.borrow(length)
    },
    onResponseData(_, chunk) {
      const used = bytes
      bytes += chunk.length
      if (bytes > bounds.maxBytes) fail(tooLarge(bounds))
      if (ended || response === null) return
      while (response.length < bytes) response = buffers.grow(response, used)
      response.set(chunk, used)
    },
    onResponseEnd() {
      if (end()) resolve({ status, bytes, text: text() })
    },
    onResponseError(_, error) {
      fail(unreachable(bounds, error))
    },
  }
  if (!ended) agent.dispatch(request, handler)
  return promise
}

/** CHAIN_TIMEOUT of a node that has not answered for so long. */
export function timedOut(host: string, timeoutMs: number): ServiceError {
  return new ServiceError('CHAIN_TIMEOUT', `${host} did not answer within ${timeoutMs} ms`, {
    facts: { endpoint: host, timeoutMs },
  })
}

function tooLarge({ host, maxBytes }: Bounds): ServiceError {
  return new ServiceError(
    'CHAIN_ANSWER_TOO_LARGE',
    `${host} answered more than ${maxBytes} bytes to one request`,
    { facts: { endpoint: host, maxBytes } },
  )
}

function unreachable({ host }: Bounds, cause: Error): ServiceError {
  const message = `no answer from ${host}: ${messageWithCode(cause)}`
  return new ServiceError('CHAIN_UNREACHABLE', message, {
    facts: { endpoint: host },
    remedy: 'Check NODE_RPC_URL and that the execution node runs and accepts connections.',
    cause,
  })
}
