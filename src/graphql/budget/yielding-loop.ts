/**
 * Going through many items without keeping the thread: other requests run in between where it is
 * their turn. Nothing is awaited for an item that does not ask for it, as that takes longer than most.
 */
import type { QueryBudget } from './query-budget.ts'

type YieldBudget = Pick<QueryBudget, 'shouldYield' | 'yieldThread'>

/** Does something with each item, one after the other. */
export async function visitYielding<T>(
  budget: YieldBudget,
  items: Iterable<T>,
  visit: (item: T) => void | Promise<void>,
): Promise<void> {
  for (const item of items) {
    const visiting = visit(item)
    if (visiting instanceof Promise) await visiting
    if (budget.shouldYield()) await budget.yieldThread()
  }
}

/** Like map, one after the other. */
export async function mapYielding<T, R>(
  budget: YieldBudget,
  items: Iterable<T>,
  toResult: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  for (const item of items) {
    const result = toResult(item, results.length)
    results.push(result instanceof Promise ? await result : result)
    if (budget.shouldYield()) await budget.yieldThread()
  }
  return results
}
