/** Waits for changes in folders, also in those that come later, or go and come again. */
import { type FSWatcher, type WatchListener, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

interface FolderWatch {
  /**
   * Watches a folder as well, though not what is in folders inside it. To be called again after each change: one that was
   * made again is another folder.
   */
  add(folder: string): void
  /**
   * Resolves once something has changed since the last call, and then nothing more for a moment; after `withinMs` at the
   * latest, where that is given. Returns whether something has changed. Rejects on the signal.
   */
  changed(withinMs?: number): Promise<boolean>
  close(): void
}

/** Editors write a file in several steps. */
const quietMs = 100

/** Opens a watch that ends with `signal`. */
export function openFolderWatch(signal: AbortSignal): FolderWatch {
  const watchers = new Map<string, FSWatcher[]>()
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
      const forget = (): void => {
        for (const watcher of watchers.get(folder) ?? []) watcher.close()
        watchers.delete(folder)
        note()
      }
      const noteOfParent: WatchListener<string> = (event, name) => {
        if (event === 'rename' && name === basename(folder)) forget()
      }
      const inside = watchThere(folder, note, forget)
      const parent = watchThere(dirname(folder), noteOfParent, forget)
      if (inside.length + parent.length > 0) watchers.set(folder, [...inside, ...parent])
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
      for (const watcher of [...watchers.values()].flat()) watcher.close()
    },
  }
}

/** Watches a folder where it is there. */
function watchThere(
  folder: string,
  listener: WatchListener<string>,
  onError: () => void,
): FSWatcher[] {
  try {
    return [watch(folder, listener).on('error', onError)]
  } catch {
    return []
  }
}

function openChange(): PromiseWithResolvers<boolean> {
  const change = Promise.withResolvers<boolean>()
  // It may be rejected while nobody waits for it.
  change.promise.catch(() => undefined)
  return change
}
