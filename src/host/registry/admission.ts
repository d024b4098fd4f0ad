/**
 * Serves registered Views: decides which have a place, fetches, verifies and checks those that come, and ends those that
 * have lost theirs. One at a time, whatever was registered meanwhile.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { ListedView, RefusedView, SentView } from '../../registry/listed-view.ts'
import { type VerifiedView, verifyView } from '../../registry/verify-view.ts'
import type { OtherView } from '../other-view.ts'
import { isHosted, isLocal } from '../views/hosted-view.ts'
import type { ViewChecker } from '../views/view-checker.ts'
import type { HostViews } from '../views/views.ts'
import { createCatalogue } from './catalogue.ts'
import { toOther, toUnreadable } from './not-served.ts'
import type { NotServed, Outcomes } from './outcomes.ts'
import { type Candidate, givePlaces } from './places.ts'
import type { FilteredView } from './view-filter.ts'

interface AdmissionOptions {
  /** Most Views that are served at once, those of this Host alone included. */
  readonly maxViews: number
  /** Most bytes that rows of registered Views may take. */
  readonly maxBytes: number
  /** Most fields of all Views together. */
  readonly maxFields: number
}

interface AdmissionParts {
  readonly log: Logger
  readonly views: Pick<HostViews, 'kept' | 'list' | 'register' | 'noteRegistered' | 'withdraw'>
  /** See `RegistryFollower.fetch`. */
  readonly fetch: (id: string) => Promise<SentView | RefusedView | null>
  readonly outcomes: Pick<Outcomes, 'of' | 'note'>
  readonly checker: ViewChecker
  /** How a View stands in the lists of this moment. */
  readonly filter: (view: FilteredView) => 'allowed' | 'denied' | 'neither'
  /** False while the lists cannot be relied on: what is served stays, and nothing is added. */
  readonly mayDecide: () => boolean
  /** Counts what became of a View that was fetched. */
  readonly count: (outcome: 'served' | 'foreign' | 'refused') => void
  /** Called where the store cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface Admission {
  /** Views of a page of a list. */
  listed(views: readonly ListedView[]): void
  /** A list has ended: decides, and forgets what could not be read before it began. */
  listEnded(): void
  /** A View that was registered now. */
  sent(view: SentView): void
  /** One of the chain's Views that cannot be read. */
  unreadable(view: RefusedView): void
  /** Decides again: a list, a filter or a View of this Host alone has changed, or time has passed. */
  decide(): void
  /** The registered Views that are not served, as of the last decision. */
  others(): readonly OtherView[]
  /** Resolves when nothing is under way; nothing begins any more. */
  close(): Promise<void>
}

interface AdmissionState extends AdmissionParts {
  readonly options: AdmissionOptions
  readonly catalogue: ReturnType<typeof createCatalogue>
  /** Bytes of events, which need not be fetched. */
  readonly sentViews: Map<string, SentView>
  /** What cannot be read since the last list ended, by what stands where its ID should. */
  unreadable: Map<string, RefusedView>
  /** The same of the list before. */
  unreadableBefore: ReadonlyMap<string, RefusedView>
  others: readonly OtherView[]
  /** Another decision was asked for: the one under way ends soon. */
  isAsked: boolean
  isClosed: boolean
}

/** Bytes of events that wait at once: as large as a View each. */
const maxSent = 8
/** Unreadable Views that are listed. */
const maxUnreadable = 100
/** For how long a View that cannot be served is not tried again. */
const retryMs = { unreachable: 60_000, refused: 3_600_000, wrong: 86_400_000 } as const

