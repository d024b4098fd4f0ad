/** Prefetches the next heights, and returns them in order. */

interface FetchAhead<T> {
  /**
   * The result for `height`; meanwhile up to `ahead` heights after it, not beyond `upTo`, are fetched.
   * Null when it was cancelled meanwhile.
   */
  take(height: number, upTo: number): Promise<T | null>
  /** Cancels all heights above this one. */
  cancelAbove(height: number): void
}

interface Fetching<T> {
  readonly result: Promise<T>
  readonly abort: AbortController
}

/** `fetch` must end when its signal is aborted. */
export function createFetchAhead<T>(
  ahead: number,
  fetch: (height: number, signal: AbortSignal) => Promise<T>,
): FetchAhead<T> {
  const fetching = new Map<number, Fetching<T>>()

  const start = (height: number): Fetching<T> => {
    const abort = new AbortController()
    const result = fetch(height, abort.signal)
    // `take` throws the failure; until then it must not count as an unhandled rejection.
    result.catch(() => undefined)
    const started = { result, abort }
    fetching.set(height, started)
    return started
  }

  return {
    async take(height, upTo) {
      const wanted = fetching.get(height) ?? start(height)
      for (let next = height + 1; next <= Math.min(upTo, height + ahead); next++)
        if (!fetching.has(next)) start(next)
      try {
        return await wanted.result
      } catch (error) {
        if (wanted.abort.signal.aborted) return null
        throw error
      } finally {
        if (fetching.get(height) === wanted) fetching.delete(height)
      }
    },
    cancelAbove(height) {
      for (const [number, { abort }] of fetching) {
        if (number <= height) continue
        fetching.delete(number)
        abort.abort()
      }
    },
  }
}
