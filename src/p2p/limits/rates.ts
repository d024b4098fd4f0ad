/**
 * How much of something each remote may use a second: token buckets, which outlive connections, so
 * that connecting again fills nothing up.
 */
import { remember } from '../../remember.ts'
import { type Remote, type Shares, sharesOf } from './remote.ts'

export interface Rates {
  /** Takes `amount` from the remote's budgets; false, and nothing taken, when one has less. */
  take(remote: Remote, amount: number): boolean
  /**
   * Takes `amount` although it may not be there yet; returns the milliseconds until it is. Null, and
   * nothing taken, when these are more than `maxWaitMs`, which is unlimited by default.
   */
  owe(remote: Remote, amount: number, maxWaitMs?: number): number | null
}

interface RateOptions {
  /** Remotes that are remembered; the least recently seen is forgotten first. */
  readonly maxRemotes: number
  /** Seconds' worth that may be taken at once; `defaultBurstSeconds` by default. */
  readonly burstSeconds?: number
}

/** Seconds' worth that may be taken at once where nothing else is said. */
export const defaultBurstSeconds = 4

interface Bucket {
  tokens: number
  at: number
}

/** Full buckets for everybody, `shares` a second. `now` is a clock in milliseconds that never jumps. */
export function createRates(
  shares: Shares,
  { maxRemotes, burstSeconds = defaultBurstSeconds }: RateOptions,
  now: () => number = () => performance.now(),
): Rates {
  const buckets = new Map<string, Bucket>()

  /** What is in the bucket now. */
  const level = (key: string, perSecond: number): number => {
    const bucket = buckets.get(key)
    const capacity = perSecond * burstSeconds
    if (bucket === undefined || perSecond === Number.POSITIVE_INFINITY) return capacity
    return Math.min(capacity, bucket.tokens + ((now() - bucket.at) / 1_000) * perSecond)
  }

  const spend = (remote: Remote, amount: number): void => {
    for (const { key, size } of sharesOf(remote, shares)) {
      remember(buckets, key, { tokens: level(key, size) - amount, at: now() }, maxRemotes)
    }
  }

  return {
    take: (remote, amount) => {
      const isThere = sharesOf(remote, shares).every(({ key, size }) => level(key, size) >= amount)
      if (isThere) spend(remote, amount)
      return isThere
    },
    owe: (remote, amount, maxWaitMs = Number.POSITIVE_INFINITY) => {
      const waits = sharesOf(remote, shares).map(({ key, size }) => {
        const missing = amount - level(key, size)
        return missing > 0 ? (missing / size) * 1_000 : 0
      })
      const waitMs = Math.max(...waits)
      if (waitMs > maxWaitMs) return null
      spend(remote, amount)
      return waitMs
    },
  }
}