export function openAdmission(options: AdmissionOptions, parts: AdmissionParts): Admission {
  const state: AdmissionState = {
    ...parts,
    ...{ options, catalogue: createCatalogue((view) => classOf(state, view)) },
    ...{
      sentViews: new Map(),
      unreadable: new Map(),
      unreadableBefore: new Map(),
      others: [],
      isAsked: false,
      isClosed: false,
    },
  }
  let deciding: Promise<void> = Promise.resolve()
  const decide = (): void => {
    if (state.isAsked || state.isClosed) return
    state.isAsked = true
    deciding = deciding
      .then(() => {
        state.isAsked = false
        return decideAll(state)
      })
      .catch(parts.onFatal)
  }
  return {
    listed: (views) => state.catalogue.add(views),
    sent: (view) => {
      if (state.catalogue.add([view]) > 0 && state.sentViews.size < maxSent)
        state.sentViews.set(view.id, view)
      decide()
    },
    listEnded: () => {
      state.unreadableBefore = state.unreadable
      state.unreadable = new Map()
      decide()
    },
    unreadable: (view) => {
      if (state.unreadable.size < maxUnreadable) state.unreadable.set(view.id, view)
    },
    decide,
    others: () => state.others,
    async close() {
      state.isClosed = true
      await deciding
      await parts.checker.rest()
    },
  }
}

/** Until each place is taken, or nobody is left: one that turns out to be refused leaves its place to the next. */
async function decideAll(state: AdmissionState): Promise<void> {
  try {
    if (!state.mayDecide()) return
    for (let isDone = false; !isDone && !state.isClosed; ) isDone = await decideOnce(state)
    state.others = othersOf(state)
  } finally {
    if (!state.isAsked) {
      state.sentViews.clear()
      await state.checker.rest()
    }
  }
}

async function decideOnce(state: AdmissionState): Promise<boolean> {
  const { views, options, log } = state
  await noteLocal(state)
  const all = views.list()
  const hosted = hostedOf(all)
  const registered = hosted.filter((view) => !isLocal(view))
  const local = hosted.filter(isLocal)
  const places = options.maxViews - local.length
  const maxFields = options.maxFields - fieldsOf(local)
  const candidates = candidatesOf(state, all, registered)
  const given = givePlaces(candidates, { places, maxFields, maxBytes: options.maxBytes })
  const kept = new Set(given.map(({ id }) => id))
  for (const { id, address, creator: sender, type: name, bytes, fields } of registered) {
    if (kept.has(id)) continue
    const proven = { ids: [id, address], sender, name }
    const outcome = {
      state: 'overLimit',
      reason: 'it has no place',
      bytes,
      fields,
      proven,
    } as const
    for (const key of [id, address]) note(state, key, outcome, retryMs.wrong)
    log.info({ view: id, address }, 'registered View no longer served')
    await views.withdraw(id, 'registry')
  }
  let isDone = true
  for (const { id } of given.filter(({ isServed }) => !isServed)) {
    const result = state.isClosed ? 'later' : await admit(state, id)
    // A list may deny a View that is served: that waits for one View at most.
    if (result === 'later' || state.isAsked) return true
    if (result === 'passed') isDone = false
  }
  return isDone
}

/**
 * Local Views that the chain has as well, and does not deny, stay when they are no longer local ones. An ID says which
 * bytes are meant, so none has to be fetched.
 */
async function noteLocal(state: AdmissionState): Promise<void> {
  const { views, catalogue, filter } = state
  const local = views.kept().filter((view) => isLocal(view) && isHosted(view))
  for (const { id, address, sender, rowType, origins } of local) {
    const listed = catalogue.get(address) ?? catalogue.get(id)
    const isDenied = filter({ ids: [id, address], sender, name: rowType.name }) === 'denied'
    const isNoted = origins.includes('registry')
    if (isNoted && isDenied) await views.withdraw(id, 'registry')
    if (!isNoted && !isDenied && listed !== undefined)
      await views.noteRegistered(id, listed.registeredAt)
  }
}

type ServedView = ReturnType<HostViews['list']>[number]

