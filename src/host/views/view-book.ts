/**
 * Which Views a Host has, kept beside its blocks: their wire bytes, the slot of each in the store and its name. What
 * is removed leaves its slot here until the rows are gone, so that a restart in between forgets none.
 */
import type { Logger } from 'pino'
import { invariant, ServiceError } from '../../errors.ts'
import { createInTurn } from '../../primitives/in-turn.ts'
import { encodeJsonRecord, readJsonRecord } from '../../store/json-record.ts'
import type { StoreReader } from '../../store/store.ts'
import { servedNames } from '../../views/names/served-names.ts'
import { type Registration, readRegistration, type ViewFacts } from '../../views/registration.ts'
import { parseViewID } from '../../views/view-id.ts'
import { decodeView } from '../../views/wire.ts'
import type { Writer } from '../apply/writer.ts'
import { viewRecordName } from './engine/view-record.ts'
import {
  type HostedView,
  isHosted,
  isLocal,
  type KeptView,
  type ViewOrigin,
} from './hosted-view.ts'
import { requireRoom } from './view-room.ts'

interface ViewBookOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Most Views that are served at once. */
  readonly maxViews: number
}

interface ViewBookParts {
  readonly log: Logger
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'putRecord'>
  /** What a View that comes turns out to be, worked out in another thread; throws a ServiceError with what is wrong about it. */
  readonly check: (registration: Registration) => Promise<ViewFacts>
}

export interface ViewBook {
  /** In the order in which they came. */
  list(): readonly KeptView[]
  /** By either ID, in any form that is accepted. */
  find(id: string): KeptView | undefined
  /**
   * Keeps a View; one that is here already stays as it is, with another origin. With `checked` facts it is not checked
   * again.
   * @throws ServiceError what `check` throws, `HOST_VIEWS_FULL`, or `HOST_VIEW_FIELDS_FULL`.
   */
  add(
    registration: Registration,
    origin: ViewOrigin,
    checked?: ViewFacts,
  ): Promise<{ readonly view: KeptView; readonly isNew: boolean }>
  /** The registry chain has this View, which is here, since that height; where it is not here nothing changes. */
  noteRegistered(id: string, registeredAt: number): Promise<void>
  /**
   * Takes an origin from a View, and forgets it where that was the last, or where it cannot be read; undefined where it
   * stays, or is not here.
   */
  leave(id: string, origin: ViewOrigin): Promise<RemovedView | undefined>
  /** Slots of removed Views whose rows may still be there. */
  removedSlots(): readonly number[]
  /** The rows of this slot are gone. */
  cleared(slot: number): Promise<void>
  /** Removes what is kept beside the book of Views that are not in it: a kill may come between the writes for one View. */
  removeRemains(): Promise<void>
}

/** What is left of a View. */
interface RemovedView extends Pick<ViewFacts, 'id' | 'address'> {
  /** One of `removedSlots` from now on; null for a View of another chain. */
  readonly slot: number | null
}

/** The record as it is written, by the IDs of its Views. */
interface BookRecord {
  readonly nextSlot: number
  readonly removedSlots: readonly number[]
  readonly views: readonly BookEntry[]
}

interface BookEntry extends Omit<Registration, 'wire'>, ViewFacts {
  /** Null for a View of another chain. */
  readonly place: Pick<HostedView, 'slot' | 'name'> | null
  /** Left out by versions that had one origin for each View. */
  readonly origins?: readonly ViewOrigin[]
}

interface BookState extends ViewBookParts {
  readonly options: ViewBookOptions
  record: BookRecord
  readonly views: Map<string, KeptView>
}

const bookName = 'views'
const wireName = (id: string): string => `view/${id}`
const noViews: BookRecord = { nextSlot: 1, removedSlots: [], views: [] }

