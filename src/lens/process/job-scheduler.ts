/**
 * Which job is next: live blocks before queries before back-fill; among Views of one priority, the one that will have
 * taken the least processor time after it, if it takes what its last one took: of those that took as much, no quick one
 * waits for slow ones. With several threads, one is kept from what can wait and from any one View.
 */
import { ServiceError } from '../../errors.ts'

const priorities = ['live', 'query', 'backfill'] as const
export type Priority = (typeof priorities)[number]

interface ScheduledJob {
  /** Key of the View. */
  readonly view: string
  readonly priority: Priority
}

export interface JobScheduler<J extends ScheduledJob> {
  /** @throws ServiceError `LENS_BUSY` where too much of the View waits. */
  add(job: J): void
  /** Takes out a job that waits; false where it does not. */
  remove(job: J): boolean
  /** Takes the next job, given those under way; undefined where none may start. */
  next(running: readonly J[]): J | undefined
  /** Adds processor time that a View took. */
  charge(view: string, processorMs: number): void
  /** Takes out all jobs. */
  clear(): J[]
  /** Whether a job of such a View waits. */
  isWaiting(matches: (view: string) => boolean): boolean
  readonly size: number
}

/** Processor time of a View in milliseconds. */
interface Usage {
  readonly total: number
  readonly lastJob: number
}

/** Jobs of one View that wait. */
const maxWaiting = 1_000
/** Views whose processor time is remembered. */
const maxRemembered = 1_000

/** `threads` is how many jobs may be under way. */
export function createJobScheduler<J extends ScheduledJob>(threads: number): JobScheduler<J> {
  const waiting = new Map<Priority, Map<string, J[]>>(priorities.map((each) => [each, new Map()]))
  const used = new Map<string, Usage>()
  /** What the View that was last chosen had used: one that comes back begins there, with no credit. */
  let present = 0
  const most = Math.max(1, threads - 1)

  const usedBy = (view: string): number => used.get(view)?.total ?? 0
  const lastOf = (view: string): number => used.get(view)?.lastJob ?? 0
  const usedAfter = (view: string): number => usedBy(view) + lastOf(view)
  const waitingOf = (view: string): number =>
    [...waiting.values()].reduce((sum, queues) => sum + (queues.get(view)?.length ?? 0), 0)
  const allQueues = (): J[][] => [...waiting.values()].flatMap((queues) => [...queues.values()])
  const take = (job: J): void => {
    const queues = waiting.get(job.priority)
    const queue = queues?.get(job.view) ?? []
    queue.splice(queue.indexOf(job), 1)
    if (queue.length === 0) queues?.delete(job.view)
  }
  const isQueued = (job: J): boolean =>
    waiting.get(job.priority)?.get(job.view)?.includes(job) === true

  return {
    get size() {
      return allQueues().reduce((sum, queue) => sum + queue.length, 0)
    },
    add(job) {
      const { view, priority } = job
      if (waitingOf(view) >= maxWaiting) throw busyError(view)
      used.set(view, { total: Math.max(usedBy(view), present), lastJob: lastOf(view) })
      const queues = waiting.get(priority)
      const queue = queues?.get(view)
      if (queue === undefined) queues?.set(view, [job])
      else queue.push(job)
    },
    remove(job) {
      if (!isQueued(job)) return false
      take(job)
      return true
    },
    next(running) {
      for (const priority of priorities) {
        const late = running.filter((job) => job.priority !== 'live').length
        if (priority !== 'live' && late >= most) return undefined
        const views = [...(waiting.get(priority)?.keys() ?? [])].filter(
          (view) => running.filter((job) => job.view === view).length < most,
        )
        const view = views.toSorted((a, b) => usedAfter(a) - usedAfter(b))[0]
        const job = view === undefined ? undefined : waiting.get(priority)?.get(view)?.[0]
        if (job === undefined) continue
        present = Math.max(present, usedBy(job.view))
        take(job)
        return job
      }
      return undefined
    },
    charge(view, processorMs) {
      const before = used.get(view)?.total ?? present
      used.delete(view)
      used.set(view, { total: before + processorMs, lastJob: processorMs })
      const [oldest] = used.keys()
      if (used.size > maxRemembered && oldest !== undefined) used.delete(oldest)
    },
    clear() {
      const jobs = allQueues().flat()
      for (const job of jobs) take(job)
      return jobs
    },
    isWaiting: (matches) =>
      [...waiting.values()].some((queues) => [...queues.keys()].some(matches)),
  }
}

function busyError(view: string): ServiceError {
  return new ServiceError('LENS_BUSY', `${maxWaiting} jobs of one View wait for its lenses`, {
    facts: { view },
    remedy: 'Ask for less at once, or raise LENS_THREADS.',
  })
}
