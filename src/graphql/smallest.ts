/**
 * Keeps the smallest `capacity` of the items it is shown, in memory for so many only: a binary heap
 * with the largest of them on top.
 */
import { sortInTurns } from './sort.ts'
import type { Work } from './work.ts'

/** Items of which the smallest are kept. */
export interface Smallest<T> {
  readonly size: number
  /** Answers what is not kept any longer, which may be the item itself; undefined where all are. */
  add(item: T): T | undefined
  /** The kept items in order. */
  sorted(work: Work): Promise<T[]>
}

/** An empty collection; `capacity` may be infinite. */
export function createSmallest<T>(capacity: number, compare: (a: T, b: T) => number): Smallest<T> {
  const heap: T[] = []
  const isAbove = (a: number, b: number): boolean => compare(at(a), at(b)) > 0

  function at(index: number): T {
    return heap[index] as T
  }
  function swap(a: number, b: number): void {
    const kept = at(a)
    heap[a] = at(b)
    heap[b] = kept
  }
  function rise(index: number): void {
    for (let child = index; child > 0; ) {
      const parent = (child - 1) >> 1
      if (!isAbove(child, parent)) return
      swap(child, parent)
      child = parent
    }
  }
  function sink(): void {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1
      if (left >= heap.length) return
      const right = left + 1
      const larger = right < heap.length && isAbove(right, left) ? right : left
      if (!isAbove(larger, parent)) return
      swap(larger, parent)
      parent = larger
    }
  }
  return {
    get size() {
      return heap.length
    },
    add(item) {
      if (heap.length < capacity) {
        heap.push(item)
        if (Number.isFinite(capacity)) rise(heap.length - 1)
        return undefined
      }
      if (capacity === 0 || compare(item, at(0)) >= 0) return item
      const largest = at(0)
      heap[0] = item
      sink()
      return largest
    },
    sorted: (work) => sortInTurns(work, heap, compare),
  }
}
