/**
 * Requests with everything that all of them need: who we are, the count of answers, patience with a busy API
 * server, and the guards of writes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../../src/errors.ts'
import type { RequestMetrics } from '../metrics.ts'
import {
  answerError,
  type Call,
  describeCall,
  factsOf,
  hasCode,
  retryAfterOf,
  type Verb,
} from './api-error.ts'
import type { Connection } from './connection.ts'
import { toJsonText } from './json-text.ts'
import type { KubernetesObject } from './kubernetes-object.ts'
import { createMutex } from './mutex.ts'
import { collectionPath, objectPath } from './resource-type.ts'
import { type HttpRequest, type HttpStream, openTransport } from './transport.ts'

/** Is called for every write but dry runs. */
export interface WriteGuard {
  /** Called when the bytes are about to go out; what it throws keeps them back. */
  readonly before?: (call: Call) => void
  /** Called with what the API server answered. */
  readonly after?: (call: Call, answer: KubernetesObject) => void
}

interface RequestOptions {
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Default application/json. */
  readonly contentType?: string
  /** Longest answer that is read. Default 64 MiB. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
}

export interface Requests {
  /** The answer, parsed. Throws the error of the answer. */
  send(call: Call, options?: RequestOptions): Promise<unknown>
  /** An answer without an end. */
  stream(call: Call, options: RequestOptions, silenceMs: number): Promise<HttpStream>
  /**
   * `send` for answers that take so much memory that there is to be one of them at a time: until `take`
   * has taken out of one what is kept. While a busy API server is waited for, others have their turn.
   */
  sendLarge<T>(call: Call, options: RequestOptions, take: (answer: unknown) => T): Promise<T>
  close(): Promise<void>
}

interface RequestsOptions {
  readonly userAgent: string
  /** Longest time for a request and its answer. */
  readonly timeoutMs: number
}

interface RequestsParts {
  readonly connection: Connection
  readonly metrics: RequestMetrics
  readonly guards: readonly WriteGuard[]
}

const defaultMaxBytes = 67_108_864
const maxAttempts = 5
const defaultWaitMs = 1_000
const maxWaitMs = 30_000

const methods: Readonly<Record<Verb, HttpRequest['method']>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  replace: 'PUT',
  apply: 'PATCH',
  patch: 'PATCH',
  delete: 'DELETE',
}

export function openRequests(options: RequestsOptions, parts: RequestsParts): Requests {
  const { connection, metrics, guards } = parts
  const transport = openTransport({ timeoutMs: options.timeoutMs }, connection)
  const host = new URL(connection.server).host
  const count = (call: Call, code: string): void =>
    metrics.requests.inc({ code, method: methods[call.verb], host })

  const prepare = async (call: Call, given: RequestOptions): Promise<HttpRequest> => {
    const authorization = await connection.authorization()
    return {
      call,
      method: methods[call.verb],
      path: pathOf(call, given.query),
      headers: {
        accept: 'application/json',
        'user-agent': options.userAgent,
        ...(authorization === null ? {} : { authorization }),
        ...(given.body === undefined
          ? {}
          : { 'content-type': given.contentType ?? 'application/json' }),
      },
      ...(given.body === undefined ? {} : { body: toJsonText(given.body) }),
      signal: given.signal,
      maxBytes: given.maxBytes ?? defaultMaxBytes,
      ...(isWrite(call, given) ? { beforeSend: () => before(guards, call) } : {}),
    }
  }

  const counted = async <T extends { readonly status: number }>(
    call: Call,
    answer: Promise<T>,
  ): Promise<T> => {
    try {
      const found = await answer
      count(call, String(found.status))
      if (found.status === 401) connection.forgetAuthorization()
      return found
    } catch (error) {
      count(call, '<error>')
      throw error
    }
  }

  const once = async (call: Call, given: RequestOptions): Promise<unknown> => {
    const request = await prepare(call, given)
    const { status, retryAfter, text } = await counted(call, transport.exchange(request))
    if (status >= 300) throw answerError(call, status, text, retryAfter)
    const answer = parseAnswer(call, text)
    if (isWrite(call, given)) after(guards, call, answer)
    return answer
  }

  const inTurn = createMutex()
  return {
    send: (call, given = {}) => patiently(() => once(call, given), given.signal),
    stream: async (call, given, silenceMs) =>
      await counted(call, transport.stream(await prepare(call, given), silenceMs)),
    sendLarge: (call, given, take) => {
      const takeOnce = async () => take(await once(call, given))
      return patiently(() => inTurn(takeOnce, given.signal), given.signal)
    },
    close: () => transport.close(),
  }
}

/** A server that is busy has done nothing yet, so any request may be sent again; a stale token likewise. */
async function patiently<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send()
    } catch (error) {
      const waitMs = waitBeforeAgain(error, attempt)
      if (waitMs === null) throw error
      await sleep(waitMs, undefined, signal === undefined ? {} : { signal })
    }
  }
}

/** Null where sending again is for the caller to decide. */
function waitBeforeAgain(error: unknown, attempt: number): number | null {
  if (hasCode(error, 'OPERATOR_API_UNAUTHORIZED')) return attempt === 1 ? 0 : null
  if (!hasCode(error, 'OPERATOR_API_BUSY') || attempt === maxAttempts) return null
  const waitMs = retryAfterOf(error) ?? defaultWaitMs
  return waitMs > maxWaitMs ? null : waitMs
}

function pathOf(call: Call, query: Readonly<Record<string, string>> = {}): string {
  const { type, namespace, name, subresource } = call
  const path =
    name === undefined || call.verb === 'create'
      ? collectionPath(type, namespace)
      : objectPath({ type, namespace, name }, subresource)
  const text = new URLSearchParams(query).toString()
  return text === '' ? path : `${path}?${text}`
}

function isWrite(call: Call, { query }: RequestOptions): boolean {
  return methods[call.verb] !== 'GET' && query?.['dryRun'] === undefined
}

function before(guards: readonly WriteGuard[], call: Call): void {
  for (const guard of guards) guard.before?.(call)
}

function after(guards: readonly WriteGuard[], call: Call, answer: unknown): void {
  const isObject = typeof answer === 'object' && answer !== null
  for (const guard of guards) guard.after?.(call, isObject ? answer : {})
}

/** The parsed JSON; throws OPERATOR_API_ANSWER_MALFORMED. */
export function parseAnswer(call: Call, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ServiceError(
      'OPERATOR_API_ANSWER_MALFORMED',
      `${describeCall(call)}: the answer is not JSON`,
      {
        facts: { ...factsOf(call), length: text.length },
        remedy: 'Check what stands between the operator and the API server; it is tried again.',
        // The parser's own message repeats what it read, which may be a Secret.
        ...(call.type.confidential ? {} : { cause: error }),
      },
    )
  }
}

const maxErrorBytes = 65_536

/** The body of a refusal that came as a stream, as far as it is worth reading. */
export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    pieces.push(chunk)
    bytes += chunk.length
    if (bytes > maxErrorBytes) break
  }
  return Buffer.concat(pieces).toString('utf8')
}
