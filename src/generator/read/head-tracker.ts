/** The newest head of the node, and a way to wait for another one. */
import type { ChainHead } from '../../chain/block-reader.ts'

interface HeadTracker {
  /** Null before the first. */
  latest(): ChainHead | null
  set(head: ChainHead): void
  /** No head will follow. */
  end(): void
  /** Resolves with the next head that is not `seen`; null after `end`. */
  after(seen: ChainHead | null): Promise<ChainHead | null>
}

export function createHeadTracker(): HeadTracker {
  let latest: ChainHead | null = null
  let ended = false
  let changed = Promise.withResolvers<void>()
  const wakeWaiters = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  return {
    latest: () => latest,
    set(head) {
      latest = head
      wakeWaiters()
    },
    end() {
      ended = true
      wakeWaiters()
    },
    async after(seen) {
      while (latest === seen && !ended) await changed.promise
      return ended ? null : latest
    },
  }
}
