/**
 * A token bucket: how much of something a peer may use a second, with four seconds' worth at once.
 */

export interface Bucket {
  /** Takes `amount`; false when there is not enough, and then nothing is taken. */
  take(amount: number): boolean
  /** Gives the full burst back, so that one excess counts as one fault. */
  refill(): void
}

const burstSeconds = 4

/** `now` is a clock in ms. */
export function createBucket(perSecond: number, now: () => number = Date.now): Bucket {
  const capacity = perSecond * burstSeconds
  let tokens = capacity
  let at = now()
  return {
    take: (amount) => {
      const time = now()
      tokens = Math.min(capacity, tokens + ((time - at) / 1000) * perSecond)
      at = time
      if (amount > tokens) return false
      tokens -= amount
      return true
    },
    refill: () => {
      tokens = capacity
    },
  }
}