/** The Views that were kept. One that this version cannot read is reported in the log, and stays kept. */
export function openViewBook(options: ViewBookOptions, parts: ViewBookParts): ViewBook {
  const state: BookState = {
    ...parts,
    options,
    record: readBook(parts.reader),
    views: new Map(),
  }
  for (const entry of state.record.views) {
    const view = readEntry(state, entry)
    if (view !== null) state.views.set(entry.id, view)
  }
  // Each change begins with what the one before has written.
  const inTurn = createInTurn()
  return {
    list: () => [...state.views.values()],
    find: (id) => findView(state, id),
    add: (registration, origin, checked) =>
      inTurn(() => addView(state, registration, origin, checked)),
    noteRegistered: (id, registeredAt) => inTurn(() => noteRegistered(state, id, registeredAt)),
    leave: (id, origin) => inTurn(() => leave(state, id, origin)),
    removedSlots: () => state.record.removedSlots,
    cleared: (slot) => inTurn(() => forgetSlot(state, slot)),
    removeRemains: () => inTurn(() => removeRemains(state)),
  }
}

function findView({ views }: BookState, text: string): KeptView | undefined {
  const wanted = parseViewID(text)
  if (wanted?.id !== undefined) return views.get(wanted.id)
  if (wanted === null) return undefined
  return [...views.values()].find(({ address }) => address === wanted.address)
}

async function addView(
  state: BookState,
  registration: Registration,
  origin: ViewOrigin,
  checked: ViewFacts | null = null,
): ReturnType<ViewBook['add']> {
  const there = viewOf(state, registration)
  if (there !== undefined) {
    const { registeredAt } = registration
    return { view: await addOrigin(state, there, origin, registeredAt), isNew: false }
  }
  const facts = checked ?? (await state.check(registration))
  const read = readRegistration(
    registration,
    decodeView(registration.wire),
    state.options.network,
    facts,
  )
  const { record } = state
  requireRoom(read, origin, state.options, state.views.values())
  // A View that could not be read any more comes into its own place again.
  const before = record.views.find((entry) => entry.id === read.id)
  const origins = withOrigin(before === undefined ? [] : originsOf(before), origin)
  const fresh = read.query === null ? null : placeFor(state, read.id, read)
  const place = fresh && { ...fresh, slot: before?.place?.slot ?? fresh.slot }
  const registeredAt = read.registeredAt ?? before?.registeredAt ?? null
  const view = { ...read, registeredAt, origins, ...place } as KeptView
  const { id, address, lenses, sender } = read
  await state.writer.putRecord(wireName(id), new Uint8Array(registration.wire))
  await writeBook(state, {
    ...record,
    nextSlot: record.nextSlot + (place?.slot === record.nextSlot ? 1 : 0),
    views: [
      ...record.views.filter((entry) => entry !== before),
      { id, address, lenses, sender, registeredAt, place, origins },
    ],
  })
  state.views.set(id, view)
  return { view, isNew: true }
}

/** A View that becomes a local one takes the room of one. @throws ServiceError `HOST_VIEWS_FULL`, `HOST_VIEW_FIELDS_FULL` */
async function addOrigin(
  state: BookState,
  view: KeptView,
  origin: ViewOrigin,
  registeredAt: number | null,
): Promise<KeptView> {
  if (view.origins.includes(origin)) return view
  if (!isLocal(view)) requireRoom(view, origin, state.options, state.views.values())
  const origins = withOrigin(view.origins, origin)
  return await changeView(state, view, { origins, registeredAt: view.registeredAt ?? registeredAt })
}

async function noteRegistered(state: BookState, id: string, registeredAt: number): Promise<void> {
  const view = findView(state, id)
  if (view !== undefined) await addOrigin(state, view, 'registry', registeredAt)
}

function withOrigin(origins: readonly ViewOrigin[], origin: ViewOrigin): readonly ViewOrigin[] {
  return [...new Set([...origins, origin])]
}

function originsOf({ origins, registeredAt }: BookEntry): readonly ViewOrigin[] {
  return origins ?? [registeredAt === null ? 'posted' : 'registry']
}

/** Its bytes and its place stay. */
async function changeView(
  state: BookState,
  view: KeptView,
  changed: Pick<KeptView, 'origins' | 'registeredAt'>,
): Promise<KeptView> {
  const views = state.record.views.map((entry) =>
    entry.id === view.id ? { ...entry, ...changed } : entry,
  )
  await writeBook(state, { ...state.record, views })
  const after = { ...view, ...changed }
  state.views.set(view.id, after)
  return after
}

