/**
 * Top-k selection: keeps the first `capacity` items of an order in memory for so many only, in a binary
 * heap with the last of them on top.
 */
import type { QueryBudget } from '../budget/query-budget.ts'
import { sortInSlices } from './sort.ts'

/** Items of which the first ones in an order are kept. */
interface TopK<T> {
  readonly size: number
  /** Returns the item that was dropped, which may be this one; undefined where all are kept. */
  add(item: T): T | undefined
  /** The kept items in order. */
  sorted(budget: QueryBudget): Promise<T[]>
}

/** An empty collection; `capacity` may be infinite. */
export function createTopK<T>(capacity: number, compare: (a: T, b: T) => number): TopK<T> {
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
    sorted: (budget) => sortInSlices(budget, heap, compare),
  }
}
