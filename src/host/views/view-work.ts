/** Which blocks a View does next, and how it stands by what is left. Pure. */
import {
  clipHeights,
  countHeights,
  eachHeight,
  type HeightRanges,
  subtractHeights,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import type { ViewStateName } from '../../service/contract.ts'
import type { Snapshot } from '../../store/store.ts'

/** What is known when a View looks for work. */
export interface WorkFacts {
  /** Heights of stored blocks. */
  readonly visible: HeightRanges
  /** Those that need nothing: done, failed and not yet due again. */
  readonly settled: HeightRanges
  /** Those that a job has. */
  readonly underWay: HeightRanges
  /** Head of the chain when the View began; what lies above came since. */
  readonly liveAbove: number
}

/** Blocks for one job. */
export interface Work {
  readonly priority: 'live' | 'backfill'
  /** Newest first. */
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

/** The newest blocks that nobody has done yet, at most `limit`; null where there are none. */
export function nextWork(facts: WorkFacts, limit: number): Work | null {
  const free = freeHeights(facts)
  const live = clipHeights(free, facts.liveAbove + 1, highest)
  const heights = newest(live.length > 0 ? live : free, limit)
  if (heights.length === 0) return null
  const isFirst = live.length > 0 && !isLagging(backlogOf(facts))
  return { priority: isFirst ? 'live' : 'backfill', heights }
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

function newest(ranges: HeightRanges, limit: number): number[] {
  const heights: number[] = []
  for (const height of eachHeight(ranges, true)) {
    if (heights.length === limit) break
    heights.push(height)
  }
  return heights
}

/** What a View is called by how it stands. */
export function stateName({
  isQuarantined,
  isWaiting,
  backlog,
  blocksFailed,
}: {
  readonly isQuarantined: boolean
  readonly isWaiting: boolean
  readonly backlog: Backlog
  readonly blocksFailed: number
}): ViewStateName {
  if (isQuarantined) return 'quarantined'
  if (isWaiting) return 'waiting'
  if (isLagging(backlog)) return 'lagging'
  if (backlog.backfill > 0) return 'backfilling'
  return blocksFailed > 0 ? 'failed' : 'live'
}
