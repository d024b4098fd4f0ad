/** What Views cost on full blocks: new ones, those stored before, those without anything for them; and their rows in queries. */
import type { HostedView } from '../../../src/host/views/hosted-view.ts'
import type { SealedBlockToStore } from '../../../src/store/store.ts'
import { decodeView } from '../../../src/views/wire.ts'
import { openTestGraphql, readData } from '../../graphql/support/graphql-room.ts'
import { decodingView, hostedView } from '../../host/views/engine/support/engine-room.ts'
import { watchedAddresses } from '../../support/chain/block-factory.ts'
import { type Figure, show } from '../figure.ts'
import { median, timed } from '../statistics.ts'
import {
  type Backfill,
  backfill,
  fullBlocks,
  lensProcessorMs,
  openViewRoom,
  ownProcessorMs,
  unmatchedView,
  type ViewRoom,
} from './view-room.ts'

/** Blocks that are stored before Views begin, and those that come afterwards. */
const storedBlocks = 240
const newBlocks = 360
/** Blocks of each kind that are not measured, until code is compiled. */
const warmUp = 40

/** A Host with the decoding View, beside one that has none. */
export async function viewFigures(): Promise<Figure[]> {
  const blocks = fullBlocks(storedBlocks + newBlocks)
  const [plain, closePlain] = await openViewRoom()
  const [viewed, closeViewed] = await openViewRoom()
  for (let height = 1; height <= storedBlocks; height++) {
    const block = next(blocks)
    await plain.put([block])
    await viewed.put([block])
  }
  const view = decodingView()
  const first = await firstRowsFigure(viewed, view)
  const all = await warmBackfill(viewed, view)
  const figures = [
    first,
    backfillFigure('each log a row', all, 120),
    ...(await liveFigures(plain, viewed, [...blocks], all)),
    sizeFigure(viewed, view),
    await queryFigure(viewed, view),
  ]
  await viewed.engine.remove(view.id)
  figures.push(
    backfillFigure('a tenth of the logs a row', await warmBackfill(viewed, tenthView()), 300),
    backfillFigure('none a row, known by the index', await excluded(viewed), 2_000),
  )
  await Promise.all([closePlain(), closeViewed()])
  return figures
}

/** The next of blocks that are not all in memory: collecting that takes processor time, which would be measured. */
function next(blocks: Iterator<SealedBlockToStore, undefined>): SealedBlockToStore {
  const { value } = blocks.next()
  if (value === undefined) throw new Error('there are no more blocks')
  return value
}

// --- Views ----------------------------------------------------------------------------------

function tenthView(): HostedView {
  const { query, sdl, lenses } = decodeView(decodingView().wire)
  const addresses = JSON.stringify(watchedAddresses.slice(0, 50))
  return hostedView({
    slot: 2,
    lenses: lenses.map(({ wasm }) => wasm),
    args: lenses[0]?.args ?? '',
    query: query.replace('Log', `Log(filter: {address: {_in: ${addresses}}})`),
    sdl,
  })
}

// --- The first rows -------------------------------------------------------------------------

/** From the moment in which a Host takes it on: the lens process is started, and the lens compiled. */
async function firstRowsFigure(room: ViewRoom, view: HostedView): Promise<Figure> {
  const startMs = performance.now()
  room.engine.serve(view)
  const { rows } = await room.until(view, (state) => state.rows > 0)
  const value = performance.now() - startMs
  await room.engine.remove(view.id)
  await room.store.clearView(view.slot)
  const from = `${rows} rows at once, with ${storedBlocks} full blocks stored`
  return {
    name: 'View, time until its first rows at a Host that had no View',
    ...{ value, unit: 'ms', goal: 2_000, from },
  }
}

// --- Back-fill ------------------------------------------------------------------------------

function backfillFigure(
  name: string,
  { blocks, ms, processorMs }: Backfill,
  perSecond: number,
): Figure {
  return {
    name: `View, time per full block of the back-fill: ${name}`,
    value: ms / blocks,
    unit: 'ms',
    goal: Number(show(1_000 / perSecond)),
    from: `${show((blocks / ms) * 1_000)} blocks/s, ${show(processorMs / blocks)} ms of processor time each`,
  }
}

/** What a back-fill of many thousands of blocks soon comes to: the code is compiled by one that is not measured. */
async function warmBackfill(room: ViewRoom, view: HostedView): Promise<Backfill> {
  await backfill(room, view, 0)
  await room.engine.remove(view.id)
  await room.store.clearView(view.slot)
  return await backfill(room, view, warmUp)
}

/** By address and by topic, from the first job on. */
async function excluded(room: ViewRoom): Promise<Backfill> {
  const rounds: Backfill[] = []
  for (let number = 0; number < 8; number++) {
    const view = unmatchedView(number)
    rounds.push(await backfill(room, view, warmUp))
    await room.engine.remove(view.id)
  }
  const sum = (key: keyof Backfill): number =>
    rounds.reduce((total, round) => total + round[key], 0)
  return { blocks: sum('blocks'), ms: sum('ms'), processorMs: sum('processorMs') }
}

