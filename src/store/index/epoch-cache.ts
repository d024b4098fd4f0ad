/**
 * What readers keep of single heights: it stays true until a block is removed, which the epoch of
 * the store's state counts. A snapshot from before the last removal neither reads nor fills it.
 */
import { LRUCache } from 'lru-cache'

export interface EpochCache<V> {
  /** The cached value of a height, or what `read` returns; undefined is not cached. */
  read(epoch: number, height: number, read: () => V | undefined): V | undefined
}

/** An empty cache of things that together weigh at most `maxWeight`. */
export function createEpochCache<V extends object>(
  maxWeight: number,
  weightOf: (value: V) => number,
): EpochCache<V> {
  const kept = new LRUCache<number, V>({ maxSize: maxWeight, sizeCalculation: weightOf })
  let current = 0
  return {
    read: (epoch, height, read) => {
      if (epoch > current) {
        kept.clear()
        current = epoch
      }
      if (epoch < current) return read()
      const known = kept.get(height)
      if (known !== undefined) return known
      const value = read()
      if (value !== undefined) kept.set(height, value)
      return value
    },
  }
}
