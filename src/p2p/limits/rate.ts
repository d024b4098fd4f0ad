/**
 * How much of something each peer may use a second: a token bucket a peer, with four seconds'
 * worth at once. A bucket outlives the connection, so that connecting anew fills nothing up.
 */
import { remember } from './remember.ts'

export interface RateLimit {
  /** Takes `amount` from the peer's bucket; false when there is not enough, which also refills it. */
  take(peer: string, amount: number): boolean
}

interface Bucket {
  tokens: number
  at: number
}

const burstSeconds = 4

/** Remembers at most `maxPeers`, the least recently seen first forgotten. `now` is a clock in ms. */
export function createRateLimit(
  perSecond: number,
  maxPeers: number,
  now: () => number = Date.now,
): RateLimit {
  const capacity = perSecond * burstSeconds
  const buckets = new Map<string, Bucket>()
  return {
    take: (peer, amount) => {
      const time = now()
      const bucket = buckets.get(peer) ?? { tokens: capacity, at: time }
      const regained = ((time - bucket.at) / 1000) * perSecond
      const left = Math.min(capacity, bucket.tokens + regained) - amount
      // Full again after an excess, so that one excess counts as one fault.
      remember(buckets, peer, { tokens: left < 0 ? capacity : left, at: time }, maxPeers)
      return left >= 0
    },
  }
}