// --- New blocks -----------------------------------------------------------------------------

async function liveFigures(
  plain: ViewRoom,
  viewed: ViewRoom,
  blocks: readonly SealedBlockToStore[],
  { blocks: before, processorMs }: Backfill,
): Promise<Figure[]> {
  await putInTurn(plain, viewed, blocks.slice(0, warmUp))
  const { plainMs, viewedMs, hostMs, lensMs } = await putInTurn(plain, viewed, blocks.slice(warmUp))
  return [
    {
      name: 'View, processor time of all threads for a new block: 500 logs decoded to 500 rows',
      value: hostMs + lensMs,
      unit: 'ms',
      goal: 10,
      from: `${show(lensMs)} ms in the lens process, ${show(hostMs)} ms outside; in the back-fill ${show(processorMs / before)} ms`,
    },
    {
      name: 'View, time until a full block is queryable while the one before is computed, less that without Views',
      value: Math.max(0, median(viewedMs) - median(plainMs)),
      unit: 'ms',
      goal: 1,
      from: `${show(median(viewedMs))} ms / ${show(median(plainMs))} ms`,
    },
  ]
}

interface NewBlocks {
  /** Until the second block of each two was stored, without Views and with one. */
  readonly plainMs: readonly number[]
  readonly viewedMs: readonly number[]
  /** By how much more processor time a block takes the Host with the View, and what it takes the lens process. */
  readonly hostMs: number
  readonly lensMs: number
}

/** Blocks come to both Hosts in turn, two at a time: while the second is stored, the View computes the first. */
async function putInTurn(
  plain: ViewRoom,
  viewed: ViewRoom,
  blocks: readonly SealedBlockToStore[],
): Promise<NewBlocks> {
  const plainMs: number[] = []
  const viewedMs: number[] = []
  const used = { plain: 0, viewed: 0 }
  const startLensMs = lensProcessorMs()
  for (let at = 0; at + 1 < blocks.length; at += 2) {
    const pair = blocks.slice(at, at + 2)
    const startMs = ownProcessorMs()
    plainMs.push((await putEach(plain, pair)).at(-1) ?? 0)
    const middleMs = ownProcessorMs()
    const rows = viewed.untilAnnounced(viewed.announced.length + pair.length)
    viewedMs.push((await putEach(viewed, pair)).at(-1) ?? 0)
    await rows
    used.plain += middleMs - startMs
    used.viewed += ownProcessorMs() - middleMs
  }
  return {
    plainMs,
    viewedMs,
    hostMs: (used.viewed - used.plain) / blocks.length,
    lensMs: (lensProcessorMs() - startLensMs) / blocks.length,
  }
}

/** Milliseconds until each was stored. */
async function putEach(room: ViewRoom, blocks: readonly SealedBlockToStore[]): Promise<number[]> {
  const each: number[] = []
  for (const block of blocks) each.push(await timed(() => room.put([block])))
  return each
}

// --- Rows -----------------------------------------------------------------------------------

function sizeFigure({ engine }: ViewRoom, view: HostedView): Figure {
  const state = engine.states().get(view.id)
  const [rows, bytes] = [state?.rows ?? 0, state?.bytes ?? 0]
  return {
    name: 'View, stored bytes of a decoded log, compressed, without its keys',
    value: bytes / rows,
    unit: 'bytes',
    from: `${rows} rows`,
  }
}

const rounds = 400

/** In turn, with what each needs from the same logs. */
async function queryFigure({ store }: ViewRoom, view: HostedView): Promise<Figure> {
  const graphql = openTestGraphql(store.reader)
  const served = new Promise<void>((resolve) => void graphql.onViews(resolve))
  graphql.setViews([view])
  await served
  const ask = async (collection: string, height: string, fields: string): Promise<number> => {
    const address = watchedAddresses[turn++ % watchedAddresses.length]
    const query = `query ($address: String!) {
      rows: ${collection}(filter: {address: {_eq: $address}}, order: {${height}: DESC}, limit: 50) { ${fields} }
    }`
    const startMs = performance.now()
    const result = await graphql.execute({ query, variables: { address } })
    const ms = performance.now() - startMs
    const found = readData(result)?.rows.length
    if (found !== 50) throw new Error(`the query of ${collection} has ${found} rows`)
    return ms
  }
  let turn = 0
  const logs: number[] = []
  const rows: number[] = []
  for (let round = 0; round < rounds; round++) {
    logs.push(await ask('Log', 'blockNumber', 'address topics data logIndex transaction { hash }'))
    rows.push(await ask(view.name, '_blockNumber', 'address event arguments logIndex hash'))
  }
  const [logsMs, rowsMs] = [median(logs.slice(rounds / 2)), median(rows.slice(rounds / 2))]
  return {
    name: '50 newest rows of a View by an indexed field / 50 newest logs of an address, without HTTP',
    value: rowsMs / logsMs,
    unit: 'x',
    goal: 1,
    from: `${show(rowsMs)} ms / ${show(logsMs)} ms`,
  }
}
