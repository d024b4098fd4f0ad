/**
 * Serves registered Views: decides which have a place, admits those that come, and ends those that have lost theirs. One
 * at a time, whatever was registered meanwhile.
 */
import type { ListedView, RefusedView, SentView } from '../../registry/listed-view.ts'
import type { OtherView } from '../other-view.ts'
import { isHosted, isLocal } from '../views/hosted-view.ts'
import type { ViewChecker } from '../views/view-checker.ts'
import type { HostViews } from '../views/views.ts'
import { type AdmitParts, admitView } from './admit-view.ts'
import { type Candidates, createCandidates } from './candidates.ts'
import { noteOutcome, retryMs } from './outcomes.ts'
import { type Candidate, givePlaces } from './places.ts'
import { countFields, hostedOf, type ViewOfHost } from './views-of-host.ts'

interface AdmissionOptions {
  /** Most Views that are served at once, those of this Host alone included. */
  readonly maxViews: number
  /** Most bytes that rows of registered Views may take. */
  readonly maxBytes: number
  /** Most fields of all Views together. */
  readonly maxFields: number
}

interface AdmissionParts extends Omit<AdmitParts, 'candidates'> {
  readonly views: Pick<HostViews, 'kept' | 'list' | 'register' | 'noteRegistered' | 'withdraw'>
  readonly checker: ViewChecker
  /** False while the lists cannot be relied on: what is served stays, and nothing is added. */
  readonly mayDecide: () => boolean
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
  readonly candidates: Candidates
  /** Bytes of events, which need not be fetched. */
  readonly sentViews: Map<string, SentView>
  others: readonly OtherView[]
  /** Another decision was asked for: the one under way ends soon. */
  isAsked: boolean
  isClosed: boolean
}

/** Bytes of events that wait at once: as large as a View each. */
const maxSent = 8

export function openAdmission(options: AdmissionOptions, parts: AdmissionParts): Admission {
  const candidates = createCandidates(parts)
  const sentViews = new Map<string, SentView>()
  const state: AdmissionState = {
    ...parts,
    options,
    candidates,
    sentViews,
    others: [],
    isAsked: false,
    isClosed: false,
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
    listed: (views) => candidates.add(views),
    sent: (view) => {
      if (candidates.add([view]) > 0 && sentViews.size < maxSent) sentViews.set(view.id, view)
      decide()
    },
    listEnded: () => {
      candidates.listEnded()
      decide()
    },
    unreadable: candidates.addUnreadable,
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
    state.others = state.candidates.others(state.views.list())
  } finally {
    if (!state.isAsked) {
      state.sentViews.clear()
      await state.checker.rest()
    }
  }
}

async function decideOnce(state: AdmissionState): Promise<boolean> {
  await noteLocal(state)
  const views = state.views.list()
  const given = givePlaces(state.candidates.list(views), placesFor(state.options, views))
  await withdrawOthers(state, views, given)
  return await admitNew(state, given)
}

/**
 * Local Views that the chain has as well, and does not deny, stay when they are no longer local ones. An ID says which
 * bytes are meant, so none has to be fetched.
 */
async function noteLocal({ views, candidates, filter }: AdmissionState): Promise<void> {
  const local = views.kept().filter((view) => isLocal(view) && isHosted(view))
  for (const { id, address, sender, rowType, origins } of local) {
    const listed = candidates.get(address) ?? candidates.get(id)
    const isDenied = filter({ ids: [id, address], sender, name: rowType.name }) === 'denied'
    const isNoted = origins.includes('registry')
    if (isNoted && isDenied) await views.withdraw(id, 'registry')
    if (!isNoted && !isDenied && listed !== undefined)
      await views.noteRegistered(id, listed.registeredAt)
  }
}

/** What local Views leave to registered ones. */
function placesFor(
  { maxViews, maxFields, maxBytes }: AdmissionOptions,
  views: readonly ViewOfHost[],
): Parameters<typeof givePlaces>[1] {
  const local = hostedOf(views).filter(isLocal)
  return { places: maxViews - local.length, maxFields: maxFields - countFields(local), maxBytes }
}

/** Ends registered Views that were not given a place again. */
async function withdrawOthers(
  { views, outcomes, log }: AdmissionState,
  served: readonly ViewOfHost[],
  given: readonly Candidate[],
): Promise<void> {
  const kept = new Set(given.map(({ id }) => id))
  const lost = hostedOf(served).filter((view) => !isLocal(view) && !kept.has(view.id))
  for (const { id, address, creator: sender, type: name, bytes, fields } of lost) {
    const proven = { ids: [id, address], sender, name }
    const facts = { reason: 'it has no place', bytes, fields, proven }
    for (const key of [id, address])
      noteOutcome(outcomes, key, { state: 'overLimit', ...facts }, { forMs: retryMs.wrong })
    log.info({ view: id, address }, 'registered View no longer served')
    await views.withdraw(id, 'registry')
  }
}

/** Returns whether everything is decided for now; false where a place has become free for another View. */
async function admitNew(state: AdmissionState, given: readonly Candidate[]): Promise<boolean> {
  const { options, sentViews } = state
  const fetch = async (id: string): ReturnType<AdmissionParts['fetch']> => {
    const sent = sentViews.get(id) ?? (await state.fetch(id))
    sentViews.delete(id)
    return sent
  }
  let isDone = true
  for (const { id } of given.filter(({ isServed }) => !isServed)) {
    const result = state.isClosed ? 'later' : await admitView(id, options, { ...state, fetch })
    // A list may deny a View that is served: that waits for one View at most.
    if (result === 'later' || state.isAsked) return true
    if (result === 'passed') isDone = false
  }
  return isDone
}
