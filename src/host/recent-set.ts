/** A set of texts that forgets the oldest ones. */

export interface RecentSet {
  has(text: string): boolean
  add(text: string): void
  delete(text: string): void
}

/** Remembers the last `max` texts. */
export function createRecentSet(max: number): RecentSet {
  const texts = new Set<string>()
  return {
    has: (text) => texts.has(text),
    delete: (text) => void texts.delete(text),
    add: (text) => {
      texts.delete(text)
      texts.add(text)
      for (const oldest of texts) {
        if (texts.size <= max) return
        texts.delete(oldest)
      }
    },
  }
}
