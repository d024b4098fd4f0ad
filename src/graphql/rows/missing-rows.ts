/**
 * Which blocks the Views of a request have no rows of, because they were not computed or failed, and of which it does not get
 * the rows.
 */
import {
  clipHeights,
  countHeights,
  type HeightRange,
  type HeightRanges,
  intersectHeights,
  subtractHeights,
  toHeightRanges,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import type { Snapshot } from '../../store/store.ts'

/** Blocks without the rows of a View. */
export interface MissingBlocks {
  /** Of stored blocks, that may come. */
  readonly notDone: HeightRanges
  readonly failed: HeightRanges
  /**
   * Of blocks that were pruned before they were done, after the first one of which the View has something; and of those
   * below the lowest one of which it keeps rows, since they took more than they may.
   */
  readonly lost: HeightRanges
}

/** What a program says of the blocks that its Views lack. */
export interface ViewGaps {
  /** Those that a View should have as things are stored, by its slot. */
  missingOf(snapshot: Snapshot, slot: number): MissingBlocks
  /** Why none of them comes until somebody acts; null where they may come by themselves. */
  quarantineOf(snapshot: Snapshot, view: KeptRows): ViewQuarantine | null
  /** The sentence of refused queries that says where to see how Views stand. */
  readonly help: string
}

/** Whose rows they are: the long ID of the View, and their place in the store. */
interface KeptRows {
  readonly id: string
  readonly slot: number
}

/** Why a View is left alone after failures. */
export interface ViewQuarantine {
  /** One of the codes of errors. */
  readonly code: string
  /** What happened. */
  readonly message: string
  /** What to do; left out where the message says it. */
  readonly remedy?: string
  /** The height that failed; null where no block is to blame. */
  readonly block: number | null
}

export const nothingMissing: MissingBlocks = { notDone: [], failed: [], lost: [] }

/** What an answer lacks of a View. Heights are ranges with both ends included, lowest first, at most 100. */
export interface IncompleteView {
  /** As it is served. */
  readonly name: string
  /** Stored blocks that are not computed and did not fail. */
  readonly blocksLeft: number
  readonly blocksFailed: number
  /** Blocks of which the Host has no rows and will not have any, while it has or had some of older blocks. */
  readonly blocksLost: number
  readonly left: readonly Range[]
  readonly failed: readonly Range[]
  readonly lost: readonly Range[]
  /**
   * Blocks with rows that may be among those asked for, left out since they have fewer attestations than the request asks for;
   * set where there are any.
   */
  readonly blocksUnattested?: number
  readonly unattested?: readonly Range[]
  /** Why those of `left` do not come until somebody acts; set where the View is left alone after failures. */
  readonly quarantine?: ViewQuarantine
}

interface Range {
  readonly from: number
  readonly to: number
}

/** Ranges that an answer names of each kind. */
const maxRanges = 100

interface AskedView extends KeptRows {
  readonly name: string
}

/** What the Views of one request lack; worked out once for each View. */
export interface MissingRows {
  /** As in `ViewGaps`. */
  readonly help: string
  /** Of all stored blocks, by the slot of the View. */
  of(slot: number): MissingBlocks
  /** As in `ViewGaps`. */
  quarantineOf(view: KeptRows): ViewQuarantine | null
  /** Notes that the answer may be about these heights of a View. */
  note(view: AskedView, heights: HeightRanges): void
  /** Notes that the answer does not have the rows of a View of a block, since that has too few attestations. */
  leaveOut(view: AskedView, height: number): void
  /** The Views that lack blocks among the heights noted, or had some left out, in the order in which they were. */
  incomplete(): readonly IncompleteView[]
}

/** Nothing is read before a View is asked about. */
export function createMissingRows(snapshot: Snapshot, gaps: ViewGaps): MissingRows {
  const known = new Map<number, MissingBlocks>()
  const asked = new Map<number, Asked>()
  const askedOf = ({ id, name, slot }: AskedView): Asked => {
    const before = asked.get(slot) ?? { id, name, slot, heights: [], leftOut: new Set() }
    asked.set(slot, before)
    return before
  }
  const of = (slot: number): MissingBlocks => {
    const blocks = known.get(slot) ?? gaps.missingOf(snapshot, slot)
    known.set(slot, blocks)
    return blocks
  }
  const quarantineOf = (view: KeptRows): ViewQuarantine | null => gaps.quarantineOf(snapshot, view)
  const lackOf = (view: Asked): IncompleteView => {
    const lack = within(view, of(view.slot))
    const quarantine = lack.blocksLeft > 0 ? quarantineOf(view) : null
    return quarantine === null ? lack : { ...lack, quarantine }
  }
  return {
    help: gaps.help,
    of,
    quarantineOf,
    note(view, more) {
      const before = askedOf(view)
      before.heights = uniteHeights([...before.heights, ...more])
    },
    leaveOut: (view, height) => void askedOf(view).leftOut.add(height),
    incomplete: () => [...asked.values()].map(lackOf).filter(isIncomplete),
  }
}

/** What a request is about. */
interface Asked extends AskedView {
  heights: HeightRanges
  readonly leftOut: Set<number>
}

const isIncomplete = (view: IncompleteView): boolean =>
  view.blocksLeft + view.blocksFailed + view.blocksLost + (view.blocksUnattested ?? 0) > 0

function within({ name, heights, leftOut }: Asked, blocks: MissingBlocks): IncompleteView {
  const left = intersectHeights(blocks.notDone, heights)
  const failed = intersectHeights(blocks.failed, heights)
  const lost = intersectHeights(blocks.lost, heights)
  return {
    name,
    blocksLeft: countHeights(left),
    blocksFailed: countHeights(failed),
    blocksLost: countHeights(lost),
    left: left.slice(0, maxRanges).map(toRange),
    failed: failed.slice(0, maxRanges).map(toRange),
    lost: lost.slice(0, maxRanges).map(toRange),
    ...(leftOut.size === 0 ? {} : unattested(toHeightRanges([...leftOut]))),
  }
}

const unattested = (heights: HeightRanges) => ({
  blocksUnattested: countHeights(heights),
  unattested: heights.slice(0, maxRanges).map(toRange),
})

const toRange = ([from, to]: HeightRange): Range => ({ from, to })

/** At a Host, which stores blocks and computes their rows, and says itself which Views it leaves alone. */
export const hostGaps: ViewGaps = {
  help: 'GET /api/v0/views/{id} says which blocks are done, how the View stands, and what to do.',
  missingOf: missingOfStored,
  quarantineOf: () => null,
}

function missingOfStored(snapshot: Snapshot, slot: number): MissingBlocks {
  const { rowBlocks } = snapshot
  const range = rowBlocks.range()
  if (range === null) return nothingMissing
  const done = snapshot.viewRanges(slot)
  const undone = subtractHeights([[range.tail, range.head]], done)
  if (undone.length === 0) return nothingMissing
  const gaps = rowBlocks.gaps(Infinity).map(({ from, to }) => [from, to] as const)
  const failures = snapshot.viewFailures(slot)
  const missing = subtractHeights(undone, gaps)
  const without = subtractHeights(missing, failures)
  const tail = snapshot.range()?.tail ?? Infinity
  const first = Math.min(done[0]?.[0] ?? Infinity, failures[0]?.[0] ?? Infinity)
  const from = snapshot.viewFrom(slot)
  return {
    notDone: clipHeights(without, Math.max(tail, from), range.head),
    failed: intersectHeights(missing, failures),
    lost: uniteHeights([
      ...clipHeights(without, 0, from - 1),
      ...clipHeights(without, first, tail - 1),
    ]),
  }
}
