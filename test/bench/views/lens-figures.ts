/** What a lens costs, in a process as the Host starts it for lenses: one core, no optimising compiler. */
import { type Figure, show } from '../figure.ts'
import { runAlone } from './own-process.ts'

/** Processor time of `decode_log`, transport included. */
export function lensFigure(): Figure {
  const { microseconds, bytes } = runAlone<{
    readonly microseconds: number
    readonly bytes: number
  }>('lens-run.ts', { options: ['--liftoff-only'] })
  return {
    name: 'decode_log: processor time for 1,000 logs, transport included',
    value: microseconds,
    unit: 'ms',
    goal: 5,
    stretch: 1,
    from: `${show(1_000_000 / microseconds)} logs/s on one core, ${show(bytes)} bytes a row`,
  }
}
