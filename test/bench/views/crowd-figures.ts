/** What Views cost that a block has nothing for, in a process that does only this and is started as our programs are. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nodeOptions } from '../../../src/service/contract.ts'
import { type Figure, show } from '../figure.ts'

const script = fileURLToPath(new URL('crowd-run.ts', import.meta.url))
const crowd = 100

export function crowdFigure(): Figure {
  const args = [...nodeOptions, script, String(crowd)]
  const { ownMs, lensMs } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8' }),
  ) as { readonly ownMs: number; readonly lensMs: number }
  return {
    name: `Views, processor time of all threads for a new block: ${crowd} that match nothing, together`,
    value: ownMs + lensMs,
    unit: 'ms',
    goal: 2,
    from: `${show(lensMs)} ms in the lens process, ${show(ownMs)} ms outside`,
  }
}
