/** Requests that wait for a result from another thread. */
import type { Transferable } from 'node:worker_threads'
import type { ToWorker } from './thread-messages.ts'

export interface ThreadRequestOptions {
  /** Buffers moved instead of copied; they are empty on this side afterwards. */
  readonly transfer?: readonly Transferable[]
  /** Rejects the request and aborts the handler's own signal. */
  readonly signal?: AbortSignal
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface PendingRequests {
  /** Sends what `message` returns for a new id and waits for the result. */
  ask(message: (id: number) => ToWorker, options?: ThreadRequestOptions): Promise<unknown>
  resolve(id: number, value: unknown): void
  reject(id: number, error: unknown): void
  /** Rejects all pending and all later requests. */
  end(error: Error): void
}

/** Numbers the requests that `send` posts. */
export function createPendingRequests(
  send: (message: ToWorker, transfer?: readonly Transferable[]) => void,
): PendingRequests {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let ended: Error | null = null

  const take = (id: number): Waiting | undefined => {
    const entry = waiting.get(id)
    waiting.delete(id)
    return entry
  }

  return {
    async ask(message, { signal, transfer } = {}) {
      if (ended !== null) throw ended
      signal?.throwIfAborted()
      const id = ++lastId
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const abortRequest = (): void => {
        take(id)?.reject(signal?.reason)
        if (ended === null) send({ kind: 'abort', id })
      }
      send(message(id), transfer)
      waiting.set(id, { resolve, reject })
      signal?.addEventListener('abort', abortRequest, { once: true })
      try {
        return await promise
      } finally {
        signal?.removeEventListener('abort', abortRequest)
      }
    },
    resolve: (id, value) => take(id)?.resolve(value),
    reject: (id, error) => take(id)?.reject(error),
    end(error) {
      ended = error
      for (const { reject } of waiting.values()) reject(error)
    },
  }
}
