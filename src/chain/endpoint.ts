/**
 * One URL of an execution node: sends calls in batches as large as this node accepts, and turns every
 * failure into an error with a code.
 */
import { ServiceError } from '../errors.ts'
import { type BatchLimit, createBatchLimit } from './batch-limit.ts'
import { type HttpPost, type HttpPostResponse, openHttpPost } from './http-post.ts'
import {
  decodeResponse,
  encodeCalls,
  methodNotFound,
  missing,
  type RpcCall,
  type RpcOutcome,
} from './json-rpc.ts'
import type { ChainMetrics } from './metrics.ts'

export interface EndpointOptions {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  /** Most calls in one request. */
  readonly maxBatch: number
}

export interface Endpoint {
  /** Host and port; the path may hold a key and is never shown. */
  readonly label: string
  /** One outcome per call, in their order. Throws a ServiceError when every request failed. */
  calls(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly RpcOutcome[]>
  /** The result of one call; an error response throws CHAIN_RPC_ERROR or CHAIN_METHOD_MISSING. */
  call(call: RpcCall, signal: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

/** Batches of one `calls` in flight at the same time; a node processes them in parallel. */
const batchesInFlight = 4
/** Statuses that describe the server's state and say nothing about the size of the request. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 408, 425, 429, 500, 502, 503, 504])
/** Invalid request, method not found, parse error: how servers without batch support respond to one. */
const refusingCodes: ReadonlySet<number> = new Set([-32600, methodNotFound, -32700])
const refusingWords = /batch|too large|too many (requests|calls) in/i

/** One URL with its discovered limits. */
interface EndpointState {
  readonly label: string
  readonly http: HttpPost
  readonly limit: BatchLimit
  readonly metrics: ChainMetrics
  /** JSON-RPC id of the last call. */
  lastId: number
}

export function openEndpoint(
  options: EndpointOptions,
  { metrics }: { readonly metrics: ChainMetrics },
): Endpoint {
  const label = new URL(options.url).host
  const http = openHttpPost({ ...options, maxBytes: options.maxResponseBytes })
  const limit = createBatchLimit(options.maxBatch)
  const state: EndpointState = { label, http, limit, metrics, lastId: 0 }
  setLimitGauge(state)
  return {
    label,
    async calls(calls, signal) {
      for (const { method } of calls) metrics.calls.inc({ method })
      return await sendInBatches(state, calls, signal)
    },
    async call(call, signal) {
      metrics.calls.inc({ method: call.method })
      const [outcome] = await sendBatch(state, [call], signal)
      if (outcome?.kind === 'result') return outcome.value
      if (outcome?.kind !== 'error') throw noAnswer(label)
      throw outcome.code === methodNotFound
        ? methodMissing(label, call.method)
        : rpcError(label, outcome)
    },
    close: () => http.close(),
  }
}

function setLimitGauge({ metrics, label, limit }: EndpointState): void {
  metrics.batchLimit.set({ endpoint: label }, limit.size())
}

/** One request; `refused` where the node does not accept batches of this size. */
async function request(
  state: EndpointState,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<readonly RpcOutcome[] | 'refused'> {
  const firstId = state.lastId + 1
  state.lastId += calls.length
  const response = await state.http.send(encodeCalls(calls, firstId), signal)
  state.metrics.responseBytes.inc(response.bytes)
  const read = readStatus(response, state.label, calls.length)
  if (read === 'refused') return read
  const decoded = decodeResponse(response.text, calls.length, firstId)
  if (decoded.kind === 'refused') {
    if (isRefusal(decoded)) return 'refused'
    throw rpcError(state.label, decoded)
  }
  return decoded.outcomes
}

/** Sends one batch, or smaller ones where the node refuses it. Keeps the batch limit up to date. */
async function sendBatch(
  state: EndpointState,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<readonly RpcOutcome[]> {
  const { limit } = state
  try {
    const outcomes = await request(state, calls, signal)
    if (outcomes === 'refused') {
      limit.refused(calls.length)
      return await sendInBatches(state, calls, signal)
    }
    if (outcomes.some((outcome) => outcome.kind === 'error' && isCutShort(outcome)))
      limit.refused(calls.length)
    else limit.passed(calls.length)
    return outcomes
  } catch (error) {
    if (!signal.aborted && mayBeTheSize(error)) limit.failed(calls.length)
    throw error
  } finally {
    setLimitGauge(state)
  }
}

/**
 * `next` only moves between awaits, so that no call is sent twice or skipped. After a failure no
 * further batch starts; the results of the others are kept.
 */
async function sendInBatches(
  state: EndpointState,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<readonly RpcOutcome[]> {
  const outcomes = calls.map(() => missing)
  const failures: unknown[] = []
  let next = 0
  let isAnyAnswered = false
  const lane = async (): Promise<void> => {
    while (next < calls.length && failures.length === 0) {
      const start = next
      const batch = calls.slice(start, start + state.limit.size())
      next += batch.length
      try {
        const found = await sendBatch(state, batch, signal)
        outcomes.splice(start, found.length, ...found)
        isAnyAnswered = true
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: batchesInFlight }, lane))
  signal.throwIfAborted()
  if (!isAnyAnswered && failures.length > 0) throw failures[0]
  return outcomes
}

/** Throws for a failure status, unless the body holds a JSON-RPC error. */
function readStatus(
  response: HttpPostResponse,
  endpoint: string,
  count: number,
): 'refused' | 'read' {
  const { status } = response
  if (status < 300) return 'read'
  if (count > 1 && !passingStatuses.has(status)) return 'refused'
  const facts = { endpoint, status }
  if (status === 401 || status === 403)
    throw new ServiceError('CHAIN_UNAUTHORIZED', `${endpoint} refuses us with status ${status}`, {
      facts,
      remedy:
        'Check NODE_API_KEY and NODE_API_KEY_TYPE (the name of the header that takes the key).',
    })
  if (isRpcError(response.text)) return 'read'
  throw new ServiceError('CHAIN_HTTP_STATUS', `${endpoint} answered with status ${status}`, {
    facts,
  })
}

function isRpcError(text: string): boolean {
  return text.length < 10_000 && /^\s*\{.*"error"\s*:\s*\{/s.test(text)
}

function isRefusal(response: { readonly code: number; readonly message: string }): boolean {
  return refusingCodes.has(response.code) || refusingWords.test(response.message)
}

/** A node that stops in the middle of a batch because its response grew too large. */
function isCutShort(error: { readonly message: string }): boolean {
  return /response too large|batch/i.test(error.message)
}

function mayBeTheSize(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.code !== 'CHAIN_UNREACHABLE' &&
    error.code !== 'CHAIN_UNAUTHORIZED'
  )
}

function rpcError(
  endpoint: string,
  { code, message }: { readonly code: number; readonly message: string },
): ServiceError {
  return new ServiceError(
    'CHAIN_RPC_ERROR',
    `${endpoint} answered an error: ${message} (${code})`,
    {
      facts: { endpoint, rpcCode: code },
    },
  )
}

/** CHAIN_METHOD_MISSING: retrying is useless until the node runs with other options. */
export function methodMissing(endpoint: string, method: string): ServiceError {
  return new ServiceError('CHAIN_METHOD_MISSING', `${endpoint} does not have ${method}`, {
    facts: { endpoint, method },
    remedy: 'Switch on the eth methods of the node for HTTP and WebSocket, or use another node.',
  })
}

function noAnswer(endpoint: string): ServiceError {
  return new ServiceError('CHAIN_ANSWER_MALFORMED', `${endpoint} answered without a result`, {
    facts: { endpoint },
  })
}
