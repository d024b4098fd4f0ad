/**
 * One URL of an execution node: sends calls in batches as large as this node takes, and turns every
 * way of not answering into an error with a code.
 */
import { ServiceError } from '../errors.ts'
import { createBatchLimit } from './batch-limit.ts'
import { type HttpAnswer, openHttpPost } from './http-post.ts'
import {
  decodeAnswer,
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
  /** Calls in one request at most. */
  readonly maxBatch: number
}

export interface Endpoint {
  /** Host and port; the path may hold a key and is never shown. */
  readonly label: string
  /** One outcome per call, in their order. Throws a ServiceError when no request was answered. */
  calls(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly RpcOutcome[]>
  /** The result of one call; an error answer throws CHAIN_RPC_ERROR or CHAIN_METHOD_MISSING. */
  call(call: RpcCall, signal: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

/** Batches of one `calls` that are under way at the same time; a node works on them in parallel. */
const batchesInFlight = 4
/** Statuses that tell about the server's state and nothing about the size of the request. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 408, 425, 429, 500, 502, 503, 504])
/** Invalid request, method not found, parse error: what servers without batches answer to one. */
const refusingCodes: ReadonlySet<number> = new Set([-32600, methodNotFound, -32700])
const refusingWords = /batch|too large|too many (requests|calls) in/i

export function openEndpoint(
  options: EndpointOptions,
  parts: { readonly metrics: ChainMetrics },
): Endpoint {
  const { metrics } = parts
  const label = new URL(options.url).host
  const http = openHttpPost({ ...options, maxBytes: options.maxResponseBytes })
  const limit = createBatchLimit(options.maxBatch)
  let lastId = 0

  const showLimit = (): void => metrics.batchLimit.set({ endpoint: label }, limit.size())
  showLimit()

  async function attempt(
    calls: readonly RpcCall[],
    signal: AbortSignal,
  ): Promise<readonly RpcOutcome[] | 'refused'> {
    const firstId = lastId + 1
    lastId += calls.length
    const answer = await http.send(encodeCalls(calls, firstId), signal)
    metrics.answerBytes.inc(answer.bytes)
    const read = readStatus(answer, label, calls.length)
    if (read === 'refused') return read
    const decoded = decodeAnswer(answer.text, calls.length, firstId)
    if (decoded.kind === 'refused') {
      if (isRefusal(decoded)) return 'refused'
      throw rpcError(label, decoded)
    }
    return decoded.outcomes
  }

  async function send(
    calls: readonly RpcCall[],
    signal: AbortSignal,
  ): Promise<readonly RpcOutcome[]> {
    try {
      const outcomes = await attempt(calls, signal)
      if (outcomes === 'refused') {
        limit.refused(calls.length)
        return await inBatches(calls, signal)
      }
      if (outcomes.some((outcome) => outcome.kind === 'error' && isCutShort(outcome)))
        limit.refused(calls.length)
      else limit.passed(calls.length)
      return outcomes
    } catch (error) {
      if (!signal.aborted && mayBeTheSize(error)) limit.failed(calls.length)
      throw error
    } finally {
      showLimit()
    }
  }

  /**
   * `next` is moved between awaits only, so no call is sent twice or left out. After a failure no
   * further batch is begun; what the others bring is kept, unless there is nothing.
   */
  async function inBatches(
    calls: readonly RpcCall[],
    signal: AbortSignal,
  ): Promise<readonly RpcOutcome[]> {
    const outcomes = calls.map(() => missing)
    const failures: unknown[] = []
    let next = 0
    let answered = 0
    const lane = async (): Promise<void> => {
      while (next < calls.length && failures.length === 0) {
        const start = next
        const batch = calls.slice(start, start + limit.size())
        next += batch.length
        try {
          const found = await send(batch, signal)
          outcomes.splice(start, found.length, ...found)
          answered += batch.length
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: batchesInFlight }, lane))
    signal.throwIfAborted()
    if (answered === 0 && failures.length > 0) throw failures[0]
    return outcomes
  }

  return {
    label,
    async calls(calls, signal) {
      for (const { method } of calls) metrics.calls.inc({ method })
      return await inBatches(calls, signal)
    },
    async call(call, signal) {
      metrics.calls.inc({ method: call.method })
      const [outcome] = await send([call], signal)
      if (outcome?.kind === 'result') return outcome.value
      if (outcome?.kind !== 'error') throw noAnswer(label)
      throw outcome.code === methodNotFound
        ? methodMissing(label, call.method)
        : rpcError(label, outcome)
    },
    close: () => http.close(),
  }
}

/** Throws for a status that is a failure, unless the body says more. */
function readStatus(answer: HttpAnswer, endpoint: string, count: number): 'refused' | 'read' {
  const { status } = answer
  if (status >= 200 && status < 300) return 'read'
  if (count > 1 && !passingStatuses.has(status)) return 'refused'
  const facts = { endpoint, status }
  if (status === 401 || status === 403)
    throw new ServiceError('CHAIN_UNAUTHORIZED', `${endpoint} refuses us with status ${status}`, {
      facts,
      remedy:
        'Check NODE_API_KEY and NODE_API_KEY_TYPE (the name of the header that takes the key).',
    })
  if (isRpcError(answer.text)) return 'read'
  throw new ServiceError('CHAIN_HTTP_STATUS', `${endpoint} answered with status ${status}`, {
    facts,
  })
}

function isRpcError(text: string): boolean {
  return text.length < 10_000 && /^\s*\{.*"error"\s*:\s*\{/s.test(text)
}

function isRefusal(answer: { readonly code: number; readonly message: string }): boolean {
  return refusingCodes.has(answer.code) || refusingWords.test(answer.message)
}

/** A node that stops in the middle of a batch because its answer grew too long. */
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

/** CHAIN_METHOD_MISSING: asking again brings nothing, until the node is started otherwise. */
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
