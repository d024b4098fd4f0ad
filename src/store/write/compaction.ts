/** Compaction: merging index tables and pruning blocks below the tail, which keep a store small and fast. */
import type { Logger } from 'pino'
import type { CommitQueue } from './commit-queue.ts'
import { dueSpan, pruneableGroup } from './span-writes.ts'
import { mergeDueSpan, pruneGroup, type WriteContext } from './write-operations.ts'

interface Compaction {
  /** Starts merging the spans that are due, in the background. */
  start(): void
  /** Removes what lies below the tail; returns the number of blocks. */
  prune(): Promise<number>
  /** What is not removed yet is left for another time: the store closes. */
  stopPruning(): void
  /** Resolves when everything that was started is done; throws what failed. */
  finished(): Promise<void>
}

export function createCompaction(
  queue: CommitQueue,
  context: WriteContext,
  log: Logger,
): Compaction {
  let started: Promise<void> = Promise.resolve()
  let isStopped = false

  const mergeSpans = async (): Promise<void> => {
    while (dueSpan(queue.state()) !== undefined) {
      const operation = mergeDueSpan(context, (span) =>
        log.debug({ span }, 'index of a span merged'),
      )
      await queue.run('compaction', operation)
    }
  }
  return {
    start: () => {
      started = started.then(mergeSpans)
      // The next write, or `finished`, throws the failure.
      started.catch(() => undefined)
    },
    prune: async () => {
      let removed = 0
      while (!isStopped && pruneableGroup(queue.state()) !== undefined) {
        const operation = pruneGroup(context, (blocks) => {
          removed += blocks
        })
        await queue.run('compaction', operation)
      }
      if (removed > 0) log.debug({ blocks: removed }, 'blocks below the tail removed')
      return removed
    },
    stopPruning: () => {
      isStopped = true
    },
    finished: () => started,
  }
}
