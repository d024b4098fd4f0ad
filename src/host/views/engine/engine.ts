/**
 * The engine of Views: lets each of them compute the blocks that it has not done, new blocks first, in the lens
 * process. It remembers nothing that the store does not have, so that it goes on wherever it was ended.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createViewSelector, type ViewSelector } from '../../../graphql/selection/view-selection.ts'
import { openLensProcess } from '../../../lens/process/lens-process.ts'
import type { LensMetrics } from '../../../lens/process/metrics.ts'
import { threadUrl } from '../../../service/threads/thread.ts'
import { hasNeeded, type NeededTerms } from '../../../store/needed-terms.ts'
import type { EmptyViewBlock, Snapshot, StoreReader, ViewsDone } from '../../../store/store.ts'
import type { Stored } from '../../apply/outcome.ts'
import type { Writer } from '../../apply/writer.ts'
import type { HostedView } from '../hosted-view.ts'
import type { ViewWorkerData } from './block-job.ts'
import { createBlockIndexes, toEmptyBlocks } from './empty-blocks.ts'
import { createEngineMetrics, type EngineMetrics } from './engine-metrics.ts'
import { indexNeeds } from './index-needs.ts'
import { noRows, type ViewEngine, type ViewState } from './view-engine.ts'
import { viewRecordName } from './view-record.ts'
import { type EmptyHeights, openViewRun, type ViewRun } from './view-run.ts'
import { readVisible, visibleHeights } from './visible-blocks.ts'

interface ViewEngineOptions {
  readonly storePath: string
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Threads that run lenses. */
  readonly threads: number
  /** Memory at which the process of the lenses is ended. */
  readonly memoryBytes: number
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** What Views ask of the writer. */
export interface RowsWriter
  extends Pick<
    Writer,
    | 'putViewRows'
    | 'putEmptyViewBlocks'
    | 'setViewNeeds'
    | 'clearViewFailures'
    | 'clearView'
    | 'putRecord'
  > {
  /** Calls the listener after blocks were stored. */
  onStored(listener: (stored: Pick<Stored, 'viewsDone'>) => void): void
}

interface ViewEngineParts {
  readonly log: Logger
  readonly registry: Registry
  readonly lensMetrics: LensMetrics
  readonly reader: StoreReader
  readonly writer: RowsWriter
}

/** How often failures that are due again are looked for. */
const tickMs = 1_000

type RowsListener = (name: string, height: number) => void

interface ServedView {
  readonly view: HostedView
  readonly run: ViewRun
  readonly needs: NeededTerms | null
}

interface Engine {
  readonly parts: ViewEngineParts
  readonly lenses: ReturnType<typeof openLensProcess>
  readonly metrics: EngineMetrics
  readonly selector: ViewSelector
  readonly views: Map<string, ServedView>
  /** Those whose rows are computed when they are queried: there is nothing to do for them. */
  readonly streamed: Set<string>
  readonly listeners: RowsListener[]
  /** Views that look for work in the next turn of the event loop. */
  readonly awake: Set<string>
  /** Slots whose needs the writer has, so that it marks new blocks without rows. */
  readonly needsSent: Set<number>
  /** What Views were done with as it was stored, since they last looked for work. */
  reported: ViewsDone[]
  /** Writes of blocks without rows, and of what Views need, until the writer has done them. */
  readonly marking: Set<Promise<void>>
  isClosing: boolean
}

/** Opens the engine without any View; the process of the lenses is started with the first job. */
export function openViewEngine(options: ViewEngineOptions, parts: ViewEngineParts): ViewEngine {
  const { storePath, network, threads, memoryBytes, environment } = options
  const { log, registry, lensMetrics, reader, writer } = parts
  const data: ViewWorkerData = { storePath, network }
  const workerUrl = threadUrl('./view-worker', import.meta.url)
  const engine: Engine = {
    parts,
    lenses: openLensProcess(
      { workerUrl, data, threads, memoryBytes, environment },
      { log, metrics: lensMetrics, onEnded: () => void reader.clearDeadReaders() },
    ),
    metrics: createEngineMetrics(registry),
    selector: createViewSelector(network),
    views: new Map(),
    streamed: new Set(),
    listeners: [],
    awake: new Set(),
    needsSent: new Set(),
    reported: [],
    marking: new Set(),
    isClosing: false,
  }
  const ticking = setInterval(() => wakeAll(engine), tickMs).unref()
  writer.onStored(({ viewsDone }) => {
    for (const done of viewsDone) engine.reported.push(done)
    countDone(engine, viewsDone)
    wakeAll(engine)
  })
  return {
    serve: (view) => serve(engine, view),
    remove: (id) => remove(engine, id),
    retry: (id) => engine.views.get(id)?.run.retry(),
    states: () => states(engine),
    state: (id) => stateOf(engine, id),
    onRows: (listener) => void engine.listeners.push(listener),
    close: async () => {
      engine.isClosing = true
      clearInterval(ticking)
      const closed = [...engine.views.values()].map(({ run }) => run.close())
      await engine.lenses.close()
      await Promise.all([...closed, ...engine.marking])
    },
  }
}

