/**
 * Keys that wait for work, each once: the urgent ones first, otherwise in the order in which they came. One that is
 * less urgent has its turn before those that came so much later, since else who changes resources all the time would
 * keep all others from being worked on. A key that is added while it is worked on waits until that is over.
 */

/** `user`: a user changed what is wanted. `owned`: something we made changed. `resync`: it is time. */
export type Urgency = 'user' | 'owned' | 'resync'

const urgencies: readonly Urgency[] = ['user', 'owned', 'resync']

/** How much later a key that is more urgent may have come and still goes first. A start has thousands that are due. */
const patienceMs: Readonly<Record<Urgency, number>> = { user: 0, owned: 10_000, resync: 60_000 }

/** A key that is taken out to be worked on. */
export interface WorkItem {
  readonly key: string
  /** How long it waited. */
  readonly waitedMs: number
}

export interface WorkQueue {
  /** One that waits already keeps the higher urgency. */
  add(key: string, urgency: Urgency): void
  /** The next key that no worker has; null where there is none. */
  take(): WorkItem | null
  /** The work on a key is over. */
  done(key: string): void
  /** Keys that wait, also those whose turn comes after the running work on them. */
  depth(): number
  /** For each key that is being worked on, since when, in milliseconds. */
  runningForMs(): number[]
}

interface Waiting {
  readonly urgency: Urgency
  readonly sinceMs: number
}

/** `nowMs` is a clock that never goes back. */
export function createWorkQueue(nowMs: () => number = () => performance.now()): WorkQueue {
  const lanes: Readonly<Record<Urgency, Map<string, Waiting>>> = {
    user: new Map(),
    owned: new Map(),
    resync: new Map(),
  }
  /** By key, since when. */
  const running = new Map<string, number>()
  const again = new Map<string, Waiting>()

  const enqueue = (key: string, waiting: Waiting): void => {
    for (const urgency of urgencies) {
      if (lanes[urgency].has(key) && isAtLeast(urgency, waiting.urgency)) return
    }
    const known = urgencies.map((urgency) => lanes[urgency].get(key)).find((found) => found)
    for (const urgency of urgencies) lanes[urgency].delete(key)
    lanes[waiting.urgency].set(key, {
      urgency: waiting.urgency,
      sinceMs: known?.sinceMs ?? waiting.sinceMs,
    })
  }
  return {
    add(key, urgency) {
      const waiting = { urgency, sinceMs: nowMs() }
      if (!running.has(key)) return enqueue(key, waiting)
      const known = again.get(key)
      if (known === undefined || !isAtLeast(known.urgency, urgency)) again.set(key, waiting)
    },
    take() {
      const firsts = urgencies.flatMap((urgency): [string, Waiting][] => {
        const [first] = lanes[urgency]
        return first === undefined ? [] : [first]
      })
      const [next] = firsts.toSorted(([, a], [, b]) => dueOf(a) - dueOf(b))
      if (next === undefined) return null
      const [key, { urgency, sinceMs }] = next
      lanes[urgency].delete(key)
      running.set(key, nowMs())
      return { key, waitedMs: nowMs() - sinceMs }
    },
    done(key) {
      running.delete(key)
      const waiting = again.get(key)
      again.delete(key)
      if (waiting !== undefined) enqueue(key, waiting)
    },
    depth: () => urgencies.reduce((sum, urgency) => sum + lanes[urgency].size, again.size),
    runningForMs: () => [...running.values()].map((sinceMs) => nowMs() - sinceMs),
  }
}

function dueOf({ urgency, sinceMs }: Waiting): number {
  return sinceMs + patienceMs[urgency]
}

function isAtLeast(urgency: Urgency, other: Urgency): boolean {
  return urgencies.indexOf(urgency) <= urgencies.indexOf(other)
}
