/** A clock on which waiting takes no time. */
import type { TestContext } from 'node:test'

/** So much time passes whenever somebody looks at the clock. */
export function hurry(t: TestContext, stepMs: number): void {
  let now = 0
  t.mock.method(performance, 'now', () => {
    now += stepMs
    return now
  })
}
