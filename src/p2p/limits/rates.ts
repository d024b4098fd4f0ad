/**
 * How much of something each party may use a second: token buckets, which outlive connections, so
 * that connecting anew fills nothing up.
 */
import { budgetsOf, type Party, type Shares } from './party.ts'
import { remember } from './remember.ts'

export interface Rates {
  /** Takes `amount` from the party's budgets; false, and nothing taken, when one has less. */
  take(party: Party, amount: number): boolean
  /**
   * Takes `amount` although it may not be there yet; returns the milliseconds until it is. Null, and
   * nothing taken, when these are more than `maxWaitMs`, which is unlimited by default.
   */
  owe(party: Party, amount: number, maxWaitMs?: number): number | null
}

export interface RateOptions {
  /** Parties that are remembered; the least recently seen is forgotten first. */
  readonly maxParties: number
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
  { maxParties, burstSeconds = defaultBurstSeconds }: RateOptions,
  now: () => number = () => performance.now(),
): Rates {
  const buckets = new Map<string, Bucket>()

  /** What is in the bucket now. */
  const level = (key: string, perSecond: number): number => {
    const bucket = buckets.get(key)
    const capacity = perSecond * burstSeconds
    if (bucket === undefined || perSecond === Number.POSITIVE_INFINITY) return capacity
    return Math.min(capacity, bucket.tokens + ((now() - bucket.at) / 1000) * perSecond)
  }

  const spend = (party: Party, amount: number): void => {
    for (const { key, size } of budgetsOf(party, shares)) {
      remember(buckets, key, { tokens: level(key, size) - amount, at: now() }, maxParties)
    }
  }

  return {
    take: (party, amount) => {
      const isThere = budgetsOf(party, shares).every(({ key, size }) => level(key, size) >= amount)
      if (isThere) spend(party, amount)
      return isThere
    },
    owe: (party, amount, maxWaitMs = Number.POSITIVE_INFINITY) => {
      const waits = budgetsOf(party, shares).map(({ key, size }) => {
        const missing = amount - level(key, size)
        return missing > 0 ? (missing / size) * 1000 : 0
      })
      const waitMs = Math.max(...waits)
      if (waitMs > maxWaitMs) return null
      spend(party, amount)
      return waitMs
    },
  }
}
