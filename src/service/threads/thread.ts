/**
 * A worker thread as a typed object: requests with results, events, transfer lists. The death of
 * a worker rejects every pending request with its cause and is reported as fatal exactly once.
 * The worker's module calls `serveThread`.
 */
import { setFlagsFromString } from 'node:v8'
import type { ResourceLimits, Transferable } from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import { messageOf, ServiceError } from '../../errors.ts'
import { fromPlainError } from '../../plain-error.ts'
import type { MetricsSnapshot } from '../metrics.ts'
import {
  createPendingRequests,
  type PendingRequests,
  type ThreadRequestOptions,
} from './pending-requests.ts'
import type {
  FromWorker,
  Payload,
  RequestResult,
  ThreadRequests,
  ToWorker,
} from './thread-messages.ts'

/** The main thread's end. `R` maps request names to functions, `E` event names to payloads. */
export interface Thread<R, E> {
  /** Rejects with what the handler threw, the signal's reason, or SERVICE_THREAD_DIED. */
  request<K extends keyof R & string>(
    name: K,
    payload: Payload<R[K]>,
    options?: ThreadRequestOptions,
  ): Promise<RequestResult<R[K]>>
  /**
   * Calls `listener` for each event of this name; returns the function that stops it. The first
   * listener of a name also gets, at once, the events before it: a thread emits some while it starts.
   */
  on<K extends keyof E & string>(name: K, listener: (payload: E[K]) => void): () => void
  /** The worker's metrics, for `metrics.addSource`. */
  metrics(): Promise<MetricsSnapshot>
  /** Lets the worker finish its requests and close its parts; terminates it after `closeTimeoutMs`. */
  close(): Promise<void>
}

interface ThreadOptions {
  /** Module that calls `serveThread`; see `threadUrl`. */
  readonly url: URL
  /** Shown in errors and debuggers. */
  readonly name: string
  /** Structured-cloneable start-up data. */
  readonly data: unknown
  /** Parts of `data` that are moved instead of copied. */
  readonly transfer?: readonly Transferable[]
  /** Default 20,000. */
  readonly closeTimeoutMs?: number
  /** Bounds of the worker's heap, in MB; exceeding the old generation ends the worker. */
  readonly resourceLimits?: ResourceLimits
}

interface ThreadParts {
  /** Called once when a serving worker exits unexpectedly. */
  readonly onFatal: (error: ServiceError) => void
}

/**
 * The URL of a sibling module in the form that runs: `.ts` from sources, `.js` from a build.
 * `threadUrl('./writer', import.meta.url)`.
 */
export function threadUrl(path: string, base: string): URL {
  return new URL(`${path}${base.endsWith('.ts') ? '.ts' : '.js'}`, base)
}

/** One worker, its pending requests and its listeners. */
interface ThreadState {
  readonly options: ThreadOptions
  readonly worker: Worker
  readonly pending: PendingRequests
  readonly listeners: Map<string, Set<(payload: unknown) => void>>
  /** Payloads of events without a listener so far. */
  readonly undelivered: Map<string, unknown[]>
  readonly started: PromiseWithResolvers<void>
  readonly exited: PromiseWithResolvers<void>
  state: 'starting' | 'serving' | 'closing' | 'dead'
  closed: Promise<void> | null
  closeError: Error | null
}

/**
 * Starts the worker and waits until it serves. Throws the error of its start, or SERVICE_THREAD_DIED
 * when it exited before.
 */
export async function openThread<R extends ThreadRequests<R>, E>(
  options: ThreadOptions,
  parts: ThreadParts,
): Promise<Thread<R, E>> {
  const thread = startWorker(options, parts)
  const { pending, listeners, undelivered } = thread
  try {
    await thread.started.promise
    thread.state = 'serving'
  } catch (error) {
    await thread.worker.terminate()
    throw error
  }
  return {
    request: (name, payload, requestOptions) =>
      pending.ask((id) => ({ kind: 'request', id, name, payload }), requestOptions) as never,
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      const untyped = listener as (payload: unknown) => void
      listeners.set(name, set.add(untyped))
      for (const payload of undelivered.get(name) ?? []) untyped(payload)
      undelivered.delete(name)
      return () => void set.delete(untyped)
    },
    metrics: () => pending.ask((id) => ({ kind: 'metrics', id })) as Promise<MetricsSnapshot>,
    close() {
      thread.closed ??= stop(thread)
      return thread.closed
    },
  }
}