function serve(engine: Engine, view: HostedView): void {
  if (!view.rowType.materialized) engine.streamed.add(view.id)
  if (!view.rowType.materialized || engine.views.has(view.id)) return
  const { log, reader, writer } = engine.parts
  const head = reader.read((snapshot) => snapshot.range()?.head ?? -1)
  const run = openViewRun(view, head, {
    log,
    reader,
    writer,
    lenses: engine.lenses,
    metrics: engine.metrics,
    onRows: (height) => {
      for (const listener of engine.listeners) listener(view.name, height)
    },
    wake: () => wake(engine, [view.id]),
    nowMs: () => performance.now(),
  })
  const needs = indexNeeds(view, engine.selector.compile(view.query))
  engine.views.set(view.id, { view, run, needs })
}

async function remove(engine: Engine, id: string): Promise<void> {
  const { views, streamed, needsSent, marking, parts } = engine
  streamed.delete(id)
  const known = views.get(id)
  if (known === undefined) return
  views.delete(id)
  if (needsSent.has(known.view.slot)) sendNeeds(engine, known.view.slot, null)
  await Promise.all([known.run.close(), ...marking])
  await parts.writer.putRecord(viewRecordName(id), null)
}

function wakeAll(engine: Engine): void {
  wake(engine, engine.views.keys())
}

/** Lets Views look for work, once for whatever happens in this turn of the event loop. */
function wake(engine: Engine, ids: Iterable<string>): void {
  const { awake, views, parts } = engine
  const isScheduled = awake.size > 0
  for (const id of ids) awake.add(id)
  if (isScheduled || awake.size === 0) return
  setImmediate(() => {
    const woken = [...awake].flatMap((id) => views.get(id) ?? [])
    awake.clear()
    if (engine.isClosing) return
    parts.reader.read((snapshot) => begin(engine, snapshot, woken))
  })
}

function begin(engine: Engine, snapshot: Snapshot, woken: readonly ServedView[]): void {
  const visible = readVisible(snapshot, engine.reported)
  engine.reported = []
  const indexes = createBlockIndexes(snapshot)
  const found = woken.flatMap(({ view, run, needs }): Found[] => {
    const known = run.isInService() ? needs : null
    const isSent = engine.needsSent.has(view.slot)
    if (isSent !== (known !== null)) sendNeeds(engine, view.slot, known)
    // A writer that has the needs marks blocks without rows: one that is not marked may have some.
    const isEmpty = (height: number): boolean =>
      !isSent && needs !== null && !hasNeeded(needs, indexes.at(height))
    const heights = run.begin(snapshot, visible, isEmpty)
    return heights.length === 0 ? [] : [{ view, run, heights, epoch: snapshot.epoch }]
  })
  if (found.length === 0) return
  const slots = found.map(({ view, heights }) => ({ slot: view.slot, heights }))
  track(engine, mark(engine, found, toEmptyBlocks(snapshot, slots)))
}

/** Keeps what is written until it has ended. Only a store that cannot be written fails, and ends the program. */
function track(engine: Engine, writing: Promise<void>): void {
  const { marking, parts } = engine
  const ended = writing
    .catch((err) => {
      if (!engine.isClosing) parts.log.debug({ err }, 'rows could not be stored')
    })
    .finally(() => marking.delete(ended))
  marking.add(ended)
}

/** Sends the writer what new blocks have to hold for a View, so that it is done with others as they are stored. */
function sendNeeds(engine: Engine, slot: number, needs: NeededTerms | null): void {
  if (needs === null) engine.needsSent.delete(slot)
  else engine.needsSent.add(slot)
  track(engine, engine.parts.writer.setViewNeeds(slot, needs))
}

/** Counts blocks that Views were done with as they were stored, but for Views that were removed meanwhile. */
function countDone({ views, metrics }: Engine, viewsDone: readonly ViewsDone[]): void {
  if (viewsDone.length === 0) return
  const served = new Set([...views.values()].map(({ view }) => view.slot))
  const done = viewsDone.flatMap(({ slots }) => slots.filter((slot) => served.has(slot)))
  metrics.blocks('live', 'done', done.length)
}

/** New blocks of which a View has no rows. */
type Found = Pick<ServedView, 'view' | 'run'> & EmptyHeights

/** Stores for all Views at once that they are done with blocks. */
async function mark(
  engine: Engine,
  found: readonly Found[],
  blocks: readonly EmptyViewBlock[],
): Promise<void> {
  const stored = new Set(await engine.parts.writer.putEmptyViewBlocks(blocks))
  let done = 0
  for (const each of found) {
    each.run.settleEmpty(each, stored)
    done += each.heights.filter((height) => stored.has(height)).length
  }
  engine.metrics.blocks('live', 'done', done)
}

function states({ views, streamed, parts }: Engine): Map<string, ViewState> {
  return parts.reader.read((snapshot) => {
    const visible = visibleHeights(snapshot)
    const computed = [...views].map(([id, { run }]) => [id, run.state(snapshot, visible)] as const)
    const queried = ofStreamed(snapshot)
    return new Map([...computed, ...[...streamed].map((id) => [id, queried] as const)])
  })
}

function stateOf({ views, streamed, parts }: Engine, id: string): ViewState | undefined {
  const run = views.get(id)?.run
  if (run === undefined && !streamed.has(id)) return undefined
  return parts.reader.read(
    (snapshot) => run?.state(snapshot, visibleHeights(snapshot)) ?? ofStreamed(snapshot),
  )
}

/**
 * A View that is computed when it is queried is never behind. What queries of it fail at is no state of it: they are
 * strangers', who choose how much a lens is given, and a lens that is given too much traps as a faulty one does.
 */
function ofStreamed(snapshot: Snapshot): ViewState {
  return snapshot.range() === null ? noRows : { ...noRows, name: 'live' }
}
