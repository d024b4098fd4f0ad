import type { TestContext } from 'node:test'

/** The time of `performance.now` in milliseconds, which passes as the test says. */
export function clockOf(t: TestContext, startMs = 1_000_000): { pass(ms: number): void } {
  let nowMs = startMs
  t.mock.method(performance, 'now', () => nowMs)
  return {
    pass: (ms) => {
      nowMs += ms
    },
  }
}
