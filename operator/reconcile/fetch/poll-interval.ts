/**
 * How often Secrets are polled, which are not watched. With few resources those of each are polled every five
 * seconds. With many they take turns, so that there are five polls a second at most, however many resources
 * there are: half of them for all, and half for those that wait. A poll is two to six requests, most of them
 * for Generators with an execution node's key and a network policy, so the API server gets no more than
 * thirty requests a second.
 */

const shortestMs = 5_000
/** Two and a half polls in a second. */
const msPerResource = 400

/** How often the inputs of each resource are polled; an owner is named as in `observedName`. */
export interface PollInterval {
  /** Milliseconds between two polls for a resource. */
  intervalMs(owner: string): number
  /** It waits for something that a poll would find, such as a Secret that is missing. */
  beginWaiting(owner: string): void
  /** It waits no more, or is gone. */
  endWaiting(owner: string): void
}

/** `count` says how many resources there are. */
export function createPollInterval(count: () => number): PollInterval {
  const waiting = new Set<string>()
  return {
    intervalMs: (owner) =>
      Math.max(shortestMs, msPerResource * (waiting.has(owner) ? waiting.size : count())),
    beginWaiting: (owner) => void waiting.add(owner),
    endWaiting: (owner) => void waiting.delete(owner),
  }
}
