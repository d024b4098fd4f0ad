/** How checks turned out, as doctor commands show it. */
import { styleOf } from './style.ts'
import type { Terminal } from './terminal.ts'

type Outcome = 'passed' | 'warning' | 'failed'

interface Check {
  readonly outcome: Outcome
}

const colours = { passed: 'green', warning: 'yellow', failed: 'red' } as const

/** One word in its colour, of the same width for all. */
export function outcomeText(terminal: Terminal, { outcome }: Check): string {
  return styleOf(terminal)(colours[outcome], outcome.padEnd(7))
}

export function countFailed(checks: readonly Check[]): number {
  return checks.filter(({ outcome }) => outcome === 'failed').length
}