function startWorker(options: ThreadOptions, parts: ThreadParts): ThreadState {
  // The options of the process (`nodeOptions`) would override the limits of the thread.
  setFlagsFromString('--max-semi-space-size=0')
  const worker = new Worker(options.url, {
    name: options.name,
    workerData: options.data,
    transferList: [...(options.transfer ?? [])],
    resourceLimits: options.resourceLimits ?? {},
  })
  const thread: ThreadState = {
    options,
    worker,
    pending: createPendingRequests((message, transfer = []) =>
      worker.postMessage(message, [...transfer]),
    ),
    listeners: new Map(),
    undelivered: new Map(),
    started: Promise.withResolvers(),
    exited: Promise.withResolvers(),
    state: 'starting',
    closed: null,
    closeError: null,
  }
  const onDeath = (error: unknown): void => die(thread, parts, error)
  const crash = (error: Error): void => {
    if (thread.state === 'closing') thread.closeError ??= error
    onDeath(error)
  }
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'crashed') crash(fromPlainError(message.error))
    else receive(thread, message)
  })
  worker.on('error', crash)
  worker.on('messageerror', onDeath)
  worker.on('exit', (code) => {
    onDeath(new Error(`exit code ${code}`))
    thread.exited.resolve()
  })
  return thread
}

function receive(thread: ThreadState, message: Exclude<FromWorker, { kind: 'crashed' }>): void {
  switch (message.kind) {
    case 'event':
      dispatchEvent(thread, message.name, message.payload)
      break
    case 'result':
      thread.pending.resolve(message.id, message.value)
      break
    case 'failure':
      thread.pending.reject(message.id, fromPlainError(message.error))
      break
    case 'ready':
      thread.started.resolve()
      break
    case 'refused':
      thread.started.reject(fromPlainError(message.error))
      break
    case 'closed':
      thread.closeError = message.error === null ? null : fromPlainError(message.error)
      break
  }
}

function dispatchEvent(
  { listeners, undelivered }: ThreadState,
  name: string,
  payload: unknown,
): void {
  const heardBy = listeners.get(name)
  if (heardBy === undefined) undelivered.set(name, [...(undelivered.get(name) ?? []), payload])
  else for (const listener of heardBy) listener(payload)
}

function die(thread: ThreadState, parts: ThreadParts, cause: unknown): void {
  if (thread.state === 'dead') return
  const { name } = thread.options
  const reason = messageOf(cause)
  const remedy = cause instanceof ServiceError ? cause.remedy : undefined
  const death = new ServiceError('SERVICE_THREAD_DIED', `the ${name} thread ended: ${reason}`, {
    facts: { thread: name },
    ...(remedy !== undefined && { remedy }),
    cause,
  })
  const { state } = thread
  thread.state = 'dead'
  thread.started.reject(death)
  thread.pending.end(state === 'closing' ? closingError() : death)
  if (state === 'serving') parts.onFatal(death)
}

/** The error of requests that a closing thread no longer serves; it is not reported. */
function closingError(): Error {
  return new DOMException('the thread is closing', 'AbortError')
}

async function stop(thread: ThreadState): Promise<void> {
  if (thread.state === 'serving') {
    thread.state = 'closing'
    thread.worker.postMessage({ kind: 'close' } satisfies ToWorker)
  }
  const limitMs = thread.options.closeTimeoutMs ?? 20_000
  const timer = setTimeout(() => void thread.worker.terminate(), limitMs)
  await thread.exited.promise
  clearTimeout(timer)
  if (thread.closeError !== null) throw thread.closeError
}
