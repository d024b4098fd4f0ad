/** At most so many things at a time for each key; later ones wait in order. */

interface Slots {
  /** Resolves with the function that gives the slot back; rejects when `signal` aborts first. */
  acquire(key: string, signal: AbortSignal): Promise<() => void>
}

export function createSlots(maxPerKey: number): Slots {
  const used = new Map<string, number>()
  const waiting = new Map<string, (() => void)[]>()

  const release = (key: string): void => {
    const next = waiting.get(key)?.shift()
    if (next !== undefined) {
      next()
      return
    }
    waiting.delete(key)
    const left = (used.get(key) ?? 1) - 1
    if (left === 0) used.delete(key)
    else used.set(key, left)
  }

  const once = (key: string): (() => void) => {
    let given = false
    return () => {
      if (!given) release(key)
      given = true
    }
  }

  return {
    acquire: async (key, signal) => {
      signal.throwIfAborted()
      const count = used.get(key) ?? 0
      if (count < maxPerKey) {
        used.set(key, count + 1)
        return once(key)
      }
      const queue = waiting.get(key) ?? []
      waiting.set(key, queue)
      await new Promise<void>((resolve, reject) => {
        const turn = (): void => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        const leave = (): void => {
          queue.splice(queue.indexOf(turn), 1)
          reject(signal.reason)
        }
        queue.push(turn)
        signal.addEventListener('abort', leave)
      })
      return once(key)
    },
  }
}
