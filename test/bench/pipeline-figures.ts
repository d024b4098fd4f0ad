/** Generator and Host against the floor: sustained, from a cold start, on disk and in memory. */
import type { Program } from '../support/programs.ts'
import { type Figure, show } from './figure.ts'
import { measureFloor } from './floor.ts'
import { blockTime, type Pipeline, preparePipeline, untilQueryable } from './pipeline.ts'
import { openQueryClient } from './query-client.ts'
import type { Replay } from './replay.ts'
import { percentile, timed } from './statistics.ts'

/** Blocks of the run from a cold start. */
const coldBlocks = 240
/** Blocks before a sustained measurement begins. */
const warmUp = 40

/**
 * Leaves the pipeline of the cold start running with `coldBlocks` blocks, for what follows.
 */
export async function pipelineFigures(
  replay: Replay,
): Promise<{ figures: Figure[]; pipeline: Pipeline; peerId: string }> {
  await replay.moveHead(coldBlocks)
  const floor = await measureFloor(replay.url, warmUp)
  const first = await preparePipeline(replay)
  await first.generator.start()
  const generatorMs = await blockTime(first.generator, warmUp, coldBlocks)
  const peerId = (await first.generator.health()).p2p.self?.id ?? ''
  await first.host.start({ BOOTSTRAP_PEERS: first.generator.peerAddress(peerId) })
  const hostMs = await blockTime(first.host, warmUp, coldBlocks)
  await first.close()
  const pipeline = await preparePipeline(replay)
  const coldMs = await timed(async () => {
    const starting = [
      pipeline.generator.start(),
      pipeline.host.start({ BOOTSTRAP_PEERS: pipeline.generator.peerAddress(peerId) }),
    ]
    await Promise.all(starting)
    await untilQueryable(pipeline.host, coldBlocks)
  })
  const figures: Figure[] = [
    {
      name: 'Generator, sustained: wall time per full block / floor',
      value: generatorMs / floor,
      unit: 'x',
      goal: 2,
      stretch: 1.5,
      from: `${show(generatorMs)} ms / ${show(floor)} ms`,
    },
    {
      name: "Host: verify and apply a full block / Generator's wall time per block",
      value: hostMs / generatorMs,
      unit: 'x',
      goal: 1,
      stretch: 0.8,
      from: `${show(hostMs)} ms / ${show(generatorMs)} ms`,
    },
    {
      name: '240 full blocks from cold start until queryable at the Host / 240 floors',
      value: coldMs / (coldBlocks * floor),
      unit: 'x',
      goal: 4.5,
      stretch: 3,
      from: `${show(coldMs)} ms / ${show(coldBlocks * floor)} ms`,
    },
    ...diskFigures(pipeline),
  ]
  return { figures, pipeline, peerId }
}

function diskFigures(pipeline: Pipeline): Figure[] {
  return (['generator', 'host'] as const).map((name) => ({
    name: `Bytes on disk per full block, everything included: ${name}`,
    value: pipeline[name].diskBytes() / coldBlocks / 1e3,
    unit: 'kB',
    goal: 200,
    stretch: 150,
    from: `${coldBlocks} blocks`,
  }))
}

/** Ingests up to `blocks` at full rate while querying, and measures what that does to both. */
export async function loadFigures(
  replay: Replay,
  pipeline: Pipeline,
  blocks: number,
  idleMs: number,
): Promise<Figure[]> {
  const { generator, host } = pipeline
  await Promise.all([loopDelay(generator), loopDelay(host)])
  await replay.moveHead(blocks)
  const client = openQueryClient(host.graphqlUrl)
  const latencies: number[] = []
  let ingesting = true
  const asking = (async () => {
    while (ingesting) latencies.push((await client.logs()).ms)
  })()
  await untilQueryable(host, blocks)
  ingesting = false
  await asking
  const [generatorDelay, hostDelay] = await Promise.all([loopDelay(generator), loopDelay(host)])
  await client.close()
  const p99 = percentile(latencies, 0.99)
  return [
    {
      name: 'The same query while blocks are ingested at full rate: p99 / idle p50',
      value: p99 / idleMs,
      unit: 'x',
      goal: 25,
      stretch: 10,
      from: `${show(p99)} ms / ${show(idleMs)} ms, ${latencies.length} queries`,
    },
    ...memoryFigures(pipeline, blocks),
    delayFigure('generator', generatorDelay),
    delayFigure('host', hostDelay),
  ]
}

function memoryFigures(pipeline: Pipeline, blocks: number): Figure[] {
  return (['generator', 'host'] as const).map((name) => {
    const { ownBytes, residentBytes } = pipeline[name].memory()
    return {
      name: `Own memory (RssAnon) at ${blocks} full blocks: ${name}`,
      value: ownBytes / 1e6,
      unit: 'MB',
      goal: 300,
      stretch: 200,
      from: `RSS ${show(residentBytes / 1e6)} MB`,
    }
  })
}

function delayFigure(name: string, seconds: number): Figure {
  return {
    name: `Blocked event loop of the main thread, p99 while ingesting: ${name}`,
    value: seconds * 1e3,
    unit: 'ms',
    goal: 50,
    stretch: 10,
    from: '`viewmesh_service_event_loop_delay_seconds`',
  }
}

/** p99 of the main thread's blocked event loop since the last time this was asked, in seconds. */
async function loopDelay(program: Program): Promise<number> {
  return await program.metric(
    'viewmesh_service_event_loop_delay_seconds{thread="main",quantile="0.99"}',
  )
}
