/** How fast a View computes blocks, how many of them make a job, and how many jobs it has. */
import type { Work } from './view-work.ts'

/** What a job did. */
interface Ran {
  /** Blocks that it was given. */
  readonly asked: number
  /** Blocks that it had time for. */
  readonly seen: number
  readonly processorMs: number
}

export interface Pace {
  /** Blocks for the next job. */
  batch(): number
  ran(job: Ran): void
  /** The last job failed as a whole: the next ones have one block each. */
  alone(): void
  /** Counts blocks that were stored. */
  done(blocks: number): void
  /** Blocks in a second, over the last ten; null where none were stored. */
  perSecond(): number | null
  /** Processor time of a block in milliseconds, later ones counting more; null before the first. */
  costMs(): number | null
}

const maxBatch = 64
/** A job of about this much processor time is worth its way, and does not hold others up. */
const jobMs = 40
const windowMs = 10_000
/** How much the newest job counts. */
const newestShare = 0.2

/** Jobs of one View at a time: one runs while the results of another are stored. New blocks wait for neither. */
const maxJobs = 2

/** How many may run. What has not computed a block yet may never do so: it shows that first. */
export function mostJobs(
  { costMs }: Pick<Pace, 'costMs'>,
  { priority }: Pick<Work, 'priority'>,
): number {
  if (costMs() === null) return 1
  return priority === 'live' ? maxJobs + 1 : maxJobs
}

export function createPace(nowMs: () => number): Pace {
  let batch = 4
  let cost: number | null = null
  const recent: { readonly atMs: number; readonly blocks: number }[] = []
  return {
    batch: () => batch,
    ran: ({ asked, seen, processorMs }) => {
      const each = processorMs / Math.max(1, seen)
      cost = cost === null ? each : cost + newestShare * (each - cost)
      const fitting = Math.floor(jobMs / Math.max(each, jobMs / maxBatch))
      const most = seen < asked ? seen : batch * 2
      batch = Math.max(1, Math.min(maxBatch, most, fitting))
    },
    alone: () => {
      batch = 1
    },
    done: (blocks) => {
      const now = nowMs()
      // Nobody may ask for the rate of a View that only gets new blocks.
      while ((recent[0]?.atMs ?? now) < now - windowMs) recent.shift()
      recent.push({ atMs: now, blocks })
    },
    perSecond: () => {
      const now = nowMs()
      const counted = recent.filter(({ atMs }) => atMs > now - windowMs)
      const [first] = counted
      if (first === undefined) return null
      const blocks = counted.reduce((sum, each) => sum + each.blocks, 0)
      return blocks / Math.max(1, (now - first.atMs) / 1_000)
    },
    costMs: () => cost,
  }
}
