/** What a View has done, as far as it has to be known to find what it does next. */
import {
  type HeightRanges,
  subtractHeights,
  toHeightRanges,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import type { Snapshot } from '../../store/store.ts'
import type { HostedView } from './hosted-view.ts'
import type { WorkFacts } from './view-work.ts'
import type { VisibleBlocks } from './visible-blocks.ts'

/** Heights of which none needed anything any more but what is under way, as long as no block is removed. */
export interface Idle {
  readonly epoch: number
  readonly heights: HeightRanges
}

/** What a run keeps of it. */
interface Progress {
  readonly view: Pick<HostedView, 'slot'>
  readonly parts: { readonly nowMs: () => number }
  readonly liveAbove: number
  /** Heights that a job has. */
  readonly underWay: ReadonlySet<number>
  /** When a failed height is tried again. */
  readonly dueAt: ReadonlyMap<number, number>
  readonly idle: Idle | null
}

/** From what is stored. */
export function readFacts(
  { view, parts, dueAt, liveAbove, underWay }: Progress,
  snapshot: Snapshot,
  visible: HeightRanges,
): WorkFacts {
  const nowMs = parts.nowMs()
  const due = [...dueAt].flatMap(([height, atMs]) => (atMs <= nowMs ? [height] : []))
  const failed = subtractHeights(snapshot.viewFailures(view.slot), toHeightRanges(due))
  const tooMany = [0, snapshot.viewFrom(view.slot) - 1] as const
  return {
    visible,
    settled: uniteHeights([tooMany, ...snapshot.viewRanges(view.slot), ...failed]),
    underWay: toHeightRanges([...underWay]),
    liveAbove,
  }
}

/**
 * Without looking at what needed nothing before and cannot need anything now, nor at new blocks that the View was done
 * with as they were stored; null where everything may need something.
 */
export function freshFacts(
  { view, idle, dueAt, underWay, liveAbove }: Progress,
  snapshot: Snapshot,
  visible: VisibleBlocks,
): WorkFacts | null {
  if (idle === null || idle.epoch !== visible.epoch || dueAt.size > 0) return null
  const { heights, done } = visible.since(idle.heights)
  const isDone = heights.length === 0 || done.has(view.slot)
  const left = isDone ? [] : subtractHeights(heights, snapshot.viewRanges(view.slot))
  return { visible: left, settled: [], underWay: toHeightRanges([...underWay]), liveAbove }
}
