/** Which blocks have as many attestations as a request asks for: of others it does not get the rows of Views. */
import type { QueryBudget } from '../budget/query-budget.ts'
import { attestationsOf } from './block-seals.ts'
import type { AttestedBlocks, BlockView } from './block-view.ts'

/** Reading the seals of a block takes about as long as so many comparisons. */
const comparisonsOfSeals = 256
/** Memory of what is known of a height, roughly. */
const heightBytes = 128

/** Counts the attestations of each block once, when it is first asked about. */
export function createAttestedBlocks(minimum: number, budget: QueryBudget): AttestedBlocks {
  const known = new Map<number, boolean>()
  const held = budget.openReservation()
  const count = (block: BlockView): boolean => {
    budget.countComparisons(comparisonsOfSeals)
    held.add(heightBytes)
    const isAttested = attestationsOf(block) >= minimum
    known.set(block.height, isAttested)
    return isAttested
  }
  return { has: (block) => known.get(block.height) ?? count(block) }
}
