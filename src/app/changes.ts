/** How a program hears of what changes in an application, and awaits it. */
import type { Logger } from 'pino'
import type { AppState } from './contract.ts'

/** Changes come by the block. */
const changeMs = 250

export interface Changes {
  /** Something changed: listeners hear of it soon, and once of what changes meanwhile. */
  note(): void
  listen(listener: (state: AppState) => void): () => void
  /** Nobody hears of anything any more. */
  close(): void
}

/** Passes the current state to each listener, whichever throws. */
export function createChanges(state: () => AppState, log: Logger): Changes {
  const listeners = new Set<(state: AppState) => void>()
  let timer: NodeJS.Timeout | undefined
  return {
    note: () => {
      if (listeners.size === 0) return
      timer ??= setTimeout(() => {
        timer = undefined
        for (const listener of listeners) {
          try {
            listener(state())
          } catch (error) {
            log.error({ err: error }, 'a listener of the application failed')
          }
        }
      }, changeMs)
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => {
      listeners.clear()
      clearTimeout(timer)
    },
  }
}

/**
 * Resolves once something is so; `listen` calls its listener when it may have become so. Throws the signal's reason once
 * it is aborted.
 */
export async function untilSo(
  isSo: () => boolean,
  listen: (listener: () => void) => () => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  if (isSo()) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (): void => reject(signal.reason)
  const stop = listen(() => {
    if (isSo()) resolve()
  })
  signal.addEventListener('abort', fail)
  try {
    await promise
  } finally {
    stop()
    signal.removeEventListener('abort', fail)
  }
}
