/** Merges index tables of Views in the background, as spans get deep enough or Views are done with them. */
import { type StoreState, spanBlocks } from '../disk/layout.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { Write } from './block-writes.ts'
import type { CommitQueue, WriteOperation } from './commit-queue.ts'
import { limitSlot, slotBytes } from './view-limit.ts'
import type { SlotChange } from './view-slots.ts'
import { deepestSpan, dueViewSpan, mergeViewSpan } from './view-spans.ts'
import type { WriteContext } from './write-operations.ts'

/** Writes in one transaction, so that others need not wait long; a span that takes more is merged alone. */
const mergedAtOnce = 256

interface PutBlock {
  readonly height: number
}

interface ViewMerging {
  /**
   * Looks for spans that are due, of slots for which deep blocks were put and, where a span got deep enough, of all;
   * merges them in the background.
   */
  start(puts?: Iterable<readonly [slot: number, blocks: readonly PutBlock[]]>): void
  /** Resolves when everything that was started is done; throws what failed. */
  finished(): Promise<void>
  /** Stops after the transaction that is under way; the next program goes on. */
  stop(): void
}

export function createViewMerging(queue: CommitQueue, context: WriteContext): ViewMerging {
  /** Slots that may have something to merge. */
  const waiting = new Set<number>()
  let deepest = -1
  let isStopped = false
  let isRunning = false
  let started: Promise<void> = Promise.resolve()

  const mergeAll = async (): Promise<void> => {
    while (waiting.size > 0 && !isStopped)
      await queue.run('compaction', mergeSome(context, waiting))
    isRunning = false
  }
  return {
    start: (puts = []) => {
      const now = deepestSpan(queue.state())
      const end = (now + 1) * spanBlocks
      for (const [slot, blocks] of puts)
        if (blocks.some(({ height }) => height < end)) waiting.add(slot)
      if (now > deepest) for (const [slot] of context.slots.all()) waiting.add(slot)
      deepest = now
      if (waiting.size === 0 || isRunning) return
      isRunning = true
      started = started.then(mergeAll)
      // The next write, or `finished`, throws the failure.
      started.catch(() => undefined)
    },
    finished: () => started,
    stop: () => {
      isStopped = true
    },
  }
}

/** Merges spans that are due, and takes the slots that have none left out of `waiting`. */
function mergeSome(context: WriteContext, waiting: Set<number>): WriteOperation {
  return async (state, flushed) => {
    if (!isAnyDue(context, state, waiting)) return null
    await flushed()
    return context.reader.read((snapshot) => {
      const writes: Write[] = []
      for (const slot of waiting) {
        const change = mergeSlot(context, snapshot, slot, mergedAtOnce - writes.length)
        if (change === null) {
          waiting.delete(slot)
          continue
        }
        writes.push(...change.writes, context.slots.set(slot, change.has))
        if (writes.length >= mergedAtOnce) break
      }
      return { writes, state }
    })
  }
}

/** Whether there is anything to do, which most often there is not. */
function isAnyDue({ slots }: WriteContext, state: StoreState, waiting: Set<number>): boolean {
  for (const slot of waiting) {
    if (dueViewSpan(state, slots.of(slot)) !== undefined) return true
    waiting.delete(slot)
  }
  return false
}

/** The spans of a slot that are due, up to so many writes; null where there is none. */
function mergeSlot(
  { slots, maxViewBytes }: WriteContext,
  snapshot: HeldSnapshot,
  slot: number,
  mostWrites: number,
): SlotChange | null {
  const start: SlotChange = { slot, has: slots.of(slot), writes: [] }
  let change = start
  do {
    const span = dueViewSpan(snapshot.state, change.has)
    if (span === undefined) break
    const merged = mergeViewSpan(snapshot, change, span)
    const more = slotBytes(merged.has) - slotBytes(change.has)
    // A table takes a few bytes more than its parts where it needs a directory of its own.
    if (more > 0 && slotBytes(merged.has) > maxViewBytes) {
      if (change === start) change = limitSlot(snapshot, start, maxViewBytes, more)
      break
    }
    change = merged
  } while (change.writes.length < mostWrites)
  return change.has === start.has ? null : change
}
