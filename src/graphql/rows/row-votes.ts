/** What Hosts say of the rows that a View has of a block. */
import type { RowVote, RowVotes } from '../../row-votes/row-votes.ts'
import type { BlockView } from './block-view.ts'
import { hasRows, type ViewRows } from './view-rows.ts'

/** Where the rows of a View are, and by which ID Hosts speak of it. */
interface IdentifiedRows extends ViewRows {
  /** 0x and 64 digits. */
  readonly id: string
}

/** How many distinct Hosts signed exactly the rows that are stored, this one among them. */
export function hostsOf(view: BlockView, rows: IdentifiedRows): number {
  const votes = readVotes(view, rows)?.votes ?? []
  return votes.find((vote) => hasRows(view, rows, vote))?.hosts.length ?? 0
}

/** What Hosts signed of this block, those of the stored rows first. */
export function rowVotesOf(view: BlockView, rows: IdentifiedRows): readonly RowVote[] {
  const votes = readVotes(view, rows)?.votes ?? []
  const isStored = (vote: RowVote): boolean => hasRows(view, rows, vote)
  return [...votes.filter(isStored), ...votes.filter((vote) => !isStored(vote))]
}

/** Reads the statements of a block once for each View. */
function readVotes(view: BlockView, { id }: IdentifiedRows): RowVotes | undefined {
  const { memo, session, height } = view
  memo.rowVotes ??= new Map()
  if (memo.rowVotes.has(id)) return memo.rowVotes.get(id)
  const votes = session.snapshot.rowVotes(id, height)
  session.budget.countComparisons(comparisonsOfVotes)
  memo.rowVotes.set(id, votes)
  return votes
}

/** Reading statements takes about as long as so many comparisons. */
const comparisonsOfVotes = 256
