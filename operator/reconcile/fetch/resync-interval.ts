/**
 * How often a resource is reconciled though nothing that is watched changed: then Secrets are read again, which
 * are not watched. With few resources that is every five seconds for each. With many they take turns, so that
 * there are five a second at most, however many resources there are: half of them for all, and half for those that
 * wait. Each takes two to seven requests, most of them for Generators with an execution node's key and a network
 * policy, so the API server gets no more than 35 requests a second.
 */

/** Two and a half in a second. */
const msPerResource = 400

/** An owner is named as in `observedName`. */
export interface ResyncInterval {
  /** Milliseconds between two resyncs of a resource. */
  intervalMs(owner: string): number
  /** It waits for something that a resync would find, such as a Secret that is missing. */
  beginWaiting(owner: string): void
  /** It waits no more, or is gone. */
  endWaiting(owner: string): void
}

/** `shortestMs` is the interval of few resources; `count` says how many there are. */
export function createResyncInterval(shortestMs: number, count: () => number): ResyncInterval {
  const waiting = new Set<string>()
  return {
    intervalMs: (owner) =>
      Math.max(shortestMs, msPerResource * (waiting.has(owner) ? waiting.size : count())),
    beginWaiting: (owner) => void waiting.add(owner),
    endWaiting: (owner) => void waiting.delete(owner),
  }
}
