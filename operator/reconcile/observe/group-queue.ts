/** What waits, in turns: one of each group, and those of a group in their order, however many one of them has. */

export interface GroupQueue<T> {
  add(group: string, item: T): void
  /** The next one, which waits no more; undefined where none waits. */
  next(): T | undefined
}

/** Nothing waits yet. */
export function createGroupQueue<T>(): GroupQueue<T> {
  /** The group whose turn is next comes first. */
  const waiting = new Map<string, T[]>()
  return {
    add(group, item) {
      const before = waiting.get(group)
      if (before === undefined) waiting.set(group, [item])
      else before.push(item)
    },
    next() {
      const [first] = waiting
      if (first === undefined) return undefined
      const [group, items] = first
      const item = items.shift()
      waiting.delete(group)
      if (items.length > 0) waiting.set(group, items)
      return item
    },
  }
}
