/** Stores with the engine of Views over blocks shaped like those of mainnet, and the processor time that they take. */
import { readdirSync, readFileSync } from 'node:fs'
import type { ViewState } from '../../../src/host/views/engine/view-engine.ts'
import type { HostedView } from '../../../src/host/views/hosted-view.ts'
import type { SealedBlockToStore } from '../../../src/store/store.ts'
import { hostedView, openEngineRoom } from '../../host/views/engine/support/engine-room.ts'
import { chainBlocks, shapes } from '../../support/chain/block-factory.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'

const decodeLog = readFileSync(new URL('../../../src/lenses/decode_log.wasm', import.meta.url))

export type ViewRoom = Awaited<ReturnType<typeof openEngineRoom>>

/** A room without blocks and Views. The second value closes it and removes what it kept. */
export async function openViewRoom(): Promise<[room: ViewRoom, close: () => Promise<void>]> {
  const endings: (() => unknown)[] = []
  const room = await openEngineRoom({
    after: (ending) => void endings.push(ending as () => unknown),
  })
  const close = async (): Promise<void> => {
    for (const ending of endings.toReversed()) await ending()
  }
  return [room, close]
}

/** Full blocks that follow one another, from block 1, made when they are asked for. */
export function* fullBlocks(count: number): Generator<SealedBlockToStore, undefined> {
  for (const block of chainBlocks({ seed: 'views', count, shape: shapes.full }))
    yield storableBlock(block)
}

/** A View that wants an address, or an event, that no block has. */
export function unmatchedView(number: number): HostedView {
  const slot = 10 + number
  const sdl = 'type Unmatched { address: String }'
  const fields = '{ address topics data }'
  const address = createSeededRandom(`unmatched:${number}`).hex(20)
  if (number % 2 === 0)
    return hostedView({ slot, query: `Log(filter: {address: {_eq: "${address}"}}) ${fields}`, sdl })
  const abi = [{ type: 'event', name: `Unmatched${number}`, inputs: [] }]
  const args = JSON.stringify({ abi, unmatched: 'drop' })
  return hostedView({ slot, query: `Log ${fields}`, sdl, lenses: [decodeLog], args })
}

export const isLive = ({ name }: ViewState): boolean => name === 'live'

/** Blocks, milliseconds and processor time of a View from its first job on, without the time in which it was made ready. */
export interface Backfill {
  readonly blocks: number
  readonly ms: number
  readonly processorMs: number
}

/** Lets a View compute everything that is stored; what it has done after `warmUp` blocks is left out. */
export async function backfill(
  room: ViewRoom,
  view: HostedView,
  warmUp: number,
): Promise<Backfill> {
  const done = ({ done }: ViewState): number =>
    done.reduce((sum, [from, to]) => sum + to - from + 1, 0)
  room.engine.serve(view)
  const first = await room.until(view, (state) => done(state) >= warmUp)
  const [startMs, startProcessorMs] = [performance.now(), processorMs()]
  const last = await room.until(view, isLive)
  return {
    blocks: done(last) - done(first),
    ms: performance.now() - startMs,
    processorMs: processorMs() - startProcessorMs,
  }
}

/** Processor time in milliseconds of this process with all its threads. */
export function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** The same of the lens processes that this one has started. Linux counts it in hundredths of a second. */
export function lensProcessorMs(): number {
  return lensProcesses().reduce((sum, pid) => sum + processorMsOf(pid), 0)
}

const processorMs = (): number => ownProcessorMs() + lensProcessorMs()

function lensProcesses(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && statFields(pid)[parentField] === String(process.pid))
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('lens/child/main'))
}

/** Fields 4, 14 and 15 of proc_pid_stat(5), counted from behind the name, which is in brackets. */
const parentField = 1
const userField = 11
const systemField = 12
const tickMs = 10

function processorMsOf(pid: number): number {
  const fields = statFields(pid)
  return (Number(fields[userField]) + Number(fields[systemField])) * tickMs
}

/** Empty where the process has ended. */
function statFields(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
