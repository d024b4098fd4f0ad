/** The Views of a Host: kept, computed and served, from the moment in which they are registered. */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import type { ViewHealthReport } from '../../service/contract.ts'
import type { Registration, ViewFacts } from '../../views/registration.ts'
import { type HostedView, isHosted, type KeptView } from './hosted-view.ts'
import { createInTurn } from './in-turn.ts'
import type { ViewBook } from './view-book.ts'
import type { ViewEngine, ViewFailure, ViewState } from './view-engine.ts'

interface ViewsParts {
  readonly log: Logger
  readonly book: ViewBook
  readonly engine: ViewEngine
  /** Serves these Views in GraphQL from now on, and no others. */
  readonly setViews: (views: readonly HostedView[]) => void
  /** Removes all rows of a slot. */
  readonly clearRows: (slot: number) => Promise<void>
  /** Called where the store cannot go on. */
  readonly onFatal: (error: unknown) => void
}

/** A View as `GET /api/v0/views` shows it. */
interface ViewReport extends ViewHealthReport {
  /** The ID of the registry chain. */
  readonly address: string
  /** The name of the type in its SDL. */
  readonly type: string
  /** Who registered it; the zero address for a View of this Host alone. */
  readonly creator: string
  /** Height of the registry chain; null for a View of this Host alone. */
  readonly registered_at: number | null
  readonly rows: number
  /** What the rows take in the store, compressed, with their index. */
  readonly bytes: number
  /** Heights that are done, both ends included, lowest first. */
  readonly done: readonly { readonly from: number; readonly to: number }[]
  /** Rows of lower heights went, since all took more than VIEW_MAX_BYTES; null where they did not. */
  readonly rows_from: number | null
  readonly blocks_failed: number
  /** Processor time of a block, on average over the last ones. */
  readonly cost_ms: number | null
  readonly error: ViewFailure | null
}

/** A View as `GET /api/v0/views/{id}` shows it. */
interface ViewDetails extends ViewReport {
  readonly query: string
  readonly sdl: string
  /** Length of the wire bytes. */
  readonly wire_bytes: number
  readonly lenses: readonly {
    /** See `lensHash`. */
    readonly hash: string
    /** Length of the module. */
    readonly bytes: number
    /** As they were written; empty for none. */
    readonly args: string
  }[]
}

export interface HostViews {
  list(): readonly ViewReport[]
  /** By either ID. */
  find(id: string): ViewDetails | undefined
  /** Serves a View. With `checked` facts it is not checked again. @throws ServiceError with what is wrong about it. */
  register(
    registration: Registration,
    checked?: ViewFacts,
  ): Promise<{ report: ViewDetails; isNew: boolean }>
  /**
   * Ends a View and removes its rows; false where there is none.
   * @throws ServiceError `HOST_VIEW_REGISTERED` for one of the registry chain, which would be back at once.
   */
  remove(id: string): Promise<boolean>
  /** The same for any View: one that is denied, or has lost its place. */
  withdraw(id: string): Promise<boolean>
  /** Calls the listener after a View of this Host alone has come or gone. One listener. */
  onLocal(listener: () => void): void
  /** Tries what failed again; false where there is no such View here. */
  retry(id: string): boolean
}

/** Serves the Views that are kept, and removes the rows that removed ones left behind. */
export function openViews(parts: ViewsParts): HostViews {
  const { book, engine, log } = parts
  // A View that is posted again while it ends begins when it has.
  const inTurn = createInTurn()
  let onLocal = (): void => undefined
  const publish = (): void => parts.setViews(book.list().filter(isHosted))
  for (const view of book.list().filter(isHosted)) engine.serve(view)
  publish()
  for (const slot of book.removedSlots()) clearSlot(parts, slot)
  return {
    list: () => {
      const states = engine.states()
      return book.list().map((view) => toReport(view, states.get(view.id)))
    },
    find: (id) => {
      const view = book.find(id)
      return view && toDetails(view, engine.states().get(view.id))
    },
    register: (registration, checked) =>
      inTurn(async () => {
        const { view, isNew } = await book.add(registration, checked)
        if (isNew) {
          const { id, address } = view
          const name = isHosted(view) ? view.name : null
          log.info({ view: id, address, name, foreign: view.foreign }, 'View registered')
          if (isHosted(view)) engine.serve(view)
          publish()
          if (view.registeredAt === null) onLocal()
        }
        return { report: toDetails(view, engine.states().get(view.id)), isNew }
      }),
    remove: (id) =>
      inTurn(async () => {
        requireLocal(book.find(id))
        const isRemoved = await removeView(parts, publish, id)
        onLocal()
        return isRemoved
      }),
    withdraw: (id) => inTurn(() => removeView(parts, publish, id)),
    onLocal: (listener) => {
      onLocal = listener
    },
    retry: (id) => {
      const view = book.find(id)
      if (view === undefined || !isHosted(view)) return false
      engine.retry(view.id)
      return true
    },
  }
}

async function removeView(parts: ViewsParts, publish: () => void, id: string): Promise<boolean> {
  const { book, engine, log } = parts
  const removed = await book.remove(id)
  if (removed === undefined) return false
  log.info({ view: removed.id }, 'View removed')
  publish()
  await engine.remove(removed.id)
  if (removed.slot !== null) clearSlot(parts, removed.slot)
  return true
}

function requireLocal(view: KeptView | undefined): void {
  if (view === undefined || view.registeredAt === null) return
  throw new ServiceError(
    'HOST_VIEW_REGISTERED',
    `View ${view.address} is registered on the registry chain, where nothing is ever removed`,
    {
      facts: { view: view.address },
      remedy:
        'Name it in REGISTRY_DENY, or in the file of REGISTRY_DENY_FILE, which needs no restart.',
    },
  )
}

/** Goes on while the Host runs, and again after a restart where it did not end. */
function clearSlot({ book, clearRows, onFatal }: ViewsParts, slot: number): void {
  clearRows(slot)
    .then(() => book.cleared(slot))
    .catch(onFatal)
}

const noRows: ViewState = {
  name: 'waiting',
  rows: 0,
  bytes: 0,
  done: [],
  rowsFrom: null,
  blocksLeft: 0,
  blocksFailed: 0,
  blocksPerSecond: null,
  costMs: null,
  failure: null,
}

function toReport(view: KeptView, state: ViewState = noRows): ViewReport {
  const rate = state.blocksPerSecond
  return {
    id: view.id,
    address: view.address,
    name: isHosted(view) ? view.name : null,
    type: view.rowType.name,
    creator: view.sender,
    registered_at: view.registeredAt,
    state: isHosted(view) ? state.name : 'foreign',
    rows: state.rows,
    bytes: state.bytes,
    done: toRanges(state.done),
    rows_from: state.rowsFrom,
    blocks_left: state.blocksLeft,
    blocks_failed: state.blocksFailed,
    blocks_per_second: rate,
    seconds_left: rate === null || rate === 0 ? null : Math.ceil(state.blocksLeft / rate),
    cost_ms: state.costMs,
    error: state.failure,
  }
}

function toDetails(view: KeptView, state: ViewState | undefined): ViewDetails {
  const { queryText: query, sdl, wire, lenses } = view
  return { ...toReport(view, state), query, sdl, wire_bytes: wire.length, lenses }
}

function toRanges(ranges: HeightRanges): ViewReport['done'] {
  return ranges.map(([from, to]) => ({ from, to }))
}
