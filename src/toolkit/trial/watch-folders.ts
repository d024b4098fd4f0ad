/** Waits for changes in folders; those that are not there are left out. */
import { type FSWatcher, watch } from 'node:fs'

interface FolderWatch {
  /** Watches a folder as well, though not what is in folders inside it. */
  add(folder: string): void
  /**
   * Resolves once something has changed since the last call, and then nothing more for a moment; after `withinMs` at the
   * latest, where that is given. Answers whether something has changed. Rejects on the signal.
   */
  changed(withinMs?: number): Promise<boolean>
  close(): void
}

/** Editors write a file in several steps. */
const quietMs = 100

/** Opens a watch that ends with `signal`. */
export function openFolderWatch(signal: AbortSignal): FolderWatch {
  const watchers = new Map<string, FSWatcher>()
  let change = openChange()
  let timer: NodeJS.Timeout | undefined
  const note = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => change.resolve(true), quietMs)
  }
  const onAbort = (): void => change.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    add(folder) {
      if (watchers.has(folder)) return
      try {
        const watcher = watch(folder, note)
        // It is gone: another change shows what became of it.
        watcher.on('error', () => {
          watcher.close()
          watchers.delete(folder)
          note()
        })
        watchers.set(folder, watcher)
      } catch {
        // Not there yet.
      }
    },
    async changed(withinMs) {
      signal.throwIfAborted()
      const { promise, resolve } = change
      const latest = withinMs === undefined ? undefined : setTimeout(() => resolve(false), withinMs)
      try {
        return await promise
      } finally {
        clearTimeout(latest)
        change = openChange()
      }
    },
    close() {
      signal.removeEventListener('abort', onAbort)
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

function openChange(): PromiseWithResolvers<boolean> {
  const change = Promise.withResolvers<boolean>()
  // It may be rejected while nobody waits for it.
  change.promise.catch(() => undefined)
  return change
}
