/** A merge sort that yields the thread in between: short runs first, which are then merged two by two. */
import type { QueryBudget } from '../budget/query-budget.ts'

/** Items sorted at once: well below a millisecond. */
const runLength = 256

/** The items in a new array in order; equal ones stay in the order in which they came. */
export async function sortInSlices<T>(
  budget: QueryBudget,
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Promise<T[]> {
  let sorted = items.slice()
  for (let at = 0; at < items.length; at += runLength) {
    const run = items.slice(at, at + runLength).sort(compare)
    for (let index = 0; index < run.length; index++) sorted[at + index] = run[index] as T
    await budget.yieldIfDue()
  }
  for (let length = runLength; length < items.length; length *= 2) {
    const merged: T[] = []
    for (let at = 0; at < items.length; at += 2 * length) {
      await mergeRuns(budget, sorted, at, length, merged, compare)
    }
    sorted = merged
  }
  return sorted
}

/** Adds two neighbouring runs of `items` to `merged`, which the first of them begins at `start`. */
async function mergeRuns<T>(
  budget: QueryBudget,
  items: readonly T[],
  start: number,
  length: number,
  merged: T[],
  compare: (a: T, b: T) => number,
): Promise<void> {
  const middle = Math.min(start + length, items.length)
  const end = Math.min(middle + length, items.length)
  let [left, right] = [start, middle]
  while (left < middle || right < end) {
    const isLeft =
      right >= end || (left < middle && compare(items[left] as T, items[right] as T) <= 0)
    merged.push(items[isLeft ? left++ : right++] as T)
    if (budget.shouldYield()) await budget.yieldThread()
  }
}