/** The View of these bytes, found without hashing them. */
function viewOf({ views }: BookState, { sender, wire }: Registration): KeptView | undefined {
  const lower = sender.toLowerCase()
  return [...views.values()].find(
    (view) => view.sender === lower && Buffer.compare(view.wire, wire) === 0,
  )
}

/** Names of served Views stay: whoever comes later gets one that is free. */
function placeFor(
  { record, views }: BookState,
  id: string,
  { rowType, registeredAt }: Pick<KeptView, 'rowType' | 'registeredAt'>,
): Pick<HostedView, 'slot' | 'name'> {
  const hosted = [...views.values()].filter(isHosted)
  const pinned = new Map(hosted.map((view) => [view.id, view.name]))
  const all = [...hosted, { id, rowType, registeredAt }]
  const named = all.map((view) => ({ ...view, typeName: view.rowType.name }))
  const name = servedNames(named, pinned).get(id)
  invariant(name !== undefined, 'every View has a name')
  return { slot: record.nextSlot, name }
}

async function leave(
  state: BookState,
  text: string,
  origin: ViewOrigin,
): Promise<RemovedView | undefined> {
  const view = findView(state, text)
  const origins = view?.origins.filter((each) => each !== origin) ?? []
  if (view === undefined || origins.length === 0) return await removeView(state, text)
  const registeredAt = origin === 'registry' ? null : view.registeredAt
  if (origins.length < view.origins.length) await changeView(state, view, { origins, registeredAt })
  return undefined
}

async function removeView(state: BookState, text: string): Promise<RemovedView | undefined> {
  const { record } = state
  const parsed = parseViewID(text)
  const wanted = parsed?.id ?? parsed?.address
  const entry = record.views.find(({ id, address }) => id === wanted || address === wanted)
  if (entry === undefined) return undefined
  const { id, address, place } = entry
  const slot = place?.slot ?? null
  await writeBook(state, {
    ...record,
    removedSlots: slot === null ? record.removedSlots : [...record.removedSlots, slot],
    views: record.views.filter((each) => each !== entry),
  })
  state.views.delete(id)
  await state.writer.putRecord(wireName(id), null)
  return { id, address, slot }
}

async function forgetSlot(state: BookState, slot: number): Promise<void> {
  const removedSlots = state.record.removedSlots.filter((each) => each !== slot)
  await writeBook(state, { ...state.record, removedSlots })
}

async function removeRemains({ reader, writer, record }: BookState): Promise<void> {
  const kept = new Set(record.views.flatMap(({ id }) => namesOf(id)))
  const names = reader.read((snapshot) =>
    namesOf('').flatMap((prefix) => snapshot.recordNames(prefix)),
  )
  for (const name of names.filter((each) => !kept.has(each))) await writer.putRecord(name, null)
}

/** Of the records about one View, beside the book. */
function namesOf(id: string): string[] {
  return [wireName(id), viewRecordName(id)]
}

async function writeBook(state: BookState, record: BookRecord): Promise<void> {
  await state.writer.putRecord(bookName, encodeJsonRecord(record))
  state.record = record
}

function readBook(reader: StoreReader): BookRecord {
  return reader.read((snapshot) => readJsonRecord<BookRecord>(snapshot, bookName)) ?? noViews
}

function readEntry(state: BookState, entry: BookEntry): KeptView | null {
  const { id, address, lenses, place } = entry
  const wire = state.reader.read((snapshot) => snapshot.record(wireName(id)))
  try {
    const registration = { ...entry, wire: new Uint8Array(wire ?? []) }
    const facts = { id, address, lenses }
    const source = decodeView(registration.wire)
    const read = readRegistration(registration, source, state.options.network, facts)
    return { ...read, origins: originsOf(entry), ...place } as KeptView
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message } = error
    state.log.error(
      { code: 'HOST_VIEW_UNREADABLE', view: id, address, cause: `${code}: ${message}` },
      'a View that was accepted before is not served; delete it, or go back to the version before',
    )
    return null
  }
}
