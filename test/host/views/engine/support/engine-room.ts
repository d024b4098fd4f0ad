/** The engine of Views over a real store and a real lens process, with Views that are made on the spot. */
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openViewEngine, type RowsWriter } from '../../../../../src/host/views/engine/engine.ts'
import type { ViewEngine, ViewState } from '../../../../../src/host/views/engine/view-engine.ts'
import {
  type HostedView,
  isHosted,
  type KeptView,
} from '../../../../../src/host/views/hosted-view.ts'
import { createLensMetrics, type LensMetrics } from '../../../../../src/lens/process/metrics.ts'
import type {
  SealedBlockToStore,
  Snapshot,
  StoreReader,
  StoreWriter,
  ViewsDone,
} from '../../../../../src/store/store.ts'
import { openWriter } from '../../../../../src/store/write/writer.ts'
import { readRegistration } from '../../../../../src/views/registration.ts'
import { decodeBlockRows } from '../../../../../src/views/rows/block-rows.ts'
import { noSender } from '../../../../../src/views/view-id.ts'
import { decodeView, encodeView } from '../../../../../src/views/wire.ts'
import { createChain, shapes } from '../../../../support/chain/block-factory.ts'
import { testNetwork } from '../../../../support/chain/sealed-blocks.ts'
import { storableBlock } from '../../../../support/chain/store-blocks.ts'
import { testDirectory } from '../../../../support/test-store.ts'

/** Blocks with a few logs; the lowest has the number `first`. */
export function engineChain(count: number, first = 100, seed = 'engine'): SealedBlockToStore[] {
  return createChain({ seed, count, from: first, shape: shapes.sparse }).map((block) =>
    storableBlock(block),
  )
}

/** What a View is made of. */
interface ViewParts {
  readonly lenses?: readonly Uint8Array[]
  /** Of each lens. */
  readonly args?: string
  readonly query?: string
  readonly sdl?: string
  readonly slot?: number
}

/** A View of this Host. */
export function hostedView({
  lenses = [],
  args = '',
  query = 'Log { address logIndex transaction { hash } }',
  sdl = 'type Logs { address: String @index logIndex: Int transaction: JSON }',
  slot = 1,
}: ViewParts = {}): HostedView {
  const wire = encodeView({ query, sdl, lenses: lenses.map((wasm) => ({ wasm, args })) })
  const registration = { sender: noSender, registeredAt: null, wire }
  const read = readRegistration(registration, decodeView(wire), testNetwork)
  const view = { ...read, slot, name: read.rowType.name } as KeptView
  if (!isHosted(view)) throw new Error('the View is of another chain')
  return view
}

/** A View that decodes the transfers of tokens with the lens that ships, and keeps every other log as it is. */
export function decodingView(slot = 1): HostedView {
  const inputs = [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256' },
  ]
  const abi = [{ type: 'event', name: 'Transfer', inputs }]
  return hostedView({
    slot,
    lenses: [readFileSync(new URL('../../../../../src/lenses/decode_log.wasm', import.meta.url))],
    args: JSON.stringify({ abi, unmatched: 'keep' }),
    query: 'Log { address topics data blockNumber logIndex transaction { hash from to } }',
    sdl: 'type Events { address: String @index logIndex: Int event: String hash: String arguments: JSON }',
  })
}

export interface EngineRoom {
  readonly store: StoreWriter
  readonly engine: ViewEngine
  readonly registry: Registry
  /** Of its lens process, for further ones. */
  readonly lensMetrics: LensMetrics
  /** Names and heights for which rows were announced. */
  readonly announced: [name: string, height: number][]
  /** Stores blocks and lets the engine know. */
  put(blocks: readonly SealedBlockToStore[]): Promise<void>
  /** Puts blocks in the place of those from a height on. */
  replace(from: number, blocks: readonly SealedBlockToStore[]): Promise<void>
  /** Waits until the state of a View is so. */
  until(view: HostedView, isSo: (state: ViewState) => boolean): Promise<ViewState>
  /** Waits until rows of so many blocks were announced; all that is counted of them is counted by then. */
  untilAnnounced(blocks: number): Promise<void>
  /** Has something closed before the store is. */
  closeFirst(close: () => Promise<void>): void
  /** Ends the engine alone, as a crash would: what is under way is lost. */
  close(): Promise<void>
}

