/** The newest head of the node, and a way to wait for another one. */
import type { Head } from '../../chain/block-reader.ts'

export interface NodeHead {
  /** Null before the first. */
  latest(): Head | null
  set(head: Head): void
  /** There will be no more. */
  end(): void
  /** Resolves with the next head that is not `seen`; null once there will be none. */
  after(seen: Head | null): Promise<Head | null>
}

export function createNodeHead(): NodeHead {
  let latest: Head | null = null
  let ended = false
  let bell = Promise.withResolvers<void>()
  const ring = (): void => {
    bell.resolve()
    bell = Promise.withResolvers()
  }
  return {
    latest: () => latest,
    set(head) {
      latest = head
      ring()
    },
    end() {
      ended = true
      ring()
    },
    async after(seen) {
      while (latest === seen && !ended) await bell.promise
      return ended ? null : latest
    },
  }
}
