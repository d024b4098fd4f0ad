/** Blocks of which Views have no rows, and which the writer did not mark as such when it stored them. */
import type { NeededTerm } from '../../../store/needed-terms.ts'
import type { EmptyViewBlock, Snapshot } from '../../../store/store.ts'

/** Each takes some microseconds, on the thread that answers. */
const mostLookUps = 1_000

/** What the blocks of one snapshot may hold: after so many values that were looked up anything, so that a job decides. */
interface BlockIndexes {
  at(height: number): (term: NeededTerm) => boolean
}

export function createBlockIndexes(snapshot: Snapshot): BlockIndexes {
  let left = mostLookUps
  return {
    at: (height) => {
      return ({ kind, value }) => {
        if (left === 0) return true
        left -= 1
        const [candidate] = snapshot.candidates(kind, value, height, height, false)
        return candidate !== undefined
      }
    },
  }
}

/** Slots and their heights, by blocks. Those that the snapshot does not have are left out. */
export function toEmptyBlocks(
  snapshot: Snapshot,
  found: Iterable<{ readonly slot: number; readonly heights: readonly number[] }>,
): EmptyViewBlock[] {
  const slots = new Map<number, number[]>()
  for (const { slot, heights } of found) {
    for (const height of heights) {
      const known = slots.get(height)
      if (known === undefined) slots.set(height, [slot])
      else known.push(slot)
    }
  }
  return [...slots].flatMap(([height, of]) => {
    const header = snapshot.header(height)
    if (header === undefined) return []
    return [{ height, blockHash: header.hash, documentsRoot: header.root, slots: of }]
  })
}
