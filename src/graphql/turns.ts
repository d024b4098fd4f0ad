/**
 * Shares the thread between requests: whoever has worked for a slice queues up again, and one turn
 * of the event loop resumes one request, so that health checks, gossip and short queries get
 * through between slices however many long queries there are.
 */

/** How long a request may work before it lets others have a turn. */
export const sliceMs = 4

/** The queue of requests that wait to go on. */
export interface Turns {
  /** True when somebody waits; a request that starts then should queue up as well. */
  isBusy(): boolean
  /** Resolves in a later turn of the event loop, after those who asked before. */
  next(): Promise<void>
}

/** An empty queue; one for each thread that answers queries. */
export function createTurns(): Turns {
  const waiting: (() => void)[] = []
  const resumeOne = (): void => {
    const resume = waiting.shift()
    if (waiting.length > 0) setImmediate(resumeOne)
    resume?.()
  }
  return {
    isBusy: () => waiting.length > 0,
    next: () =>
      new Promise((resolve) => {
        if (waiting.push(resolve) === 1) setImmediate(resumeOne)
      }),
  }
}
