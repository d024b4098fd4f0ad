/**
 * `npm run bench`: every figure of the performance table from one run, as ratios. With `--programs`, `--views`,
 * `--app` or `--store` only those of these.
 */
import { appFigures } from './app-figures.ts'
import { type Figure, figureTable, summary } from './figure.ts'
import { loadFigures, pipelineFigures } from './pipeline-figures.ts'
import { queryFigures, reopenFigure } from './query-figures.ts'
import { startReplay } from './replay.ts'
import { growthFigure, pruningFigures } from './store-figures.ts'
import { crowdFigure } from './views/crowd-figures.ts'
import { lensFigure } from './views/lens-figures.ts'
import { runAlone } from './views/own-process.ts'
import { streamFigures } from './views/stream-figures.ts'
import { viewPipelineFigures } from './views/view-pipeline.ts'
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

async function lensFigures(): Promise<Figure[]> {
  return [
    lensFigure(),
    ...runAlone<Figure[]>('view-run.ts'),
    crowdFigure(),
    ...(await streamFigures()),
    ...(await viewPipelineFigures()),
  ]
}

async function storeFigures(): Promise<Figure[]> {
  return [await growthFigure(), ...(await pruningFigures())]
}

const parts = {
  programs: programFigures,
  views: lensFigures,
  app: appFigures,
  store: storeFigures,
}
const chosen = Object.entries(parts).filter(([name]) => process.argv.includes(`--${name}`))
const figures: Figure[] = []
for (const [, measure] of chosen.length > 0 ? chosen : Object.entries(parts))
  figures.push(...(await measure()))
say(figureTable(figures))
say(summary(figures))
