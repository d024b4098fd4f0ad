/** Views whose rows are computed for each query: how long a block takes, and the first rows of many. */
import type { HostedView } from '../../../src/host/views/hosted-view.ts'
import { decodeView } from '../../../src/views/wire.ts'
import { openStreamRoom } from '../../host/streams/support/stream-room.ts'
import { decodingView, hostedView } from '../../host/views/engine/support/engine-room.ts'
import { type Figure, show } from '../figure.ts'
import { median, timed } from '../statistics.ts'
import { fullBlocks } from './view-room.ts'

const blocks = 100
const rounds = 6
const firstRows = 50

/** The decoding View without stored rows; half of the rounds warm it up. */
export async function streamFigures(): Promise<Figure[]> {
  const endings: (() => unknown)[] = []
  const streams = await openStreamRoom({
    after: (ending) => void endings.push(ending as () => unknown),
  })
  await streams.room.put([...fullBlocks(blocks)])
  streams.serve(streamedView())
  const all: number[] = []
  const first: number[] = []
  for (let round = 0; round < rounds; round++) {
    all.push(await timed(() => streams.query('{ COUNT(Events: {}) }')))
    first.push(
      await timed(() => streams.query(`{ Events(limit: ${firstRows}) { event arguments } }`)),
    )
  }
  for (const ending of endings.toReversed()) await ending()
  const [allMs, firstMs] = [median(all.slice(rounds / 2)), median(first.slice(rounds / 2))]
  return [
    {
      name: 'View computed for a query, time per full block, each log a row',
      value: allMs / blocks,
      unit: 'ms',
      from: `${show((blocks / allMs) * 1_000)} blocks/s, ${blocks} blocks in a query that counts their rows`,
    },
    {
      name: 'View computed for a query, time until its 50 first rows are there',
      value: firstMs,
      unit: 'ms',
      from: `median of ${rounds / 2}, the process of the lenses runs already`,
    },
  ]
}

function streamedView(): HostedView {
  const { query, sdl, lenses } = decodeView(decodingView().wire)
  return hostedView({
    query,
    sdl: sdl.replace('type Events', 'type Events @materialized(if: false)'),
    lenses: lenses.map(({ wasm }) => wasm),
    args: lenses[0]?.args ?? '',
  })
}
