/** Which heights a slot has something of, read from its keys alone. */
import type { Database, ReadTransaction } from '../disk/environment.ts'
import { heightOfViewKey, slotKey, viewBlockKey } from '../disk/view-layout.ts'

export interface ViewHeights {
  /** Heights with rows or a failure from `from` to `to`, both included. */
  each(slot: number, from: number, to: number, descending: boolean): Iterable<number>
  /** The lowest of them, at most `limit`. */
  lowest(slot: number, limit: number): number[]
}

/** Heights that are read at once, at first and at most: a cursor that stays open would keep the transaction open. */
const fewHeights = 16
const mostHeights = 512
/** Leaves room for the key above it. */
const maxHeight = 2 ** 48 - 2

/** `has` says of a single height whether it is one of them. */
export function createViewHeights(
  blocks: Database,
  reading: () => ReadTransaction,
  has: (slot: number, height: number) => boolean,
): ViewHeights {
  const upwards = (slot: number, from: number, to: number, limit: number): number[] => {
    const [start, end] = [viewBlockKey(slot, from), viewBlockKey(slot, to + 1)]
    return Array.from(
      blocks.getKeys({ start, end, limit, transaction: reading() }),
      heightOfViewKey,
    )
  }
  const downwards = (slot: number, from: number, to: number, limit: number): number[] => {
    const end = from > 0 ? viewBlockKey(slot, from - 1) : slotKey(slot)
    const range = { start: viewBlockKey(slot, to), end, reverse: true }
    return Array.from(blocks.getKeys({ ...range, limit, transaction: reading() }), heightOfViewKey)
  }
  return {
    *each(slot, from, to, descending) {
      const [low, high, step] = [Math.max(from, 0), Math.min(to, maxHeight), descending ? -1 : 1]
      const cursor = (at: number, most: number): number[] =>
        descending ? downwards(slot, low, at, most) : upwards(slot, at, high, most)
      let [next, limit] = [descending ? high : low, fewHeights]
      while (next >= low && next <= high) {
        // A neighbour is found by its key several times as fast as by a cursor.
        if (has(slot, next)) {
          yield next
          next += step
          limit = fewHeights
          continue
        }
        const heights = cursor(next, limit)
        yield* heights
        if (heights.length < limit) return
        next = (heights.at(-1) ?? next) + step
        limit = Math.min(2 * limit, mostHeights)
      }
    },
    lowest: (slot, limit) => upwards(slot, 0, maxHeight, limit),
  }
}
