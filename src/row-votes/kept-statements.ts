/**
 * Which statements of one Host about one block are kept. A Host that has more Views done signs a further statement with
 * the leaves of the one before, which then says nothing by itself. Statements that contradict each other are both kept:
 * they are the evidence by which the Host counts for neither.
 */
import type { RowStatement } from './row-statement.ts'

type ComparedStatement = Pick<RowStatement, 'runtime' | 'root' | 'leaves'>

/** An honest Host has one for each version of the runtime; beyond that keys would fill the disk. */
const maxKept = 4

/**
 * Those that are contained in no other one, whatever the order in which they came. Of more than four those with most
 * leaves, then the smallest by runtime and root: so what is contained in one that had to go is not kept in its place,
 * and two Hosts that give each other theirs do not go on for ever. Of equal ones the first.
 */
export function keptStatements<S extends ComparedStatement>(statements: readonly S[]): S[] {
  const known = new Map(
    statements.toReversed().map((each) => [`${each.runtime} ${each.root}`, each]),
  )
  const each = [...known.values()]
  return each
    .filter((one) => !each.some((other) => isContained(one, other)))
    .sort(compareStatements)
    .slice(0, maxKept)
}

/** Whether the other one has every leaf of this one. */
function isContained(one: ComparedStatement, other: ComparedStatement): boolean {
  if (one.runtime !== other.runtime || one.leaves.length >= other.leaves.length) return false
  const leaves = new Map(other.leaves.map((leaf) => [leaf.view, leaf]))
  return one.leaves.every(({ view, rowsRoot, count }) => {
    const same = leaves.get(view)
    return same?.rowsRoot === rowsRoot && same.count === count
  })
}

function compareStatements(one: ComparedStatement, other: ComparedStatement): number {
  const byLeaves = other.leaves.length - one.leaves.length
  return byLeaves || one.runtime - other.runtime || (one.root < other.root ? -1 : 1)
}
