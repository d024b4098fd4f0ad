/**
 * Keeps the smallest `capacity` of the items it is shown, in memory for so many only: a binary heap
 * with the largest of them on top.
 */
export interface Smallest<T> {
  readonly size: number
  add(item: T): void
  /** The kept items in order; the collection is spent afterwards. */
  sorted(): T[]
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
      } else if (capacity > 0 && compare(item, at(0)) < 0) {
        heap[0] = item
        sink()
      }
    },
    sorted: () => heap.sort(compare),
  }
}
