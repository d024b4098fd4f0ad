/** New blocks of which Views have no rows: found by the index of each block, for all Views together. */
import type { NeededTerm } from '../../store/needed-terms.ts'
import type { EmptyViewBlock, Snapshot } from '../../store/store.ts'

/** What the blocks of one snapshot may hold. Each value of a block is looked up once, however many Views ask for it. */
interface BlockIndexes {
  at(height: number): (term: NeededTerm) => boolean
}

export function createBlockIndexes(snapshot: Snapshot): BlockIndexes {
  const blocks = new Map<number, (term: NeededTerm) => boolean>()
  return {
    at: (height) => {
      const known = blocks.get(height)
      if (known !== undefined) return known
      const holds = createLookup(snapshot, height)
      blocks.set(height, holds)
      return holds
    },
  }
}

function createLookup(snapshot: Snapshot, height: number): (term: NeededTerm) => boolean {
  const found = new Map<string, boolean>()
  return ({ kind, value }) => {
    const key = `${kind} ${Buffer.from(value).toString('hex')}`
    const known = found.get(key)
    if (known !== undefined) return known
    const [candidate] = snapshot.candidates(kind, value, height, height, false)
    found.set(key, candidate !== undefined)
    return candidate !== undefined
  }
}

/** The same by blocks. Those that the snapshot does not have are left out. */
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
    const blockHash = snapshot.header(height)?.hash
    return blockHash === undefined ? [] : [{ height, blockHash, slots: of }]
  })
}