function candidatesOf(
  state: AdmissionState,
  all: readonly ServedView[],
  registered: readonly ServedView[],
): Candidate[] {
  const known = new Set(all.flatMap(({ id, address }) => [id, address]))
  const served = registered.flatMap(
    ({ id, address, creator: sender, type, bytes, fields }, order): Candidate[] => {
      const standing = state.filter({ ids: [id, address], sender, name: type })
      if (standing === 'denied') return []
      const isAllowed = standing === 'allowed'
      return [{ id, isAllowed, isServed: true, order, bytes, fields }]
    },
  )
  const others = state.catalogue.list().filter((view) => !known.has(view.id) && mayTry(state, view))
  return [...served, ...others.map((view) => candidateOf(state, view))]
}

function mayTry(state: AdmissionState, view: ListedView): boolean {
  const outcome = state.outcomes.of(view.id)
  return (outcome === null || outcome.state === 'overLimit') && standingOf(state, view) !== 'denied'
}

function candidateOf(state: AdmissionState, view: ListedView): Candidate {
  const { id, registeredAt: order } = view
  const isAllowed = standingOf(state, view) === 'allowed'
  const { bytes = 0, fields = 0 } = state.outcomes.of(id) ?? {}
  return { id, isAllowed, isServed: false, order, bytes, fields }
}

/** By what its bytes have proven, where they were fetched before: the chain tells one ID, and maybe another name. */
function standingOf(
  { outcomes, filter }: AdmissionState,
  { id, sender, name }: ListedView,
): ReturnType<AdmissionParts['filter']> {
  return filter(outcomes.of(id)?.proven ?? { ids: [id], sender, name })
}

/** Allowed Views are remembered longest; those that cannot be served anyway are forgotten first. */
function classOf(state: AdmissionState, view: ListedView): number {
  if (!mayTry(state, view)) return 2
  return standingOf(state, view) === 'allowed' ? 0 : 1
}

/** `passed` where its place is for another View, `later` where nobody can be admitted now. */
async function admit(state: AdmissionState, id: string): Promise<'admitted' | 'passed' | 'later'> {
  let verified: VerifiedView | null = null
  try {
    verified = await fetchVerified(state, id)
    const { foreign, type, fields, ...facts } = await state.checker.check(verified)
    const { sender } = verified
    const proven = { ids: [verified.id, verified.address], sender, name: type }
    if (!standsAsListed(state, id, proven)) return 'passed'
    if (foreign === null) {
      if (!hasRoom(state, id, fields, proven)) return 'passed'
      await state.views.register(verified, 'registry', facts)
      state.count('served')
      return 'admitted'
    }
    const outcome = { state: 'foreign', reason: `it reads ${foreign}`, proven } as const
    note(state, id, outcome, retryMs.wrong, true)
    state.count('foreign')
    return 'passed'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return refuse(state, id, error, verified)
  }
}

/** Whether a View stands in the lists of this moment as it seemed to by what the chain says; otherwise that is noted. */
function standsAsListed(state: AdmissionState, id: string, proven: FilteredView): boolean {
  const listed = state.catalogue.get(id)
  const standing = state.filter(proven)
  const isAsListed = listed === undefined || standingOf(state, listed) === standing
  if (isAsListed && standing !== 'denied') return true
  const reason = `it is ${proven.ids.join(' and ')}, of the type ${proven.name}`
  const { bytes = 0, fields = 0 } = state.outcomes.of(id) ?? {}
  note(state, id, { state: 'overLimit', reason, bytes, fields, proven }, retryMs.wrong, true)
  return false
}

/** Whether its fields fit beside those that are served; otherwise they are noted, and the next decision knows them. */
function hasRoom(state: AdmissionState, id: string, fields: number, proven: FilteredView): boolean {
  const { maxFields } = state.options
  if (fieldsOf(hostedOf(state.views.list())) + fields <= maxFields) return true
  const reason = `with its ${fields} fields all Views together would have more than ${maxFields}`
  const bytes = state.outcomes.of(id)?.bytes ?? 0
  note(state, id, { state: 'overLimit', reason, bytes, fields, proven }, retryMs.wrong, true)
  return false
}

