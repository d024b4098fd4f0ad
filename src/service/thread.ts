/**
 * A worker thread as a typed object: requests with answers, events, transfer lists. The death of
 * a worker rejects every pending request with its cause and is reported as fatal exactly once.
 * The worker's module calls `serveThread`.
 */
import { setFlagsFromString } from 'node:v8'
import type { ResourceLimits, Transferable } from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'
import type { MetricsSnapshot } from './metrics.ts'
import {
  createPendingRequests,
  type PendingRequests,
  type RequestOptions,
} from './pending-requests.ts'
import { fromPlainError } from './plain-error.ts'
import type { Answer, FromWorker, Payload, Requests, ToWorker } from './thread-messages.ts'

/** The main thread's end. `R` maps request names to functions, `E` event names to payloads. */
export interface Thread<R, E> {
  /** Rejects with what the handler threw, the signal's reason, or SERVICE_THREAD_DIED. */
  request<K extends keyof R & string>(
    name: K,
    payload: Payload<R[K]>,
    options?: RequestOptions,
  ): Promise<Answer<R[K]>>
  /**
   * Calls `listener` for each event of this name; returns the function that stops it. The first
   * listener of a name is also told, at once, what came before it: a thread has news while it starts.
   */
  on<K extends keyof E & string>(name: K, listener: (payload: E[K]) => void): () => void
  /** The worker's metrics, for `metrics.addSource`. */
  metrics(): Promise<MetricsSnapshot>
  /** Lets the worker answer what runs and close its parts; ends it by force after `closeTimeoutMs`. */
  close(): Promise<void>
}

export interface ThreadOptions {
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

export interface ThreadParts {
  /** Called once when a serving worker ends without having been asked to. */
  readonly onFatal: (error: ServiceError) => void
}

/**
 * The URL of a sibling module in the form that runs: `.ts` from sources, `.js` from a build.
 * `threadUrl('./writer', import.meta.url)`.
 */
export function threadUrl(path: string, base: string): URL {
  return new URL(`${path}${base.endsWith('.ts') ? '.ts' : '.js'}`, base)
}

/** One worker and everything that waits for it. */
interface Link {
  readonly options: ThreadOptions
  readonly worker: Worker
  readonly pending: PendingRequests
  readonly listeners: Map<string, Set<(payload: unknown) => void>>
  /** Payloads of the names that nobody has listened to yet. */
  readonly unheard: Map<string, unknown[]>
  readonly started: PromiseWithResolvers<void>
  readonly exited: PromiseWithResolvers<void>
  state: 'starting' | 'serving' | 'closing' | 'dead'
  closed: Promise<void> | null
  closeError: Error | null
}

/**
 * Starts the worker and waits until it serves. Throws what its start threw, or
 * SERVICE_THREAD_DIED when it ended before.
 */
export async function openThread<R extends Requests<R>, E>(
  options: ThreadOptions,
  parts: ThreadParts,
): Promise<Thread<R, E>> {
  const link = startWorker(options, parts)
  const { pending, listeners, unheard } = link
  try {
    await link.started.promise
    link.state = 'serving'
  } catch (error) {
    await link.worker.terminate()
    throw error
  }
  return {
    request: (name, payload, requestOptions) =>
      pending.ask((id) => ({ kind: 'request', id, name, payload }), requestOptions) as never,
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      const untyped = listener as (payload: unknown) => void
      listeners.set(name, set.add(untyped))
      for (const payload of unheard.get(name) ?? []) untyped(payload)
      unheard.delete(name)
      return () => void set.delete(untyped)
    },
    metrics: () => pending.ask((id) => ({ kind: 'metrics', id })) as Promise<MetricsSnapshot>,
    close() {
      link.closed ??= stop(link)
      return link.closed
    },
  }
}

function startWorker(options: ThreadOptions, parts: ThreadParts): Link {
  // What the process was started with (`nodeOptions`) would overrule the limits of the thread.
  setFlagsFromString('--max-semi-space-size=0')
  const worker = new Worker(options.url, {
    name: options.name,
    workerData: options.data,
    transferList: [...(options.transfer ?? [])],
    ...(options.resourceLimits !== undefined && { resourceLimits: options.resourceLimits }),
  })
  const link: Link = {
    options,
    worker,
    pending: createPendingRequests((message, transfer = []) =>
      worker.postMessage(message, [...transfer]),
    ),
    listeners: new Map(),
    unheard: new Map(),
    started: Promise.withResolvers(),
    exited: Promise.withResolvers(),
    state: 'starting',
    closed: null,
    closeError: null,
  }
  const onDeath = (error: unknown): void => die(link, parts, error)
  const crash = (error: Error): void => {
    if (link.state === 'closing') link.closeError ??= error
    onDeath(error)
  }
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'crashed') crash(fromPlainError(message.error))
    else receive(link, message)
  })
  worker.on('error', crash)
  worker.on('messageerror', onDeath)
  worker.on('exit', (code) => {
    onDeath(new Error(`exit code ${code}`))
    link.exited.resolve()
  })
  return link
}

function receive(link: Link, message: Exclude<FromWorker, { kind: 'crashed' }>): void {
  switch (message.kind) {
    case 'event':
      hear(link, message.name, message.payload)
      break
    case 'answer':
      link.pending.resolve(message.id, message.value)
      break
    case 'failure':
      link.pending.reject(message.id, fromPlainError(message.error))
      break
    case 'ready':
      link.started.resolve()
      break
    case 'refused':
      link.started.reject(fromPlainError(message.error))
      break
    case 'closed':
      link.closeError = message.error === null ? null : fromPlainError(message.error)
      break
  }
}

function hear({ listeners, unheard }: Link, name: string, payload: unknown): void {
  const heardBy = listeners.get(name)
  if (heardBy === undefined) unheard.set(name, [...(unheard.get(name) ?? []), payload])
  else for (const listener of heardBy) listener(payload)
}

function die(link: Link, parts: ThreadParts, cause: unknown): void {
  if (link.state === 'dead') return
  const { name } = link.options
  const reason = cause instanceof Error ? cause.message : String(cause)
  const remedy = cause instanceof ServiceError ? cause.remedy : undefined
  const death = new ServiceError('SERVICE_THREAD_DIED', `the ${name} thread ended: ${reason}`, {
    facts: { thread: name },
    ...(remedy !== undefined && { remedy }),
    cause,
  })
  const { state } = link
  link.state = 'dead'
  link.started.reject(death)
  link.pending.end(state === 'closing' ? closingError() : death)
  if (state === 'serving') parts.onFatal(death)
}

/** What is not done any more, because a thread closes: nothing to tell a person. */
function closingError(): Error {
  return new DOMException('the thread is closing', 'AbortError')
}

async function stop(link: Link): Promise<void> {
  if (link.state === 'serving') {
    link.state = 'closing'
    link.worker.postMessage({ kind: 'close' } satisfies ToWorker)
  }
  const limitMs = link.options.closeTimeoutMs ?? 20_000
  const timer = setTimeout(() => void link.worker.terminate(), limitMs)
  await link.exited.promise
  clearTimeout(timer)
  if (link.closeError !== null) throw link.closeError
}
