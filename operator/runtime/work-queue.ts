/**
 * Keys that wait for work, each once: the urgent ones first, otherwise in the order in which they came. One that is
 * less urgent and has waited for long has each fourth turn, since else who changes resources all the time would
 * keep all others from being worked on. For the same reason a namespace goes first of which the fewest are worked on. A key
 * that is added while it is worked on waits until that is over.
 */
import { parseKey } from './client/resource-type.ts'

/** `user`: a user changed what is wanted. `owned`: something we made changed. `resync`: it is time. */
export type Urgency = 'user' | 'owned' | 'resync'

const urgencies: readonly Urgency[] = ['user', 'owned', 'resync']

/** How long a key waits until it has its turn though others are more urgent. A start has thousands that are due. */
const patienceMs: Readonly<Record<Urgency, number>> = {
  user: Number.POSITIVE_INFINITY,
  owned: 10_000,
  resync: 60_000,
}
const lateEvery = 4

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
  readonly namespace: string
}

/** `nowMs` is a clock that never goes back. */
export function createWorkQueue(nowMs: () => number = () => performance.now()): WorkQueue {
  const lanes: Readonly<Record<Urgency, Map<string, Waiting>>> = {
    user: new Map(),
    owned: new Map(),
    resync: new Map(),
  }
  /** How many keys of a namespace wait. */
  const waitingIn = new Map<string, number>()
  /** By key, since when. */
  const running = new Map<string, number>()
  const again = new Map<string, Waiting>()

  let turn = 1

  const remove = (key: string): Waiting | undefined => {
    const known = urgencies.map((urgency) => lanes[urgency].get(key)).find((found) => found)
    if (known === undefined) return undefined
    lanes[known.urgency].delete(key)
    const left = (waitingIn.get(known.namespace) ?? 0) - 1
    if (left > 0) waitingIn.set(known.namespace, left)
    else waitingIn.delete(known.namespace)
    return known
  }
  const enqueue = (key: string, waiting: Waiting): void => {
    const { urgency, namespace } = waiting
    for (const higher of urgencies) {
      if (lanes[higher].has(key) && isAtLeast(higher, urgency)) return
    }
    const known = remove(key)
    lanes[urgency].set(key, { ...waiting, sinceMs: known?.sinceMs ?? waiting.sinceMs })
    waitingIn.set(namespace, (waitingIn.get(namespace) ?? 0) + 1)
  }
  /** How many of a namespace are worked on. */
  const runningIn = (): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>()
    for (const key of running.keys()) {
      const { namespace } = parseKey(key)
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
    }
    return counts
  }
  return {
    add(key, urgency) {
      const waiting = { urgency, sinceMs: nowMs(), namespace: parseKey(key).namespace }
      if (!running.has(key)) return enqueue(key, waiting)
      const known = again.get(key)
      if (known === undefined || !isAtLeast(known.urgency, urgency)) again.set(key, waiting)
    },
    take() {
      const counts = runningIn()
      const busy = [...counts].filter(([namespace]) => waitingIn.has(namespace))
      const fewest = busy.length < waitingIn.size ? 0 : Math.min(...busy.map(([, count]) => count))
      const isNext = ({ namespace }: Waiting): boolean => (counts.get(namespace) ?? 0) === fewest
      const firsts = urgencies.flatMap((urgency) => firstOf(lanes[urgency], isNext))
      const late = firsts
        .filter(([, waiting]) => dueOf(waiting) < nowMs())
        .toSorted(([, a], [, b]) => dueOf(a) - dueOf(b))
      const [next] = turn % lateEvery === 0 ? [...late, ...firsts] : firsts
      if (next === undefined) return null
      turn += 1
      const [key, { sinceMs }] = next
      remove(key)
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

function firstOf(
  lane: ReadonlyMap<string, Waiting>,
  isMeant: (waiting: Waiting) => boolean,
): [key: string, waiting: Waiting][] {
  for (const [key, waiting] of lane) if (isMeant(waiting)) return [[key, waiting]]
  return []
}

/** From when on it is late. */
function dueOf({ urgency, sinceMs }: Waiting): number {
  return sinceMs + patienceMs[urgency]
}

function isAtLeast(urgency: Urgency, other: Urgency): boolean {
  return urgencies.indexOf(urgency) <= urgencies.indexOf(other)
}
