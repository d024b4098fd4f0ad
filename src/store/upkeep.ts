/** What keeps a store small and fast without being asked for by readers: merging and pruning. */
import type { Logger } from 'pino'
import type { CommitQueue } from './commit-queue.ts'
import { dueSpan, pruneableGroup } from './span-writes.ts'
import { mergeDueSpan, pruneGroup, type WriteContext } from './transactions.ts'

export interface Upkeep {
  /** Starts merging the spans that are due, beside other writes. */
  tidy(): void
  /** Removes what lies below the tail; answers how many blocks. */
  prune(): Promise<number>
  /** Resolves when everything that was started is done; throws what failed. */
  finished(): Promise<void>
}

export function createUpkeep(queue: CommitQueue, context: WriteContext, log: Logger): Upkeep {
  let started: Promise<void> = Promise.resolve()

  const mergeSpans = async (): Promise<void> => {
    while (dueSpan(queue.state()) !== undefined) {
      const compose = mergeDueSpan(context, (span) => log.debug({ span }, 'index of a span merged'))
      await queue.run('upkeep', compose)
    }
  }
  return {
    tidy: () => {
      if (dueSpan(queue.state()) === undefined) return
      started = started.then(mergeSpans)
      // Whoever writes next, or waits for `finished`, meets the failure.
      started.catch(() => undefined)
    },
    prune: async () => {
      let removed = 0
      while (pruneableGroup(queue.state()) !== undefined) {
        const compose = pruneGroup(context, (blocks) => {
          removed += blocks
        })
        await queue.run('upkeep', compose)
      }
      if (removed > 0) log.debug({ blocks: removed }, 'blocks below the tail removed')
      return removed
    },
    finished: () => started,
  }
}
