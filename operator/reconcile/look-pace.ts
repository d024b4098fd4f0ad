/**
 * How often Secrets are looked at, of whose changes nobody tells. With few resources each is looked at
 * every eight seconds. With many they take turns, so that the API server is asked no more than some
 * twenty times a second, however many there are: half of it for all, and half for those that wait.
 */

const shortestMs = 8_000
const shortestWaitingMs = 5_000
/** A look is four requests or so. */
const msPerResource = 400

/**
 * Milliseconds between two looks at a resource. `isWaiting` says whether it waits for something that a
 * look would find, such as a Secret that is missing; one that is gone waits no more.
 */
export type LookPace = (owner: string, isWaiting: boolean) => number

/** `count` says how many resources there are. */
export function createLookPace(count: () => number): LookPace {
  const waiting = new Set<string>()
  return (owner, isWaiting) => {
    if (!isWaiting) {
      waiting.delete(owner)
      return Math.max(shortestMs, msPerResource * count())
    }
    waiting.add(owner)
    return Math.max(shortestWaitingMs, msPerResource * waiting.size)
  }
}
