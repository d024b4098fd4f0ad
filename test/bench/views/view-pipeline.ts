/**
 * New blocks on their way from the node to the rows of a View at a Host, through both programs, and how a Host answers
 * while hostile Views are at work in it.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { hostileViews } from '../../host/views/hostile/support/hostile-views.ts'
import type { Program } from '../../support/programs.ts'
import { pause } from '../../support/programs.ts'
import { type Figure, show } from '../figure.ts'
import { adminToken, openArrivals, postView, postWire } from '../hosted-rows.ts'
import { preparePipeline, untilQueryable } from '../pipeline.ts'
import { type Replay, startReplay } from '../replay.ts'
import { median, percentile } from '../statistics.ts'
import { openWorkload } from '../workload.ts'

/** Blocks before the first one that counts, and those that count without Views, with one, and beside hostile ones. */
const before = 40
const measured = 40
const blocks = before + 3 * measured
/** From one block to the next: heads are signed half a second apart, and a block waits at the Host for that of its signer. */
const paceMs = 700

interface Arrivals {
  /** Milliseconds from the moment in which the node announces a block until the Host has it. */
  readonly blockMs: readonly number[]
  /** The same for the rows of the View. */
  readonly rowMs: readonly number[]
  /** What of them a block takes the Host itself: the others are the same, and move by more than Views do. */
  readonly hostMs: readonly number[]
}

export async function viewPipelineFigures(): Promise<Figure[]> {
  const replay = await startReplay(openWorkload('full', blocks), before)
  const { generator, host, close } = await preparePipeline(replay)
  await generator.start({ NODE_WS_URL: replay.wsUrl })
  const peerId = (await generator.health()).p2p.self?.id ?? ''
  await host.start({
    BOOTSTRAP_PEERS: generator.peerAddress(peerId),
    HOST_ADMIN_TOKEN: adminToken,
    // What hostile Views do is told as a warning.
    LOG_LEVEL: 'error',
  })
  await untilQueryable(host, before)
  const plain = await arrivals(host, replay, before, null)
  const { name } = await postView(host)
  const viewed = await arrivals(host, replay, before + measured, name)
  const figure = await hostileFigure(host, replay, before + 2 * measured, median(viewed.blockMs))
  await close()
  await replay.close()
  return [
    {
      name: 'View, time from a new block at the node to its rows at the Host, 500 logs decoded to 500 rows: p50',
      value: median(viewed.rowMs),
      unit: 'ms',
      goal: 70,
      from: `the block itself ${show(median(viewed.blockMs))} ms, over replay, ${measured} blocks`,
    },
    {
      name: 'View, time from the arrival of a block at the Host until it is queryable there, less that without Views: p50',
      value: Math.max(0, median(viewed.hostMs) - median(plain.hostMs)),
      unit: 'ms',
      goal: 1,
      from: `${show(median(viewed.hostMs))} ms / ${show(median(plain.hostMs))} ms`,
    },
    figure,
  ]
}

// --- Hostile Views --------------------------------------------------------------------------

const healthAsker = fileURLToPath(new URL('health-asker.ts', import.meta.url))

/** The slowest `/health` while lenses loop, grow and trap, some of them time and again. */
async function hostileFigure(
  host: Program,
  replay: Replay,
  from: number,
  usualMs: number,
): Promise<Figure> {
  const startSeconds = await lensSeconds(host)
  for (const wire of hostileViews()) await postWire(host, wire)
  const asker = fork(healthAsker, [host.healthUrl])
  const { blockMs } = await arrivals(host, replay, from, null)
  asker.send('end')
  const [answers] = (await once(asker, 'message')) as [number[]]
  const seconds = (await lensSeconds(host)) - startSeconds
  return {
    name: 'Host beside hostile Views: slowest answer of `/health`',
    value: Math.max(...answers),
    unit: 'ms',
    goal: 100,
    from: `${answers.length} answers, p50 ${show(median(answers))} ms, p99 ${show(percentile(answers, 0.99))} ms; new blocks after ${show(median(blockMs))} ms, without these Views ${show(usualMs)} ms; lenses used ${show(seconds)} s of processor time`,
  }
}

/** Processor time of lenses so far, of live blocks and others. */
function lensSeconds(host: Program): Promise<number> {
  const name = 'viewmesh_lens_processor_seconds_total'
  return sumOf(host, [`${name}{priority="live"}`, `${name}{priority="backfill"}`])
}

// --- Arrivals -------------------------------------------------------------------------------

/** Lets the blocks after `from` come one by one. */
async function arrivals(
  host: Program,
  replay: Replay,
  from: number,
  view: string | null,
): Promise<Arrivals> {
  const blockStream = await openArrivals(host, '{ Block { number } }')
  const rowStream =
    view === null
      ? null
      : await openArrivals(
          host,
          `{ ${view}(filter: {logIndex: {_eq: 0}}) { number: _blockNumber } }`,
        )
  const blockMs: number[] = []
  const rowMs: number[] = []
  const hostMs: number[] = []
  let seconds = await hostSeconds(host)
  for (let number = from + 1; number <= from + measured; number++) {
    const announcedAt = await replay.moveHead(number)
    const [blockAt, rowsAt] = await Promise.all([blockStream.next(number), rowStream?.next(number)])
    blockMs.push(blockAt - announcedAt)
    if (rowsAt !== undefined) rowMs.push(rowsAt - announcedAt)
    await pause(paceMs)
    const secondsBefore = seconds
    seconds = await hostSeconds(host)
    hostMs.push((seconds - secondsBefore) * 1_000)
  }
  blockStream.close()
  rowStream?.close()
  return { blockMs, rowMs, hostMs }
}

/** What the Host took so far for what peers sent, from its arrival until it was on the disk. */
function hostSeconds(host: Program): Promise<number> {
  return sumOf(host, ['viewmesh_host_verify_seconds_sum', 'viewmesh_host_apply_seconds_sum'])
}

async function sumOf(program: Program, metrics: readonly string[]): Promise<number> {
  const values = await Promise.all(metrics.map((name) => program.metric(name)))
  return values.reduce((sum, value) => sum + value, 0)
}
