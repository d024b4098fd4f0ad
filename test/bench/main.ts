/**
 * `npm run bench`: every figure of the performance table from one run, as ratios. With `--store`
 * only the store's own figures.
 */
import { type Figure, figureTable, summary } from './figure.ts'
import { lensFigure } from './lens-figures.ts'
import { loadFigures, pipelineFigures } from './pipeline-figures.ts'
import { queryFigures, reopenFigure } from './query-figures.ts'
import { startReplay } from './replay.ts'
import { growthFigure, pruningFigures } from './store-figures.ts'
import { openWorkload } from './workload.ts'

/** Blocks of the workload, and of a full retention window. */
const blocks = 1_000

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

async function programFigures(): Promise<Figure[]> {
  const workload = openWorkload('full', blocks)
  say(
    `a full block: ${workload.jsonBytes} bytes of JSON, ${workload.gzipBytes} bytes gzipped (at least 55000)`,
  )
  const replay = await startReplay(workload, blocks)
  const { figures, pipeline, peerId } = await pipelineFigures(replay)
  const idle = await queryFigures(pipeline.host)
  const load = await loadFigures(replay, pipeline, blocks, idle.idleMs)
  const settings = { BOOTSTRAP_PEERS: pipeline.generator.peerAddress(peerId) }
  const reopened = await reopenFigure(pipeline.host, settings, idle.idleMs)
  await pipeline.close()
  await replay.close()
  return [...figures, ...idle.figures, ...load, reopened]
}

async function storeFigures(): Promise<Figure[]> {
  return [await growthFigure(), ...(await pruningFigures())]
}

const storeOnly = process.argv.includes('--store')
const figures = [
  ...(storeOnly ? [] : [...(await programFigures()), lensFigure()]),
  ...(await storeFigures()),
]
say(figureTable(figures))
say(summary(figures))
