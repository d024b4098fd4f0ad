/** One thing after another, in the order in which they were asked for. */
import { untilAborted } from './until-aborted.ts'

/**
 * Begins `work` when everything that was asked for before is over, whatever came of it. Rejects with the
 * signal's reason as soon as there is one: work that has not begun never does, and work that has is to
 * heed the signal by itself.
 */
type Mutex = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** A mutex that is free. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work, signal) => {
    const turn = last.then(() => {
      signal?.throwIfAborted()
      return work()
    })
    last = turn.catch(() => undefined)
    return signal === undefined ? turn : untilAborted(turn, signal)
  }
}
