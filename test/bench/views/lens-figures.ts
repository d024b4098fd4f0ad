/** What a lens costs, in a process as the Host starts it for lenses: one core, no optimising compiler. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Figure, show } from '../figure.ts'

const script = fileURLToPath(new URL('lens-run.ts', import.meta.url))

/** Processor time of `decode_log`, transport included. */
export function lensFigure(): Figure {
  const output = execFileSync(process.execPath, ['--liftoff-only', script], { encoding: 'utf8' })
  const { microseconds, bytes } = JSON.parse(output) as {
    readonly microseconds: number
    readonly bytes: number
  }
  return {
    name: 'decode_log: processor time for 1,000 logs, transport included',
    value: microseconds,
    unit: 'ms',
    goal: 5,
    stretch: 1,
    from: `${show(1_000_000 / microseconds)} logs/s on one core, ${show(bytes)} bytes a row`,
  }
}
