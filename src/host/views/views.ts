/** The Views of a Host: kept, computed and served, from the moment in which they are registered. */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import { createInTurn } from '../../primitives/in-turn.ts'
import type { ViewHealthReport } from '../../service/contract.ts'
import type { Registration, ViewFacts } from '../../views/registration.ts'
import { type ViewWarning, viewWarnings } from '../../views/view-warnings.ts'
import { noRows, type ViewEngine, type ViewFailure, type ViewState } from './engine/view-engine.ts'
import { type HostedView, isHosted, type KeptView, type ViewOrigin } from './hosted-view.ts'
import type { ViewBook } from './view-book.ts'

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
  /** The name of the type in its SDL. */
  readonly type: string
  /** Who registered it; the zero address for a View of this Host alone. */
  readonly creator: string
  /** How many its type has, of those that all Views may have together. */
  readonly fields: number
  /** Height of the registry chain; null for a View of this Host alone. */
  readonly registered_at: number | null
  /** Everything that wants it here. */
  readonly origins: readonly ViewOrigin[]
  /** Rows that are stored. Pruned blocks are removed in groups of up to 16, and their rows count until then. */
  readonly rows: number
  /** Bytes that the rows take in the store, compressed, with their index; those of pruned blocks count as in `rows`. */
  readonly bytes: number
  /** Heights that are done, both ends included, lowest first. */
  readonly done: readonly {
    /** The first height. */
    readonly from: number
    /** The last height. */
    readonly to: number
  }[]
  /** The highest height that is done; null before the first. */
  readonly last_block: number | null
  /** Rows of lower heights went, since all took more than VIEW_MAX_BYTES; null where they did not. */
  readonly rows_from: number | null
  /** Stored blocks that failed; those at a limit of time or of the lens process are tried again by themselves after 1 to 60 minutes. */
  readonly blocks_failed: number
  /** Milliseconds of processor time of a block, on average over the last ones; null before the first. */
  readonly cost_ms: number | null
  /** Why it, or one block of it, failed last; null where nothing did. */
  readonly error: ViewFailure | null
}

/** A View as `GET /api/v0/views/{id}` shows it. */
interface ViewDetails extends ViewReport {
  /** Its query, as it was written. */
  readonly query: string
  /** Its SDL, as it was written. */
  readonly sdl: string
  /** Length of the wire bytes, which limits are about. */
  readonly wire_bytes: number
  /** What is accepted and probably not wanted. */
  readonly warnings: readonly ViewWarning[]
  /** Its lenses, in their order. */
  readonly lenses: readonly {
    /** 0x and the first 16 bytes of the module's keccak256, in hex. */
    readonly hash: string
    /** Length of the module in bytes. */
    readonly bytes: number
    /** As they were written; empty for none. */
    readonly args: string
  }[]
}

export interface HostViews {
  /** All of them, without how they stand. */
  kept(): readonly KeptView[]
  list(): readonly ViewReport[]
  /** By either ID. */
  find(id: string): ViewDetails | undefined
  /**
   * Serves a View, for this reason or for one more. With `checked` facts it is not checked again.
   * @throws ServiceError with what is wrong about it.
   */
  register(
    registration: Registration,
    origin: ViewOrigin,
    checked?: ViewFacts,
  ): Promise<{ report: ViewDetails; isNew: boolean }>
  /** The registry chain has a View that is here for other reasons. */
  noteRegistered(id: string, registeredAt: number): Promise<void>
  /**
   * Ends a View that was posted and removes its rows, unless the registry chain has it as well; false where there is none.
   * @throws ServiceError `HOST_VIEW_IN_FOLDER` or `HOST_VIEW_REGISTERED` for one that would be back at once.
   */
  remove(id: string): Promise<boolean>
  /** Ends a View that is here for no other reason than this one, and removes its rows. */
  withdraw(id: string, origin: ViewOrigin): Promise<void>
  /** Calls the listener after a View of this Host alone has come or gone. One listener. */
  onLocal(listener: () => void): void
  /** Tries what failed again; false where there is no such View here. */
  retry(id: string): boolean
}