/** Without those of other chains, which take no place. */
function hostedOf(views: readonly ServedView[]): ServedView[] {
  return views.filter(({ state }) => state !== 'foreign')
}

function fieldsOf(views: readonly ServedView[]): number {
  return views.reduce((sum, { fields }) => sum + fields, 0)
}

/** Codes of what follows from the bytes of a View; anything else may have become otherwise within the hour. */
const ofTheBytes = /^(VIEWS|LENS)_/

/**
 * Only what follows from bytes that are certainly the View's is remembered for long.
 * @throws `error` where the store has failed, which says nothing of the View.
 */
function refuse(
  state: AdmissionState,
  id: string,
  error: ServiceError,
  verified: VerifiedView | null,
): 'passed' | 'later' {
  const { code, message } = error
  if (code.startsWith('STORE_')) throw error
  // The Host has become full meanwhile, which the next decision sees.
  if (code === 'HOST_VIEWS_FULL' || code === 'HOST_VIEW_FIELDS_FULL') return 'later'
  state.log.debug({ view: id, code, reason: message }, 'registered View not served')
  const isKept = verified !== null && ofTheBytes.test(code)
  const isFetched = verified !== null || code === 'REGISTRY_VIEW_MISMATCH'
  const forSome = isFetched ? retryMs.refused : retryMs.unreachable
  const outcome = { state: 'refused', reason: `${code}: ${message}` } as const
  const known = verified && { proven: unnamed(state, id, verified) }
  note(state, id, { ...outcome, ...known }, isKept ? retryMs.wrong : forSome, isKept)
  state.count('refused')
  return isFetched ? 'passed' : 'later'
}

/** What is known of a View whose bytes are no good. */
function unnamed(
  { catalogue }: AdmissionState,
  listed: string,
  { id, address, sender }: VerifiedView,
): FilteredView {
  return { ids: [id, address], sender, name: catalogue.get(listed)?.name ?? '' }
}

/** @throws ServiceError where it cannot be fetched, or is not what it says. */
async function fetchVerified(
  { fetch, sentViews }: AdmissionState,
  id: string,
): Promise<VerifiedView> {
  const found = sentViews.get(id) ?? (await fetch(id))
  sentViews.delete(id)
  if (found === null || 'reason' in found) {
    const why = found === null ? 'the chain lists it and does not have it' : found.reason
    throw new ServiceError('REGISTRY_VIEW_MISMATCH', `View ${id} is not what it says: ${why}`, {
      remedy: 'Nothing to do: the Host asks again later, and serves it once it is.',
    })
  }
  return verifyView(found)
}

function note(
  { outcomes }: AdmissionState,
  id: string,
  outcome: Pick<NotServed, 'state' | 'reason'> &
    Partial<Pick<NotServed, 'bytes' | 'fields' | 'proven'>>,
  forMs: number,
  isKept = false,
): void {
  const proven = outcomes.of(id)?.proven ?? null
  outcomes.note(
    id,
    { bytes: 0, fields: 0, proven, ...outcome, untilMs: Date.now() + forMs },
    isKept,
  )
}

/** Those that are shown; there may be more that nobody remembers. */
const maxOthers = 1_000

function othersOf(state: AdmissionState): OtherView[] {
  const served = new Set(state.views.list().flatMap(({ id, address }) => [id, address]))
  const found = new Map([...state.unreadableBefore, ...state.unreadable])
  // A broken message about a View that was read elsewhere says nothing of that View.
  for (const id of found.keys())
    if (served.has(id) || state.catalogue.get(id) !== undefined) found.delete(id)
  const unreadable = [...found.values()].map(toUnreadable)
  const others = state.catalogue.list().filter(({ id }) => !served.has(id))
  const listed = others.map((view) =>
    toOther(view, state.outcomes.of(view.id), standingOf(state, view) === 'denied'),
  )
  return [...unreadable, ...listed].slice(0, maxOthers)
}
