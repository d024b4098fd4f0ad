/** `node test/bench/views/view-run.ts` prints the figures of `view-figures.ts` as JSON. */
import { viewFigures } from './view-figures.ts'

process.stdout.write(`${JSON.stringify(await viewFigures())}\n`)
