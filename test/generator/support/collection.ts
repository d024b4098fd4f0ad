/** Things that come one by one, and those who wait for one of them. */

export interface Collection<T> {
  /** Those that came, in order. */
  readonly items: readonly T[]
  add(item: T): void
  /** The first that is so, now or later. */
  first(isSo: (item: T) => boolean): Promise<T>
}

export function createCollection<T>(): Collection<T> {
  const items: T[] = []
  const waiting = new Set<(item: T) => void>()
  return {
    items,
    add(item) {
      items.push(item)
      for (const look of waiting) look(item)
    },
    first(isSo) {
      const known = items.find(isSo)
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((resolve) => {
        const look = (item: T): void => {
          if (!isSo(item)) return
          waiting.delete(look)
          resolve(item)
        }
        waiting.add(look)
      })
    },
  }
}
