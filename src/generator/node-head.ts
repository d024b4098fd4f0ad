/** The newest head of the node, and a way to wait for another one. */
import type { Head } from '../chain/block-reader.ts'

export interface NodeHead {
  /** Null before the first. */
  latest(): Head | null
  /** Resolves with the next head that is not `seen`; null once there will be none. */
  after(seen: Head | null): Promise<Head | null>
  /** Follows until the heads end. Rejects with what ends them otherwise. */
  follow(heads: AsyncIterable<Head>, onHead: (head: Head) => void): Promise<void>
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
    async after(seen) {
      while (latest === seen && !ended) await bell.promise
      return ended ? null : latest
    },
    async follow(heads, onHead) {
      try {
        for await (const head of heads) {
          latest = head
          onHead(head)
          ring()
        }
      } finally {
        ended = true
        ring()
      }
    },
  }
}
