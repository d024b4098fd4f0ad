/** How long code would wait with `node:timers/promises`, in its tests, which do not. */
import { syncBuiltinESMExports } from 'node:module'
import type { TestContext } from 'node:test'
import timers from 'node:timers/promises'

/** Until the end of the test waits are over by the next turn; each one is in the list, in ms. A random number is 0. */
export function recordWaits(t: TestContext): readonly number[] {
  const waits: number[] = []
  t.mock.method(Math, 'random', () => 0)
  t.mock.method(timers, 'setTimeout', async (ms: number) => {
    waits.push(ms)
    await timers.setImmediate()
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return waits
}
