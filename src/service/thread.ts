/**
 * A worker thread as a typed object: requests with answers, events, transfer lists. The death of
 * a worker rejects every pending request with its cause and is reported as fatal exactly once.
 * The worker's module calls `serveThread`.
 */
import type { Transferable } from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'
import type { MetricsSnapshot } from './metrics.ts'
import { createPendingRequests, type RequestOptions } from './pending-requests.ts'
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
  /** Calls `listener` for each event of this name; returns the function that stops it. */
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

/**
 * Starts the worker and waits until it serves. Throws what its start threw, or
 * SERVICE_THREAD_DIED when it ended before.
 */
export async function openThread<R extends Requests<R>, E>(
  options: ThreadOptions,
  parts: ThreadParts,
): Promise<Thread<R, E>> {
  const worker = new Worker(options.url, {
    name: options.name,
    workerData: options.data,
    transferList: [...(options.transfer ?? [])],
  })
  const send = (message: ToWorker, transfer: readonly Transferable[] = []): void =>
    worker.postMessage(message, [...transfer])
  const pending = createPendingRequests(send)
  const listeners = new Map<string, Set<(payload: unknown) => void>>()
  const started = Promise.withResolvers<void>()
  const exited = Promise.withResolvers<void>()
  let state: 'starting' | 'serving' | 'closing' | 'dead' = 'starting'
  let closeError: Error | null = null
  let closed: Promise<void> | null = null

  const receive = (message: FromWorker): void => {
    switch (message.kind) {
      case 'event':
        for (const listener of listeners.get(message.name) ?? []) listener(message.payload)
        break
      case 'answer':
        pending.resolve(message.id, message.value)
        break
      case 'failure':
        pending.reject(message.id, fromPlainError(message.error))
        break
      case 'ready':
        started.resolve()
        break
      case 'refused':
        started.reject(fromPlainError(message.error))
        break
      case 'closed':
        closeError = message.error === null ? null : fromPlainError(message.error)
        break
    }
  }

  const die = (cause: unknown, reason: string): void => {
    if (state === 'dead') return
    const death = threadDied(options.name, reason, cause)
    const isFatal = state === 'serving'
    state = 'dead'
    started.reject(death)
    pending.end(death)
    if (isFatal) parts.onFatal(death)
  }

  const stop = async (): Promise<void> => {
    if (state === 'serving') {
      state = 'closing'
      send({ kind: 'close' })
    }
    const timer = setTimeout(() => void worker.terminate(), options.closeTimeoutMs ?? 20_000)
    await exited.promise
    clearTimeout(timer)
    if (closeError !== null) throw closeError
  }

  worker.on('message', receive)
  worker.on('error', (error) => die(error, error instanceof Error ? error.message : String(error)))
  worker.on('messageerror', (error) => die(error, 'it sent what cannot be read'))
  worker.on('exit', (code) => {
    die(undefined, `exit code ${code}`)
    exited.resolve()
  })

  try {
    await started.promise
    state = 'serving'
  } catch (error) {
    await worker.terminate()
    throw error
  }
  return {
    request: (name, payload, requestOptions) =>
      pending.ask((id) => ({ kind: 'request', id, name, payload }), requestOptions) as never,
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      const untyped = listener as (payload: unknown) => void
      listeners.set(name, set.add(untyped))
      return () => void set.delete(untyped)
    },
    metrics: () => pending.ask((id) => ({ kind: 'metrics', id })) as Promise<MetricsSnapshot>,
    close() {
      closed ??= stop()
      return closed
    },
  }
}

function threadDied(name: string, reason: string, cause: unknown): ServiceError {
  return new ServiceError('SERVICE_THREAD_DIED', `the ${name} thread ended: ${reason}`, {
    facts: { thread: name },
    ...(cause !== undefined && { cause }),
  })
}
