/** A slot for the latest value, between a producer and a consumer that may be slower. */

interface LatestValue<T> {
  put(value: T): void
  /** The next value not yet taken; null after `end`. */
  take(): Promise<T | null>
  end(): void
  fail(error: unknown): void
}

/** Holds one value: a newer one replaces it, an equal one is dropped. */
export function createLatestValue<T>(isSame: (a: T, b: T) => boolean): LatestValue<T> {
  let last: T | null = null
  let fresh = false
  let ended = false
  let failure: { readonly error: unknown } | null = null
  let changed = Promise.withResolvers<void>()
  const wake = (): void => changed.resolve()
  return {
    put(value) {
      if (last !== null && isSame(last, value)) return
      last = value
      fresh = true
      wake()
    },
    async take() {
      while (!fresh && !ended && failure === null) {
        changed = Promise.withResolvers()
        await changed.promise
      }
      if (failure !== null) throw failure.error
      if (ended) return null
      fresh = false
      return last
    },
    end() {
      ended = true
      wake()
    },
    fail(error) {
      failure = { error }
      wake()
    },
  }
}
