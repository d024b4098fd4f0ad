/** What Views cost that a block has nothing for. */
import { type Figure, show } from '../figure.ts'
import { runAlone } from './own-process.ts'

const crowd = 100

export function crowdFigure(): Figure {
  const { ownMs, lensMs } = runAlone<{ readonly ownMs: number; readonly lensMs: number }>(
    'crowd-run.ts',
    { args: [String(crowd)] },
  )
  return {
    name: `Views, processor time of all threads for a new block: ${crowd} that match nothing, together`,
    value: ownMs + lensMs,
    unit: 'ms',
    goal: 2,
    from: `${show(lensMs)} ms in the lens process, ${show(ownMs)} ms outside`,
  }
}
