/** Going through the rows of a level without keeping the thread. */
import type { Run } from './run.ts'

/** Like map, one after the other, yielding the thread in between. */
export async function eachOf<T, R>(
  { session: { budget } }: Run,
  items: readonly T[],
  toResult: (item: T) => R | Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  for (const item of items) {
    const result = toResult(item)
    results.push(result instanceof Promise ? await result : result)
    if (budget.shouldYield()) await budget.yieldThread()
  }
  return results
}
