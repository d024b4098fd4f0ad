/** New blocks on their way from the node to the rows of a View at a Host, through both programs. */

import type { Program } from '../support/programs.ts'
import { pause } from '../support/programs.ts'
import { type Figure, show } from './figure.ts'
import { adminToken, openArrivals, postView } from './hosted-rows.ts'
import { preparePipeline, untilQueryable } from './pipeline.ts'
import { type Replay, startReplay } from './replay.ts'
import { median } from './statistics.ts'
import { openWorkload } from './workload.ts'

/** Blocks before the first one that counts, and those that count with and without the View. */
const before = 40
const measured = 40
const blocks = before + 2 * measured
/** From one block to the next: heads are signed half a second apart, and a block waits at the Host for that of its signer. */
const paceMs = 700

/** Milliseconds from the moment in which the node announces a block until the Host has it. */
interface Arrivals {
  readonly blockMs: readonly number[]
  /** The same for the rows of the View. */
  readonly rowMs: readonly number[]
}

export async function viewPipelineFigures(): Promise<Figure[]> {
  const replay = await startReplay(openWorkload('full', blocks), before)
  const { generator, host, close } = await preparePipeline(replay)
  await generator.start({ NODE_WS_URL: replay.wsUrl })
  const peerId = (await generator.health()).p2p.self?.id ?? ''
  await host.start({
    BOOTSTRAP_PEERS: generator.peerAddress(peerId),
    HOST_ADMIN_TOKEN: adminToken,
  })
  await untilQueryable(host, before)
  const plain = await arrivals(host, replay, before, null)
  const { name } = await postView(host)
  const viewed = await arrivals(host, replay, before + measured, name)
  await close()
  await replay.close()
  const [plainMs, viewedMs] = [median(plain.blockMs), median(viewed.blockMs)]
  return [
    {
      name: 'View, time from a new block at the node to its rows at the Host, 500 logs decoded to 500 rows: p50',
      value: median(viewed.rowMs),
      unit: 'ms',
      goal: 70,
      from: `the block itself ${show(viewedMs)} ms, over replay, ${measured} blocks`,
    },
    {
      name: 'View, time from a new block at the node until it is queryable at the Host, less that without Views: p50',
      value: Math.max(0, viewedMs - plainMs),
      unit: 'ms',
      goal: 1,
      from: `${show(viewedMs)} ms / ${show(plainMs)} ms`,
    },
  ]
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
  for (let number = from + 1; number <= from + measured; number++) {
    const announcedAt = await replay.moveHead(number)
    const [blockAt, rowsAt] = await Promise.all([blockStream.next(number), rowStream?.next(number)])
    blockMs.push(blockAt - announcedAt)
    if (rowsAt !== undefined) rowMs.push(rowsAt - announcedAt)
    await pause(paceMs)
  }
  blockStream.close()
  rowStream?.close()
  return { blockMs, rowMs }
}