interface RoomOptions {
  readonly path?: string
  readonly retainBlocks?: number | null
  readonly retainRows?: number
  readonly maxViewBytes?: number
  readonly threads?: number
  readonly memoryBytes?: number
  /** What the engine writes through. Default the store. */
  readonly through?: (writer: RowsWriter, store: StoreWriter) => RowsWriter
  /** Is called for each value that the engine looks up in the index of documents. */
  readonly onLookUp?: () => void
}

/** Opens store and engine; both are closed after the test. */
export async function openEngineRoom(
  t: Pick<TestContext, 'after'>,
  {
    path = testDirectory(t),
    retainBlocks = null,
    threads = 1,
    memoryBytes = 1024 ** 3,
    through = (writer) => writer,
    onLookUp,
    ...kept
  }: RoomOptions = {},
): Promise<EngineRoom> {
  const log = pino({ enabled: false })
  const registry = new Registry()
  const lensMetrics = createLensMetrics(registry)
  const store = await openWriter(
    { path, network: testNetwork, retainBlocks, program: 'host', ...kept },
    { log },
  )
  const listeners: Parameters<RowsWriter['onStored']>[0][] = []
  const writer: RowsWriter = {
    putViewRows: (slot, bytes) => store.putViewRows(slot, decodeBlockRows(bytes)),
    putEmptyViewBlocks: store.putEmptyViewBlocks,
    setViewNeeds: store.setViewNeeds,
    clearViewFailures: (slot) => store.clearViewFailures(slot),
    clearView: (slot) => store.clearView(slot),
    putRecord: (name, value) => store.putRecord(name, value),
    onStored: (listener) => void listeners.push(listener),
  }
  const engine = openViewEngine(
    { storePath: path, network: testNetwork, threads, memoryBytes, environment: process.env },
    {
      log,
      registry,
      lensMetrics,
      reader: onLookUp === undefined ? store.reader : noticingLookUps(store.reader, onLookUp),
      writer: through(writer, store),
    },
  )
  const announced: [string, number][] = []
  const changed = new Set<() => void>()
  engine.onRows((name, height) => {
    announced.push([name, height])
  })
  const watching = setInterval(() => {
    for (const look of changed) look()
  }, 10)
  const closedFirst: (() => Promise<void>)[] = []
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    clearInterval(watching)
    for (const first of closedFirst) await first()
    await engine.close()
    await store.close()
  }
  t.after(close)
  const stored = (viewsDone: readonly ViewsDone[]): void => {
    for (const listener of listeners) listener({ viewsDone })
  }
  const until = <T>(found: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = (): void => {
        const value = found()
        if (value === undefined) return
        changed.delete(look)
        resolve(value)
      }
      changed.add(look)
    })
  return {
    store,
    engine,
    registry,
    lensMetrics,
    announced,
    put: async (blocks) => {
      stored((await Promise.all(blocks.map(store.putSealedBlock))).flat())
    },
    replace: async (from, blocks) => {
      stored(await store.replaceBlocks(from, Number.MAX_SAFE_INTEGER, blocks))
    },
    until: (view, isSo) =>
      until(() => {
        const state = engine.states().get(view.id)
        return state !== undefined && isSo(state) ? state : undefined
      }),
    untilAnnounced: (blocks) =>
      until(() => (announced.length >= blocks ? true : undefined)).then(() => undefined),
    closeFirst: (first) => void closedFirst.push(first),
    close,
  }
}

function noticingLookUps(reader: StoreReader, onLookUp: () => void): StoreReader {
  const noticing = (snapshot: Snapshot): Snapshot =>
    Object.create(snapshot, {
      candidates: {
        value: (...args: Parameters<Snapshot['candidates']>) => {
          onLookUp()
          return snapshot.candidates(...args)
        },
      },
    })
  return { ...reader, read: (use) => reader.read((snapshot) => use(noticing(snapshot))) }
}

/** Bytes of all rows of a View, by height. */
export function rowBytes(
  { reader }: Pick<StoreWriter, 'reader'>,
  slot: number,
): Map<number, string> {
  return reader.read((snapshot) => {
    const found = new Map<number, string>()
    for (const [from, to] of snapshot.viewRanges(slot)) {
      for (let height = from; height <= to; height++) {
        const rows = snapshot.viewRows(slot, height)
        const chunks = Array.from({ length: rows?.chunkCount ?? 0 }, (_, index) =>
          rows?.openChunk(index).bytes.toString('hex'),
        )
        found.set(height, `${rows?.blockHash} ${chunks.join(' ')}`)
      }
    }
    return found
  })
}
