/** Timers that are left. */
import process from 'node:process'
import type { TestContext } from 'node:test'

/** How many timers keep this program from ending. */
export function runningTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}

const sources = new URL('../../../src/', import.meta.url).pathname

/** The place in our sources that asked for a timer; null where a library did. */
function placeOf({ stack = '' }: Error): string | null {
  const [, , ...callers] = stack.split('\n')
  const caller = callers.find((line) => !line.includes('node:internal/test_runner/')) ?? ''
  return caller.includes(sources) ? caller.slice(caller.indexOf(sources) + sources.length) : null
}

/** Where timers were begun that were not ended, nor are over by themselves. */
export function watchTimers(t: TestContext): () => string[] {
  const running = new Map<unknown, string>()
  const { setInterval: repeat, clearInterval: end, setTimeout: once } = globalThis
  const note = (timer: NodeJS.Timeout, place: string | null): NodeJS.Timeout => {
    if (place !== null) running.set(timer, place)
    return timer
  }
  t.mock.method(globalThis, 'setInterval', (...given: Parameters<typeof repeat>) =>
    note(repeat(...given), placeOf(new Error())),
  )
  type Timed = (
    run: (...values: unknown[]) => void,
    ...given: [ms?: number, ...unknown[]]
  ) => unknown
  const later: Timed = (run, ...given) => {
    const over = (...values: unknown[]): void => {
      running.delete(timer)
      run(...values)
    }
    const timer = note(once(over, ...given), placeOf(new Error()))
    return timer
  }
  t.mock.method(globalThis, 'setTimeout', later)
  for (const name of ['clearInterval', 'clearTimeout'] as const)
    t.mock.method(globalThis, name, (timer: Parameters<typeof end>[0]) => {
      running.delete(timer)
      end(timer)
    })
  return () => [...running.values()]
}
