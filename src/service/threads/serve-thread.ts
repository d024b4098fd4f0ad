/** The worker's end of a thread: opens its parts, serves requests, closes on request. */
import process from 'node:process'
import type { MessagePort, Transferable } from 'node:worker_threads'
import { parentPort, workerData } from 'node:worker_threads'
import { invariant } from '../../errors.ts'
import { type PlainError, toPlainError } from '../../plain-error.ts'
import type { MetricsSnapshot } from '../metrics.ts'
import type {
  FromWorker,
  Payload,
  RequestResult,
  ThreadRequests,
  ToWorker,
} from './thread-messages.ts'

/** What a handler receives besides its payload. */
interface RequestContext {
  /** Aborted when the caller aborted the request or the thread is closing. */
  readonly signal: AbortSignal
}

const moved: unique symbol = Symbol('moved')

/** A result whose buffers are transferred to the calling thread instead of copied. */
interface Moved<T> {
  readonly [moved]: true
  readonly value: T
  readonly transfer: readonly Transferable[]
}

/** Marks `transfer` (parts of `value`) as transferred with the result. */
export function movedResult<T>(value: T, transfer: readonly Transferable[]): Moved<T> {
  return { [moved]: true, value, transfer }
}

/** One function per request of the protocol. */
type Handlers<R> = {
  readonly [K in keyof R]: (
    payload: Payload<R[K]>,
    context: RequestContext,
  ) => HandlerResult<RequestResult<R[K]>> | Promise<HandlerResult<RequestResult<R[K]>>>
}

type HandlerResult<T> = T | Moved<T>

/** What a worker receives when it starts. */
interface ThreadStart<D, E> {
  readonly data: D
  /** Sends an event to the main thread. */
  readonly emit: <K extends keyof E & string>(
    name: K,
    payload: E[K],
    transfer?: readonly Transferable[],
  ) => void
  /** Aborted when the main thread asks this one to close. */
  readonly signal: AbortSignal
}

/** What a worker serves. */
interface ThreadService<R> {
  readonly requests: Handlers<R>
  readonly metrics?: () => Promise<MetricsSnapshot>
  /** Runs after the last request has ended. */
  readonly close: () => Promise<void>
}

type Post = (message: FromWorker, transfer?: readonly Transferable[]) => void

/**
 * Call it once, at the top of the worker's module. What `open` throws is what `openThread` throws;
 * what is not caught later ends the thread and reaches `onFatal`.
 */
export async function serveThread<R extends ThreadRequests<R>, E, D>(
  open: (start: ThreadStart<D, E>) => Promise<ThreadService<R>>,
): Promise<void> {
  const port = parentPort
  invariant(port !== null, 'serveThread runs in a worker thread')
  const stopping = new AbortController()
  const post: Post = (message, transfer = []) => port.postMessage(message, [...transfer])
  process.on('uncaughtException', (error) => {
    post({ kind: 'crashed', error: toPlainError(error) })
    process.exit(1)
  })
  try {
    const service = await open({
      data: workerData as D,
      emit: (name, payload, transfer) => post({ kind: 'event', name, payload }, transfer),
      signal: stopping.signal,
    })
    serveRequests(port, post, service as ThreadService<unknown>, stopping)
    post({ kind: 'ready' })
  } catch (error) {
    post({ kind: 'refused', error: toPlainError(error) })
  }
}

interface Running {
  readonly abort: AbortController
  readonly done: Promise<void>
}

type AnyHandler = (payload: unknown, context: RequestContext) => unknown

function serveRequests(
  port: MessagePort,
  post: Post,
  service: ThreadService<unknown>,
  stopping: AbortController,
): void {
  const running = new Map<number, Running>()
  const handlers = new Map(Object.entries<AnyHandler>(service.requests))

  const begin = (id: number, work: AnyHandler | undefined, payload: unknown): void => {
    const abort = new AbortController()
    const done = runRequest(post, id, async () => {
      // While the parts are being closed no request can be served.
      stopping.signal.throwIfAborted()
      invariant(work !== undefined, 'a request that no handler serves')
      return work(payload, { signal: AbortSignal.any([abort.signal, stopping.signal]) })
    }).finally(() => running.delete(id))
    running.set(id, { abort, done })
  }

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'request') begin(message.id, handlers.get(message.name), message.payload)
    else if (message.kind === 'metrics') begin(message.id, () => service.metrics?.() ?? [], null)
    else if (message.kind === 'abort') running.get(message.id)?.abort.abort()
    else {
      stopping.abort()
      const done = [...running.values()].map((request) => request.done)
      void close(service, done).then((error) => {
        post({ kind: 'closed', error })
        port.close()
      })
    }
  })
}

/** Runs one request and posts its result; a result that cannot be cloned is a failure. */
async function runRequest(post: Post, id: number, work: () => Promise<unknown>): Promise<void> {
  try {
    const result = await work()
    if (isMoved(result)) post({ kind: 'result', id, value: result.value }, result.transfer)
    else post({ kind: 'result', id, value: result })
  } catch (error) {
    post({ kind: 'failure', id, error: toPlainError(error) })
  }
}

async function close(
  service: ThreadService<unknown>,
  running: readonly Promise<void>[],
): Promise<PlainError | null> {
  await Promise.all(running)
  try {
    await service.close()
    return null
  } catch (error) {
    return toPlainError(error)
  }
}

function isMoved(value: unknown): value is Moved<unknown> {
  return typeof value === 'object' && value !== null && moved in value
}
