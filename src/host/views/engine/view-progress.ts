/** Which blocks a View is at, and which it may do next, without reading more of the store than it has to. */
import {
  type HeightRanges,
  hasHeight,
  subtractHeights,
  toHeightRanges,
  uniteHeights,
} from '../../../primitives/height-ranges.ts'
import type { Snapshot } from '../../../store/store.ts'
import type { HostedView } from '../hosted-view.ts'
import type { WorkFacts } from './view-work.ts'
import type { VisibleBlocks } from './visible-blocks.ts'

export interface Progress {
  /** What is known of all these heights. */
  facts(snapshot: Snapshot, visible: HeightRanges): WorkFacts
  /** The same of those that may need something. */
  freshFacts(snapshot: Snapshot, visible: VisibleBlocks): WorkFacts
  /** Heights that are being done. */
  underWay(): HeightRanges
  begin(heights: readonly number[]): void
  /** They are no longer under way, whatever became of them. */
  end(heights: readonly number[]): void
  /** The same of blocks that were stored as empty in this epoch: what needed nothing before still needs nothing. */
  endEmpty(heights: readonly number[], epoch: number): void
  /** None of these blocks needs anything any more, as long as none is removed. */
  rest(visible: VisibleBlocks): void
  /** Any block may need something. */
  wake(): void
  /** A job of these heights failed as a whole: each is done alone. */
  suspect(heights: readonly number[]): void
  /** A height failed, and is tried again at this time. */
  failed(height: number, dueAtMs: number): void
  /** What was stored of a height is not tried again. */
  settled(height: number): void
  /** Failures were cleared: all are tried again. */
  retry(): void
}

/** Heights that are done alone. */
interface Retries {
  readonly suspects: Set<number>
  /** When a failed height is tried again. */
  readonly dueAt: Map<number, number>
  /** Those that are tried again now. */
  due(): HeightRanges
  forget(height: number): void
  /** Forgets those that are not stored any more. */
  keep(visible: HeightRanges): void
  clear(): void
}

function createRetries(nowMs: () => number): Retries {
  const suspects = new Set<number>()
  const dueAt = new Map<number, number>()
  const forget = (height: number): void => {
    dueAt.delete(height)
    suspects.delete(height)
  }
  return {
    suspects,
    dueAt,
    due: () => {
      const now = nowMs()
      return toHeightRanges([...dueAt].flatMap(([height, atMs]) => (atMs <= now ? [height] : [])))
    },
    forget,
    keep: (visible) => {
      for (const height of [...dueAt.keys(), ...suspects])
        if (!hasHeight(visible, height)) forget(height)
    },
    clear: () => {
      dueAt.clear()
      suspects.clear()
    },
  }
}

/** `liveAbove` is the head of the chain when the View begins. */
export function createProgress(
  { slot }: Pick<HostedView, 'slot'>,
  liveAbove: number,
  nowMs: () => number,
): Progress {
  const underWay = new Set<number>()
  const retries = createRetries(nowMs)
  const { suspects, dueAt } = retries
  /** Blocks of which none needed anything any more. */
  let idle: Pick<VisibleBlocks, 'epoch' | 'heights'> | null = null
  const underWayNow = (): HeightRanges => toHeightRanges([...underWay])

  const facts = (snapshot: Snapshot, visible: HeightRanges): WorkFacts => {
    const due = retries.due()
    const failed = subtractHeights(snapshot.viewFailures(slot), due)
    const tooMany = [0, snapshot.viewFrom(slot) - 1] as const
    const settled = uniteHeights([tooMany, ...snapshot.viewRanges(slot), ...failed])
    const waiting = { suspects: toHeightRanges([...suspects]), due }
    return { visible, settled, underWay: underWayNow(), ...waiting, liveAbove }
  }

  /** Blocks that have come since it was idle, but for those that it was done with as they were stored. */
  const sinceIdle = (snapshot: Snapshot, visible: VisibleBlocks): HeightRanges | null => {
    if (idle === null || idle.epoch !== visible.epoch || dueAt.size > 0) return null
    const { heights, done } = visible.since(idle.heights)
    if (heights.length === 0 || done.has(slot)) return []
    return subtractHeights(heights, snapshot.viewRanges(slot))
  }

  const wake = (): void => {
    idle = null
  }
  const release = (heights: readonly number[]): void => {
    for (const height of heights) underWay.delete(height)
  }
  return {
    facts,
    freshFacts: (snapshot, visible) => {
      retries.keep(visible.heights)
      const fresh = sinceIdle(snapshot, visible)
      if (fresh === null) return facts(snapshot, visible.heights)
      const underWay = underWayNow()
      return { visible: fresh, settled: [], underWay, suspects: [], due: [], liveAbove }
    },
    underWay: underWayNow,
    begin: (heights) => {
      for (const height of heights) underWay.add(height)
    },
    end: (heights) => {
      wake()
      release(heights)
    },
    endEmpty: (heights, epoch) => {
      // What was marked in another epoch may have been removed before anybody looked.
      if (idle?.epoch !== epoch) wake()
      release(heights)
    },
    rest: ({ epoch, heights }) => {
      idle = { epoch, heights }
      suspects.clear()
    },
    wake,
    suspect: (heights) => {
      for (const height of heights) suspects.add(height)
    },
    failed: (height, dueAtMs) => {
      suspects.delete(height)
      dueAt.set(height, dueAtMs)
    },
    settled: retries.forget,
    retry: () => {
      wake()
      retries.clear()
    },
  }
}
