/** Rows of a View on their way from a Host into an application: those that were there before, and each new block's. */
import { type ChildProcess, fork } from 'node:child_process'
import { on, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endChild, type Program, pause, processMemory } from '../support/programs.ts'
import { buildProgram } from './built-program.ts'
import { type Figure, show } from './figure.ts'
import { adminToken, openArrivals, postView } from './hosted-rows.ts'
import { preparePipeline, untilQueryable } from './pipeline.ts'
import { type Replay, startReplay } from './replay.ts'
import { median } from './statistics.ts'
import { openWorkload } from './workload.ts'

/** Blocks that the Host has before the application begins, of some 500 rows each, and those that come afterwards. */
const before = 240
const measured = 40
/** See `views/view-pipeline.ts`. */
const paceMs = 700

interface Started {
  readonly liveMs: number
  readonly rows: number
}

/** Blocks into an application, its memory, and how long after the Host's own subscribers it has a block. */
export async function appFigures(): Promise<Figure[]> {
  const replay = await startReplay(openWorkload('full', before + measured), before)
  const { generator, host, close } = await preparePipeline(replay)
  await generator.start({ NODE_WS_URL: replay.wsUrl })
  const { self } = (await generator.health()).p2p
  await host.start({
    BOOTSTRAP_PEERS: generator.peerAddress(self?.id ?? ''),
    HOST_ADMIN_TOKEN: adminToken,
  })
  await untilQueryable(host, before)
  const { id, name } = await postView(host)
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-app-'))
  const program = await buildProgram('test/bench/app-program.ts')
  const app = await startApp(program.file, host, id, folder)
  const [started] = (await once(app, 'message')) as [Started]
  const delays = await arrivalDelays(app, host, replay, name)
  const memory = processMemory(app.pid ?? 0)
  await endChild(app)
  rmSync(folder, { recursive: true })
  program.remove()
  await close()
  await replay.close()
  return [...backfillFigures(started, memory), delayFigure(delays)]
}

/** As docs/app.md says that applications that run for long are started. */
async function startApp(
  program: string,
  host: Program,
  view: string,
  path: string,
): Promise<ChildProcess> {
  const { identity, p2p } = await host.health()
  const peer = host.peerAddress(p2p.self?.id ?? '')
  const options = { path, views: [view], peers: [peer], hosts: [identity] }
  return fork(program, [JSON.stringify(options)], {
    execArgv: ['--optimize-for-size', '--max-semi-space-size=1'],
  })
}

function backfillFigures(
  { liveMs, rows }: Started,
  { ownBytes, residentBytes }: ReturnType<typeof processMemory>,
): Figure[] {
  const from = `${before} blocks, ${rows} rows`
  return [
    {
      name: 'Application, wall time of a block of 500 rows from a Host, connecting included (120 blocks/s)',
      value: liveMs / before,
      unit: 'ms',
      goal: 8.33,
      from: `${from} in ${show(liveMs)} ms`,
    },
    {
      name: 'Application, RSS with more than 100,000 rows, started as docs/app.md says',
      value: residentBytes / 2 ** 20,
      unit: 'MB',
      goal: 200,
      from: `own memory (RssAnon) ${show(ownBytes / 2 ** 20)} MB, ${rows} rows`,
    },
  ]
}

/** Milliseconds after the rows of a block reached a subscriber of the Host until they reached the application's. */
async function arrivalDelays(
  app: ChildProcess,
  host: Program,
  replay: Replay,
  view: string,
): Promise<number[]> {
  const atHost = await openArrivals(
    host,
    `{ ${view}(filter: {logIndex: {_eq: 0}}) { number: _blockNumber } }`,
  )
  const messages = on(app, 'message')
  const delays: number[] = []
  for (let number = before + 1; number <= before + measured; number++) {
    await replay.moveHead(number)
    const hostMs = await atHost.next(number)
    delays.push((await arrivalOf(messages, number)) - hostMs)
    await pause(paceMs)
  }
  atHost.close()
  return delays
}

async function arrivalOf(messages: ReturnType<typeof on>, number: number): Promise<number> {
  for (;;) {
    const { value, done } = await messages.next()
    if (done) break
    const arrival = value[0] as { readonly number: number; readonly atMs: number }
    if (arrival.number === number) return arrival.atMs
  }
  throw new Error('the application has ended')
}

function delayFigure(delays: readonly number[]): Figure {
  return {
    name: 'Application, time from the rows of a new block at a subscriber of the Host to the callback: p50',
    value: Math.max(0, median(delays)),
    unit: 'ms',
    goal: 10,
    from: `${delays.length} blocks over replay, slowest ${show(Math.max(...delays))} ms`,
  }
}
