/** Which blocks a View does next, and how it stands by what is left. Pure. */
import {
  clipHeights,
  countHeights,
  eachHeight,
  type HeightRanges,
  intersectHeights,
  subtractHeights,
  uniteHeights,
} from '../../../primitives/height-ranges.ts'
import type { ViewStateName } from '../../../service/contract.ts'
import type { Snapshot } from '../../../store/store.ts'

/** What is known when a View looks for work. */
export interface WorkFacts {
  /** Heights of stored blocks. */
  readonly visible: HeightRanges
  /** Those that need nothing: done, failed and not yet due again. */
  readonly settled: HeightRanges
  /** Those that a job has. */
  readonly underWay: HeightRanges
  /** Those of a job that failed as a whole: one of them is to blame. */
  readonly suspects: HeightRanges
  /** Those that failed and are tried again now. */
  readonly due: HeightRanges
  /** Head of the chain when the View began; what lies above came since. */
  readonly liveAbove: number
}

/** Blocks for one job. */
export interface Work {
  readonly priority: 'live' | 'backfill'
  /** New blocks in the order of the chain, others newest first. */
  readonly heights: readonly number[]
}

/** The block of a job that has it alone. */
export interface BlockOfJob {
  readonly height: number
  readonly blockHash: string
  readonly documentsRoot: string
}

/** Work as it is begun; `only` is null where there are several blocks. */
export interface Job extends Work {
  readonly only: BlockOfJob | null
}

/** What is left to do. */
interface Backlog {
  readonly live: number
  readonly backfill: number
}

/** New blocks that wait before a View counts as lagging, and no longer comes before the back-fill of others. */
const laggingBlocks = 16
const highest = Number.MAX_SAFE_INTEGER

/** What is not done, under way or not. */
export function backlogOf({ visible, settled, liveAbove }: WorkFacts): Backlog {
  const left = subtractHeights(visible, settled)
  const live = countHeights(clipHeights(left, liveAbove + 1, highest))
  return { live, backfill: countHeights(left) - live }
}

export function isLagging({ live }: Backlog): boolean {
  return live > laggingBlocks
}

/** New blocks that nobody has done yet, newest first, as many as a View may have without lagging. */
export function newHeights(facts: WorkFacts): number[] {
  return newest(clipHeights(freeHeights(facts), facts.liveAbove + 1, highest), laggingBlocks)
}

/**
 * The next blocks that nobody has done yet, at most `limit`; null where there are none. A block that may fail the
 * whole job has one of its own, and suspects come first: while they wait, nobody knows which block fails.
 */
export function nextWork(facts: WorkFacts, limit: number): Work | null {
  const free = freeHeights(facts)
  if (free.length === 0) return null
  const isLate = isLagging(backlogOf(facts))
  const suspect = newest(intersectHeights(free, facts.suspects), 1)
  if (suspect.length > 0) {
    const isLive = !isLate && suspect.every((height) => height > facts.liveAbove)
    return { priority: isLive ? 'live' : 'backfill', heights: suspect }
  }
  const fresh = subtractHeights(free, facts.due)
  const live = clipHeights(fresh, facts.liveAbove + 1, highest)
  if (live.length > 0)
    return isLate
      ? { priority: 'backfill', heights: newest(live, limit) }
      : { priority: 'live', heights: take(eachHeight(live), limit) }
  const due = newest(intersectHeights(free, facts.due), 1)
  return { priority: 'backfill', heights: due.length > 0 ? due : newest(fresh, limit) }
}

/** Notes of which block a failure would be: another one may be in its place by then. */
export function toJob(snapshot: Snapshot, work: Work): Job {
  const [height, ...others] = work.heights
  if (height === undefined || others.length > 0) return { ...work, only: null }
  const header = snapshot.header(height)
  const only = header && { height, blockHash: header.hash, documentsRoot: header.root }
  return { ...work, only: only ?? null }
}

function freeHeights({ visible, settled, underWay }: WorkFacts): HeightRanges {
  return subtractHeights(visible, uniteHeights([...settled, ...underWay]))
}

const newest = (ranges: HeightRanges, limit: number): number[] =>
  take(eachHeight(ranges, true), limit)

function take(heights: Iterable<number>, limit: number): number[] {
  const taken: number[] = []
  for (const height of heights) {
    if (taken.length === limit) break
    taken.push(height)
  }
  return taken
}

/** What a View is called by how it stands. */
export function stateName({
  isQuarantined,
  isWaiting,
  isAnyDone,
  backlog,
  blocksFailed,
}: {
  readonly isQuarantined: boolean
  readonly isWaiting: boolean
  /** Whether any block went well: where none did, the lenses are at fault rather than slow. */
  readonly isAnyDone: boolean
  readonly backlog: Backlog
  readonly blocksFailed: number
}): ViewStateName {
  if (isQuarantined) return 'quarantined'
  if (isWaiting) return 'waiting'
  if (blocksFailed > 0 && !isAnyDone) return 'failed'
  if (isLagging(backlog)) return 'lagging'
  if (backlog.backfill > 0) return 'backfilling'
  return blocksFailed > 0 ? 'failed' : 'live'
}