/** Serves the Views that are kept, and removes what removed ones left behind. */
export function openViews(parts: ViewsParts): HostViews {
  const { book, engine, log } = parts
  // A View that is posted again while it ends begins when it has.
  const inTurn = createInTurn()
  let onLocal = (): void => undefined
  const publish = (): void => parts.setViews(book.list().filter(isHosted))
  for (const view of book.list().filter(isHosted)) engine.serve(view)
  publish()
  book.removeRemains().catch(parts.onFatal)
  for (const slot of book.removedSlots()) clearSlot(parts, slot)
  return {
    kept: book.list,
    list: () => {
      const states = engine.states()
      return book.list().map((view) => toReport(view, states.get(view.id)))
    },
    find: (id) => {
      const view = book.find(id)
      return view && toDetails(view, engine.state(view.id))
    },
    register: (registration, origin, checked) =>
      inTurn(async () => {
        const { view, isNew } = await book.add(registration, origin, checked)
        if (isNew) {
          const { id, address } = view
          const name = isHosted(view) ? view.name : null
          log.info({ view: id, address, name, foreign: view.foreign }, 'View registered')
          if (isHosted(view)) engine.serve(view)
          publish()
        }
        if (origin !== 'registry') onLocal()
        return { report: toDetails(view, engine.state(view.id)), isNew }
      }),
    noteRegistered: (id, registeredAt) => inTurn(() => book.noteRegistered(id, registeredAt)),
    remove: (id) =>
      inTurn(async () => {
        const view = book.find(id)
        if (view !== undefined) requirePosted(view)
        const isRemoved = await takeOrigin(parts, publish, id, 'posted')
        onLocal()
        return view !== undefined || isRemoved
      }),
    withdraw: (id, origin) =>
      inTurn(async () => {
        await takeOrigin(parts, publish, id, origin)
        if (origin !== 'registry') onLocal()
      }),
    onLocal: (listener) => {
      onLocal = listener
    },
    retry: (id) => {
      const view = book.find(id)
      if (view === undefined) return false
      if (isHosted(view)) engine.retry(view.id)
      return true
    },
  }
}

/** Whether that was its last one, with which it ended. */
async function takeOrigin(
  parts: ViewsParts,
  publish: () => void,
  id: string,
  origin: ViewOrigin,
): Promise<boolean> {
  const { book, engine, log } = parts
  const removed = await book.leave(id, origin)
  if (removed === undefined) return false
  log.info({ view: removed.id, address: removed.address }, 'View removed')
  publish()
  await engine.remove(removed.id)
  if (removed.slot !== null) clearSlot(parts, removed.slot)
  return true
}

function requirePosted({ id, address, origins }: KeptView): void {
  if (origins.includes('folder'))
    throw new ServiceError(
      'HOST_VIEW_IN_FOLDER',
      `View ${id} (${address}) is in the folder of HOST_VIEWS_DIR, and would be back at once`,
      {
        facts: { view: id, address },
        remedy: `Take ${id}.view out of that folder; where an operator writes it, delete the View there.`,
      },
    )
  if (origins.includes('posted')) return
  throw new ServiceError(
    'HOST_VIEW_REGISTERED',
    `View ${id} (${address}) is registered on the registry chain, where nothing is ever removed`,
    {
      facts: { view: id, address },
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

function toReport(view: KeptView, state: ViewState = noRows): ViewReport {
  const rate = state.blocksPerSecond
  return {
    id: view.id,
    address: view.address,
    name: isHosted(view) ? view.name : null,
    type: view.rowType.name,
    fields: view.rowType.fields.length,
    creator: view.sender,
    registered_at: view.registeredAt,
    origins: view.origins,
    state: isHosted(view) ? state.name : 'foreign',
    rows: state.rows,
    bytes: state.bytes,
    done: toRanges(state.done),
    last_block: state.done.at(-1)?.[1] ?? null,
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
  const warnings = isHosted(view) ? viewWarnings(view) : []
  return { ...toReport(view, state), query, sdl, wire_bytes: wire.length, warnings, lenses }
}

function toRanges(ranges: HeightRanges): ViewReport['done'] {
  return ranges.map(([from, to]) => ({ from, to }))
}
