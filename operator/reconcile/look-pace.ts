/**
 * How often Secrets are looked at, of whose changes nobody tells. With few resources each is looked at
 * every five seconds. With many they take turns, so that five looks are made in a second at most,
 * however many there are: half of it for all, and half for those that wait. A look is two to six requests,
 * most of them for Generators with an execution node's key and a network policy, so the API server is asked
 * no more than thirty times a second.
 */

const shortestMs = 5_000
/** Two and a half looks in a second. */
const msPerResource = 400

/** How often each resource is looked at; an owner is named as in `observedName`. */
export interface LookPace {
  /** Milliseconds between two looks at a resource. */
  intervalMs(owner: string): number
  /** It waits for something that a look would find, such as a Secret that is missing. */
  beginWaiting(owner: string): void
  /** It waits no more, or is gone. */
  endWaiting(owner: string): void
}

/** `count` says how many resources there are. */
export function createLookPace(count: () => number): LookPace {
  const waiting = new Set<string>()
  return {
    intervalMs: (owner) =>
      Math.max(shortestMs, msPerResource * (waiting.has(owner) ? waiting.size : count())),
    beginWaiting: (owner) => void waiting.add(owner),
    endWaiting: (owner) => void waiting.delete(owner),
  }
}
