/** Writes that are on their way to the disk, in order and bounded in number. */

export interface Commits {
  /** Counts a write; resolves when fewer than the bound are under way. Throws what a write threw. */
  add(write: Promise<void>): Promise<void>
  /** Resolves when all are on the disk. */
  drain(): Promise<void>
}

/** `onFailure` hears of the first write that fails at once, whoever waits. */
export function createCommits(maxUnderWay: number, onFailure: (error: unknown) => void): Commits {
  const underWay: Promise<void>[] = []
  return {
    async add(write) {
      write.catch(onFailure)
      underWay.push(write)
      while (underWay.length >= maxUnderWay) await underWay.shift()
    },
    async drain() {
      while (underWay.length > 0) await underWay.shift()
    },
  }
}
